"""Facts that change: whether recall tells what holds now, beside plain full-text search over everything ever said."""

import asyncio
import random
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import mean
from typing import Any, NamedTuple

from bench import baselines, words
from bench.command import run
from bench.dataset import Doc, Query
from bench.easy import components
from bench.machine import described
from bench.tables import markdown
from memman.embed.builtin import BuiltinEmbedder
from memman.embed.static import StaticTable
from memman.llm.builtin import BuiltinLLM
from memman.model.records import Note, Provenance
from memman.pipeline import PIPELINE
from memman.pipeline.plan import Plan, Tools
from memman.queue.entry import new_uid
from memman.recall import search
from memman.store.filters import Filters
from memman.store.sqlite.store import SqliteStore

FACTS = 300
_SEED = "memman-updates-1"
_SCOPE = "updates"
_BEGAN_MS, _STEP_MS = 1_700_000_000_000, 3_600_000
# What is said at first, what is said later, and the question that both answer.
_CHANGES = (
    ("{c} listens on port {n}.", "{c} now listens on port {m}.", "which port does {c} listen on"),
    ("The timeout of {c} is {n} ms.", "The timeout of {c} is now {m} ms.", "what is the timeout of {c}"),
    ("{c} is deployed to {v}.", "{c} moved from {v} to {w}.", "where is {c} deployed"),
    ("{c} stores its sessions in {k}.", "{c} switched from {k} to {l} for sessions.", "where does {c} store sessions"),
    ("We use {k} for the queue of {c}.", "We replaced {k} with {l} for the queue of {c}.", "what is the queue of {c}"),
    ("{p} owns {c}.", "{p} no longer owns {c}, {q} does.", "who owns {c}"),
    ("{c} uses {k} for logging.", "{c} uses {l} instead of {k} for logging.", "what does {c} use for logging"),
    ("{c} runs on version {n}.", "{c} was upgraded from version {n} to {m}.", "which version does {c} run on"),
)


class Change(NamedTuple):
    """One fact as it was and as it is."""

    old: str
    new: str
    question: str


def changes(count: int = FACTS) -> list[Change]:
    """Make up facts about components, and what became of them."""
    chance = random.Random(_SEED)
    made = []
    for n, name in enumerate(components(count)):
        k, l = chance.sample(words.LIBRARIES, 2)  # noqa: E741 - the slot's name
        v, w = chance.sample(words.PLACES, 2)
        p, q = chance.sample(words.PEOPLE, 2)
        low, high = sorted(chance.sample(range(2, 9_000), 2))
        filling = {"c": name, "k": k, "l": l, "v": v, "w": w, "p": p, "q": q, "n": low, "m": high}
        made.append(Change(*(part.format_map(filling) for part in _CHANGES[n % len(_CHANGES)])))
    return made


def measure(said: Sequence[Change], work: str) -> dict[str, Any]:
    """Return how often what holds now comes first, and how often what held before comes above it."""
    shutil.rmtree(work, ignore_errors=True)
    store = SqliteStore.open(work, "default")
    texts = [one.old for one in said] + [one.new for one in said]
    asyncio.run(_fill(store, texts))
    table = StaticTable()
    docs = [Doc(_SCOPE, str(n), "", 0, text) for n, text in enumerate(texts)]
    plain = baselines.bm25({_SCOPE: docs})
    contestants = {
        "memman": [[hit.row[3] for hit in search(store.reader, table, one.question, Filters(), 10)] for one in said],
        "BM25": [
            [texts[int(key[1])] for key in plain(Query(one.question, _SCOPE, frozenset(), ""))[:10]] for one in said
        ],
    }
    store.close()
    return {
        "machine": described(),
        "facts": len(said),
        "rankers": {name: _judged(said, found) for name, found in contestants.items()},
    }


def _judged(said: Sequence[Change], found: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return percentages: what holds now is first, is among five, and stands below what held before."""
    places = [(_place(texts, one.new), _place(texts, one.old)) for one, texts in zip(said, found, strict=True)]
    return {
        "hit@1": 100 * mean(now == 0 for now, _ in places),
        "R@5": 100 * mean(now < 5 for now, _ in places),
        "old above new": 100 * mean(before < now for now, before in places),
    }


def _place(texts: Sequence[str], text: str) -> int:
    return texts.index(text) if text in texts else len(texts) + 1


async def _fill(store: SqliteStore, texts: Sequence[str]) -> None:
    """Send every text through the pipeline as a note of its own, one after the other."""
    local, rules = BuiltinEmbedder(), BuiltinLLM()
    for n, text in enumerate(texts):
        at = _BEGAN_MS + n * _STEP_MS
        plan = Plan(
            Note(new_uid(at), "default", text, at, provenance=Provenance("user", "bench", f"session-{n // 10}"))
        )
        tools = Tools(rules, rules, local, local, store.reader, lambda at=at: at)
        for stage in PIPELINE:
            given = replace(tools, store=store) if stage.name == "commit" else tools
            plan = await stage.run(given, plan)
    store.maintain()


def main() -> int:
    """Run the bench from the command line."""
    return run("updates", __doc__, FACTS, lambda facts, work: measure(changes(facts), work), table)


def table(figures: dict[str, Any]) -> str:
    """Write the shares."""
    rankers = figures["rankers"]
    columns = (f"{figures['facts']} facts that changed", *next(iter(rankers.values())))
    return markdown(columns, list(_lines(rankers)))


def _lines(rankers: dict[str, dict[str, float]]) -> Iterator[tuple[str, ...]]:
    for name, shares in rankers.items():
        yield name, *(f"{share:.0f} %" for share in shares.values())


if __name__ == "__main__":
    sys.exit(main())
