"""`memman lint` and `wonder`: memories that could be better, and questions that none answers."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import click

from memman.clock import now_ms
from memman.commands.list import doubts
from memman.commands.place import Opened, Records, standing
from memman.commands.printing import WIDE, Progress, cells, freshness, lines, past, short, table, text, unseen
from memman.commands.review import CONTRADICTED, MAYBE, found, told
from memman.commands.verb import limit_option, verb
from memman.config.asked import unanswered
from memman.config.scope import holds, label
from memman.hot.recall_session import opened
from memman.judge.judge import Judge, Relation
from memman.llm.builtin.reconcile import LONGEST
from memman.llm.builtin.split import extent, leans
from memman.model.plural import counted
from memman.model.terms import respelled
from memman.model.text import clean
from memman.pipeline.comparison import numbers, same, stems, twins
from memman.pipeline.sameness import CHANGED, SAME
from memman.store.filters import Filters
from memman.store.sqlite import quality
from memman.store.sqlite.beliefs import lone

# Telling words below which a memory says too little to be found by.
_FEWEST = 2
_EVERYTHING = 1_000_000
_WIDE = 120
# Memories that the judge reads, so that a look at any store takes seconds; and of each the most alike ones that it
# is compared with.
SAMPLE, NEIGHBOURS = 500, 2
# Below this worth a memory is junk, but for a decision: what was tried and given up is worth little to the judge.
JUNK, _DECISION = 0.02, "decision"
# What is told of a memory.
_TOLD = ("uid", "text", "ends_at", "file_changed_at")
# Texts that the judge reads at once.
_BATCH = 64
# Lines of each kind that are told unless more are asked for.
_SHOWN = 5

Finding = Literal["same", "against", ""]
# Two contradict each other where one would end the other, said later, with the first probability, and the other one
# that with the second: a change is seldom sure both ways round. Of 120 changes by writers that nothing was taught by it
# finds 29, and of 120 pairs of theirs that only sound alike 2.
AGAINST = (0.9, 0.1)
# Pairs that the judge reads at once.
BATCH = 128


def compared(judge: Judge, pairs: Sequence[tuple[str, str]], done: Callable[[int], object] = bool) -> list[Finding]:
    """Say what each pair (older, newer) is, and tell `done` how many are read.

    Of code and long texts it is said by their words alone.
    """
    found: list[Finding] = []
    while len(found) < len(pairs):
        found += _compared(judge, pairs[len(found) : len(found) + BATCH])
        done(len(found))
    return found


def _compared(judge: Judge, pairs: Sequence[tuple[str, str]]) -> list[Finding]:
    asked = [n for n, pair in enumerate(pairs) if all(map(_comparable, pair))]
    there = _relations(judge, {n: pairs[n] for n in asked})
    surely, either = AGAINST
    likely = [n for n in asked if there[n].ends >= either]
    back = _relations(judge, {n: pairs[n][::-1] for n in likely})
    opposed = {
        n
        for n in likely
        if back[n].ends >= either
        and max(there[n].ends, back[n].ends) >= surely
        and (max(there[n].same, back[n].same) < SAME or not twins(*pairs[n]))
    }
    return ["against" if n in opposed else _same(*pair, there.get(n)) for n, pair in enumerate(pairs)]


def _relations(judge: Judge, pairs: Mapping[int, tuple[str, str]]) -> dict[int, Relation]:
    return dict(zip(pairs, judge.relations([*pairs.values()]), strict=True)) if pairs else {}


def _comparable(text: str) -> bool:
    return "\n" not in text and extent(text) <= LONGEST


def _same(old: str, new: str, relation: Relation | None) -> Finding:
    if relation is None:
        likely = twins(old, new)
    else:
        likely = same(old, new) or (relation.same >= SAME and relation.ends < CHANGED)
    exact = numbers(old) == numbers(new) and not respelled(old, new)
    return "same" if exact and likely else ""


# A memory, the other one or 0, and why.
_Found = tuple[int, int, str]


@dataclass(frozen=True)
class _Look:
    """A store as it is looked at, `most` of its memories; what several findings need is worked out once."""

    store: Opened
    judge: Judge
    now: int
    progress: Progress
    most: int = SAMPLE

    @cached_property
    def sample(self) -> list[int]:
        """The memories that are read."""
        return quality.sample(self.store.reader, self.most)

    @cached_property
    def alike(self) -> list[tuple[int, int]]:
        """The pairs that are compared, (older, newer)."""
        return quality.neighbours(self.store.reader, self.sample, NEIGHBOURS)

    @cached_property
    def pairs(self) -> dict[tuple[int, int], Finding]:
        """What each pair of alike memories is, (older, newer)."""
        texts = self.store.reader.texts({memory for pair in self.alike for memory in pair})
        said = [(texts[old], texts[new]) for old, new in self.alike]
        found = compared(self.judge, said, lambda count: self.done(len(self.sample) + count))
        return dict(zip(self.alike, found, strict=True))

    def done(self, count: int) -> None:
        """Tell how many of the texts and pairs are read that take all the time."""
        self.progress(count, len(self.sample) + len(self.alike))


def _junk(look: _Look) -> Iterator[_Found]:
    reader = look.store.reader
    # The judge finds worth what lasts: what has an end is of use until then, and stale afterwards.
    texts = reader.texts(sorted(set(look.sample) - reader.ends(look.sample).keys()))
    decided = reader.filtered(texts, Filters(category=_DECISION))
    judge, rows = look.judge, [row for row, text in texts.items() if "\n" not in text and row not in decided]
    for at in range(0, len(rows), _BATCH):
        batch = rows[at : at + _BATCH]
        look.done(at)
        judge.read([texts[row] for row in batch])  # remembered, and cheaper together
        for row in batch:
            ((worth, kind),) = judge.lines([texts[row]])
            if worth < JUNK and kind != _DECISION:
                yield row, 0, f"nothing worth keeping: rated {worth:.2f} of 1"


def _duplicates(look: _Look) -> Iterator[_Found]:
    # One line for each memory that is said again, however often.
    said = {new: old for (old, new), found in look.pairs.items() if found == "same"}
    yield from ((new, old, "says again") for new, old in said.items())


def _contradictions(look: _Look) -> Iterator[_Found]:
    settled = quality.kept_apart(look.store.reader) | look.store.pairs()
    against = (pair for pair, found in look.pairs.items() if found == "against" and pair not in settled)
    yield from ((old, new, "contradicted by") for old, new in against)


def _stale(look: _Look) -> Iterator[_Found]:
    found = doubts(look.store, look.now)
    for row, why in sorted(found.items(), key=lambda one: min(one[1])):
        yield row, 0, "; ".join(why.values())


def _unlinked(look: _Look) -> Iterator[_Found]:
    yield from ((row, 0, "linked to nothing") for row in quality.without_edges(look.store.reader))


def _texts(look: _Look) -> dict[int, str]:
    return look.store.reader.texts(quality.sample(look.store.reader, _EVERYTHING))


def _vague(look: _Look) -> Iterator[_Found]:
    for row, said in _texts(look).items():
        if leans(said):
            yield row, 0, f"begins with {said.split()[0]!r}, without saying what that is"
        elif said.isascii() and len(stems(said)) < _FEWEST:
            yield row, 0, "too few words to be found by"


def _over_long(look: _Look) -> Iterator[_Found]:
    for row, said in _texts(look).items():
        if (letters := extent(said)) > LONGEST:
            yield row, 0, f"{letters} letters: newer statements are compared with the first {LONGEST} only"


class _Finding(NamedTuple):
    """One thing that is looked for, and what mends it."""

    mend: str
    search: Callable[[_Look], Iterable[_Found]]


_REPLACE = 'memman replace ID "…"'
_FINDINGS = {
    "contradictory": _Finding(f"{_REPLACE} or memman forget ID", _contradictions),
    "duplicate": _Finding("memman consolidate ID or memman forget ID", _duplicates),
    "stale": _Finding("memman insights verify ID or memman insights archive ID", _stale),
    "vague": _Finding(_REPLACE, _vague),
    "over-long": _Finding(_REPLACE, _over_long),
    "junk": _Finding("memman insights archive ID", _junk),
    "no edges": _Finding("memman graph rebuild", _unlinked),
}


def _example(store: Opened, memory: int, other: int, why: str) -> dict[str, Any]:
    one, *others = (
        {name: row[name] for name in _TOLD} for row in store.memories([memory, other] if other else [memory])
    )
    return one | {"why": why, "other": others[0] if others else None}


def _named(memory: dict[str, Any], most: int = WIDE) -> str:
    said = clean(memory["text"], most)
    return "  ".join(filter(None, (short(memory["uid"]), ", ".join(freshness(memory)), said)))


def _print(found: dict[str, Any]) -> None:
    of = "" if found["read"] == found["memories"] else f", of which the judge read {found['read']}: --all reads all"
    text(f"{counted(found['memories'], 'current memory')} in store {found['store']!r}{of}")
    for kind, count in found["counts"].items():
        text(f"{kind}: {count}")
        shown = [one for one in found["findings"] if one["kind"] == kind]
        for one in shown:
            beside = f" {_named(one['other'], _WIDE)}" if one["other"] else ""
            text(f"  {_named(one, _WIDE)}  ({one['why']}{beside})")
            text(f"    {one['mend']}")
        if (left := count - len(shown)) > 0:
            text(f"  and {left} more: memman lint --only {shlex.quote(kind)} --limit {count}")
    if not any(found["counts"].values()):
        text("nothing to fix")


@verb(opened=True, shows=_print, bar=("looking", "nothing was changed"))
@click.option(
    "--only", multiple=True, type=click.Choice([*_FINDINGS]), help="Look for this kind only; may be repeated."
)
@click.option("--all", "every", is_flag=True, help=f"Have the judge read all memories, not only {SAMPLE}.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=_SHOWN, show_default=True, help="Lines of each kind.")
def lint(
    store: Opened, *, only: Sequence[str] = (), every: bool = False, limit: int = _SHOWN, progress: Progress = unseen
) -> dict[str, Any]:
    """Find contradictory, duplicate, stale, vague or over-long memories, and how to fix each.

    Changes nothing.
    """
    counts: dict[str, int] = {}
    findings = []
    store.reader.hold()
    look = _Look(store, Judge(), now_ms(), progress, _EVERYTHING if every else SAMPLE)
    for kind in only or _FINDINGS:
        finding = _FINDINGS[kind]
        found = list(finding.search(look))
        there = store.within({row for row, *_ in found})
        found = [one for one in found if one[0] in there]
        if found:
            counts[kind] = len(found)
        for one in found[:limit]:
            record = {"kind": kind} | _example(store, *one)
            findings.append(record | {"mend": finding.mend.replace("ID", short(record["uid"]))})
    return {
        "store": store.name,
        "memories": quality.current(store.reader),
        "read": len(look.sample),
        "counts": counts,
        "findings": findings,
    }


# Questions that are put to memory again, the newest.
_QUESTIONS = 500
# The share of their words that two of them have in common which are one.
_COMMON = 0.75


def _open_questions(store: Opened, *, all_scopes: bool) -> Records:
    """Return the questions that still have no answer, the most often asked first; nearly the same words are one."""
    here, every = standing(), unanswered(store.data, store.name)
    groups: Records = []
    asked = [one for one in every if all_scopes or holds(here, one.repository, "", inside=False)]
    for one in reversed(asked[-_QUESTIONS:]):
        there = label(one.repository, "")
        alike = (group for group in groups if group["scope"] == there and _alike(group["question"], one.question))
        same = next(alike, None)
        if same:
            same["times"] += 1
        else:
            groups.append({"question": one.question, "times": 1, "last": one.at, "agent": one.agent, "scope": there})
    recalls = opened(store.data, store.name)
    try:
        left = [
            one
            for one in groups
            if all(hit.doubtful for hit in recalls.hits(one["question"], Filters(here=here, anywhere=all_scopes), 1))
        ]
    finally:
        recalls.close()
    return sorted(left, key=lambda one: -one["times"])


def _alike(one: str, other: str) -> bool:
    both = stems(one) | stems(other)
    return len(stems(one) & stems(other)) >= _COMMON * len(both) and numbers(one) == numbers(other)


def _print_doubts(doubts: dict[str, Any]) -> None:
    told = {
        "asked": 'never answered: memman remember "…" answers',
        "weak": "unconfirmed, only an agent has said so: memman review approve ID, or reject ID",
        "against": "contradicted: memman review approve ID, if the second holds, or reject ID",
    }
    for kind, head in told.items():
        lines([head] if doubts[kind] else [])
        if kind == "asked":
            table(
                (f"  {counted(one['times'], 'time')}", f"last {past(one['last'])}", one["scope"], one["question"])
                for one in doubts[kind]
            )
        elif kind == "weak":
            table(cells(one, f"shown {counted(one['uses'], 'time')}" * bool(one["uses"])) for one in doubts[kind])
        else:
            pairs = [(_named(one), f"  {one['kind']} by {_named(one['other'])}") for one in doubts[kind]]
            lines(f"  {line}" for pair in pairs for line in pair)
        if left := doubts["left"][kind]:
            text(f"  and {left} more: --limit lists more")
    if not any(doubts[kind] for kind in told):
        text("nothing: no open question, nothing unconfirmed or contradicted")


@verb(opened=True, shows=_print_doubts)
@click.option("--all-scopes", is_flag=True, help="Include other repositories.")
@limit_option
def wonder(store: Opened, *, all_scopes: bool = False, limit: int = 20) -> dict[str, Any]:
    """List questions that memory could not answer here, and its doubtful and contradicted memories.

    Lists questions to which `recall` had no sure answer, then or now.
    """
    asked, scope = _open_questions(store, all_scopes=all_scopes), "all" if all_scopes else "here"
    weak = sorted(store.memories([*store.within(lone(store.db), scope)]), key=lambda one: -one["uses"])
    against = [one for one in found(store, scope) if one[0] in {MAYBE, CONTRADICTED}]
    counts = {"asked": len(asked), "weak": len(weak), "against": len(against)}
    return {
        "asked": asked[:limit],
        "weak": weak[:limit],
        "against": [told(store, *one) for one in against[:limit]],
        "left": {kind: max(0, count - limit) for kind, count in counts.items()},
    }
