"""`memman recall`: read the store and the queue, print the hits. Writes no store, uses no network."""

import sys
import time

from memman.belief import SOURCES
from memman.config import stores
from memman.config.places import data_dir, reach_path, store_path
from memman.config.schedule import overdue
from memman.config.scope import here
from memman.config.shown import RECALL as ASKED
from memman.config.shown import note_shown
from memman.hot.grammar import RECALL, apply_global_options, choice, moment, parse, refuse, said
from memman.hot.provenance import agent, session
from memman.hot.recall_session import found
from memman.model.text import age, plain
from memman.model.vocabulary import CATEGORIES, INTENTS
from memman.recall.render import lines, tokens
from memman.secrets import legible
from memman.sqlite import there
from memman.store.filters import Filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


LIMIT = 10
MOST = 50
# Characters of a query that are said again.
_LONGEST = 200
_TIMES = ("since", "until", "as_of")


def main(args: list[str], store: str | None) -> int | None:
    """Run the verb; None leaves an unknown shape of arguments to click."""
    parsed = parse(args, RECALL)
    if parsed is None:
        return None
    values, words = parsed
    return recall(words, {"store": store, **values})


class Asked:
    """What a recall is asked, and of which store."""

    __slots__ = ("data", "filters", "intent", "limit", "query", "store")

    def __init__(self, words: "Sequence[str]", values: "Mapping[str, str | bool | None]") -> None:
        """Read the command line. Raises UsageError."""
        self.query = _query(words)
        self.limit = _whole(values, "limit", LIMIT, MOST) or LIMIT
        self.intent = choice(values, "intent", INTENTS)
        self.filters = _filters(values)
        self.data = data_dir()
        repository = stores.here()
        self.store = stores.resolve(self.data, said(values, "store"), repository)
        self.filters.here = here(self.data, repository, stores.cwd())


def recall(words: "Sequence[str]", values: "Mapping[str, str | bool | None]") -> int:
    """Print the hits for a query. Raises UsageError and UnknownStore."""
    apply_global_options(values)
    asked, budget = Asked(words, values), _whole(values, "budget", None, 1_000_000)
    data, store, query = asked.data, asked.store, asked.query
    now = time.time_ns() // 1_000_000
    as_json = bool(values.get("json"))
    path = store_path(data, store)
    old = ""
    if there(reach_path(path)):
        from memman.store.reach import told as told_reach

        old = told_reach(path, now)
    if as_json and budget is not None:
        refuse("--budget counts what lines cost: leave it out with --json, or give --limit")
    hits = found(data, store, query, asked.filters, asked.limit, asked.intent)
    if as_json:
        from memman.hot.answer import answer

        text = answer(hits, store, old)
        sys.stdout.write(text + "\n")
        costs = [tokens(text) // len(hits)] * len(hits) if hits else []
    else:
        written = lines(hits, now, query, budget)
        sys.stdout.write("".join([f"{line}\n" for line in written]))
        costs = list(map(tokens, written))
    sys.stdout.flush()
    elsewhere = "" if hits else _elsewhere(asked)
    if not hits:
        sys.stderr.write(elsewhere or "nothing relevant\n" * sys.stderr.isatty())
    if not elsewhere and all(hit.doubtful for hit in hits):
        from memman.config.asked import note_unanswered

        here = asked.filters.here
        note_unanswered(data, store, now, agent(), here.repository if here else "", query)
    if len(costs) < len(hits):
        sys.stderr.write(f"memman: {len(hits) - len(costs)} of {len(hits)} hits do not fit into --budget {budget}\n")
    if old:
        sys.stderr.write(f"memman: {old}\n")
    late = overdue(data)
    if late is not None:
        from memman.config.command import runnable

        sys.stderr.write(
            runnable(f"memman: notes have not been processed for {age(0, late * 1000)}; run `memman doctor`\n")
        )
    told = {hit.row.uid: cost for hit, cost in zip(hits, costs, strict=False) if not hit.pending}
    note_shown(data, store, now, ASKED, agent(), session(), told)
    return 0


def _elsewhere(asked: Asked) -> str:
    """Say which other scopes would answer what nothing here does, '' for none."""
    if asked.filters.anywhere:
        return ""
    asked.filters.anywhere = True
    counts: dict[str, int] = {}
    for hit in found(asked.data, asked.store, asked.query, asked.filters, asked.limit, asked.intent):
        if hit.scope:
            counts[hit.scope] = counts.get(hit.scope, 0) + 1
    if not counts:
        return ""
    from memman.config.command import quoted, runnable
    from memman.model.plural import counted

    told = ", ".join(f"{counted(count, 'memory')} of {plain(scope)}" for scope, count in counts.items())
    of = f"--store {asked.store} " * (asked.store != stores.DEFAULT)
    again = f"`memman recall {of}--all-scopes {quoted(plain(asked.query, _LONGEST))}`"
    asking = "; only if your user wants that" if agent() else ""
    return runnable(f"memman: nothing here; {told} would answer{asking}: {again}\n")


def _query(words: "Sequence[str]") -> str:
    query = " ".join(words)
    if list(words) == ["-"] or (not words and not sys.stdin.isatty()):
        query = sys.stdin.buffer.read(65_536).decode("utf-8", "replace")
    # Bytes that are no text arrive as lone surrogates, which nothing below can take.
    query = legible(query).replace("\0", " ").strip()
    if not query:
        refuse("there is nothing to search for: give a few words")
    return query


def _whole(values: "Mapping[str, str | bool | None]", name: str, default: int | None, most: int) -> int | None:
    value = said(values, name)
    if value is None:
        return default
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= most):
        refuse(f"--{name} takes a whole number from 1 to {most}")
    return int(value)


def _share(values: "Mapping[str, str | bool | None]", name: str) -> float | None:
    value = said(values, name)
    if value is None:
        return None
    if not (value.isascii() and value.replace(".", "", 1).isdigit() and float(value) <= 1):
        refuse(f"--{name.replace('_', '-')} takes a number from 0 to 1")
    return float(value)


def _filters(values: "Mapping[str, str | bool | None]") -> Filters:
    return Filters(
        category=choice(values, "category", CATEGORIES),
        source=choice(values, "source", SOURCES),
        history=bool(values.get("history")),
        least=_share(values, "min_confidence"),
        every=bool(values.get("all")),
        anywhere=bool(values.get("all_scopes")),
    ).having(**{name: moment(text, name) for name in _TIMES if (text := said(values, name))})
