"""`memman audit`."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import click

from memman.clock import now_ms
from memman.commands import likeness
from memman.commands.list import ages_of, doubts
from memman.commands.memories import veiled
from memman.commands.place import Place, reading, standing
from memman.commands.printing import Progress, short, text, unseen
from memman.commands.printing import freshness as doubtful
from memman.commands.verb import verb
from memman.config import stores
from memman.config.env import Settings
from memman.config.scope import parted
from memman.judge.judge import Judge
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.pipeline.candidates import lexical
from memman.pipeline.comparison import same
from memman.pipeline.judged import nearest
from memman.portable.files import text as text_of
from memman.portable.formats.rules import numbered
from memman.providers.build import builtin_llm
from memman.store.filters import Filters
from memman.store.sqlite import quality
from memman.store.sqlite.beliefs import lone
from memman.store.sqlite.catalogue import Catalogue, freshness

NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
# Memories that a line is compared with: those nearest as the judge finds, and those that share its rarest words.
_NEAREST, _WORDS = 5, 3
# Nobody knows which of the two was said last, and few are near: one direction is enough, and less probably so. Of 120
# changes by writers that nothing was taught by it finds 68, of 120 pairs of theirs that only sound alike 13.
AGAINST = (0.65, 0.0)
# Items and paragraphs of all files together that are compared, so that it takes seconds.
MOST = 500

# The file, the line, what it says.
Line = tuple[str, int, str]


def compared(place: Place, paths: Sequence[str]) -> dict[str, Any]:
    """Return what lines of files, by default the repository's, say again or otherwise. Raises UsageError."""
    files = list(paths) or _standing_files()
    lines = [(path, number, said) for path in files for number, said in _lines(path)]
    judge = builtin_llm(Settings.load(place.data, place.name)).judge
    with reading(place) as catalogue:
        catalogue.reader.hold()
        found = list(_found(place, catalogue, judge, lines[:MOST]))
    return {
        "store": place.name,
        "files": files,
        "lines": len(lines),
        "compared": min(len(lines), MOST),
        "judge": judge is not None,
        "findings": found,
    }


def _standing_files() -> list[str]:
    here = stores.here()
    if here is None:
        raise UsageError("this folder is not in a repository: name the files to compare")
    there = (path for name in NAMES if os.path.isfile(path := f"{here.root}/{name}"))
    # One may be a link to another.
    found = {os.path.realpath(path): path for path in reversed(list(there))}
    if not found:
        raise UsageError(f"{here.root} has no {', '.join(NAMES[:-1])} or {NAMES[-1]}: name the files to compare")
    return list(reversed(found.values()))


def _lines(path: str) -> Iterator[tuple[int, str]]:
    if not os.path.isfile(path):
        raise UsageError(f"{path} is not a file: name the files to compare")
    yield from numbered(text_of(path))


def _found(place: Place, catalogue: Catalogue, judge: Judge | None, lines: Sequence[Line]) -> Iterator[dict[str, Any]]:
    reader = catalogue.reader
    filters = Filters().scoped(reader.scopes(standing()))
    if judge:
        judge.about([said for _, _, said in lines])  # remembered, and cheaper together
    near = [_near(catalogue, judge, said, filters) for _, _, said in lines]
    texts = reader.texts({memory for some in near for memory in some})
    pairs = [(n, memory) for n, some in enumerate(near) for memory in some]
    judged = likeness.compared(judge, [(texts[memory], lines[n][2]) for n, memory in pairs], AGAINST)
    for (n, memory), found in zip(pairs, judged, strict=True):
        if kind := "same" if same(texts[memory], lines[n][2]) else found:
            path, number, said = lines[n]
            row = reader.rows([memory])[memory]
            told = veiled(
                place, reader, row.uid, {"uid": row.uid, "text": row.text} | freshness(reader, [memory])[memory]
            )
            yield {"file": path, "line": number, "said": said, "finding": _SAYS[kind], "memory": told}


_SAYS = {"same": "duplicate", "against": "contradictory"}


def _near(catalogue: Catalogue, judge: Judge | None, said: str, filters: Filters) -> list[int]:
    """Return the current memories that a line is compared with."""
    reader = catalogue.reader
    found = nearest(reader, judge, said, _NEAREST, filters) if judge else []
    words = [memory for memory, _ in lexical(reader, said, filters)[:_WORDS]]
    return sorted(reader.filtered({*found, *words}, filters))


# Memories that the judge reads, so that an audit of any store takes seconds; and of each the most alike ones that it
# is compared with.
SAMPLE, NEIGHBOURS = 500, 2
EXAMPLES = 3
# Below this worth a memory is junk; terse decisions, of what was tried and given up too, are worth a little more.
JUNK = 0.02
# What is told of a memory.
_TOLD = ("uid", "text", "ends_at", "file_changed_at")
# Texts that the judge reads at once.
_BATCH = 64

# A memory, the other one or 0, and why.
Found = tuple[int, int, str]


@dataclass(frozen=True)
class Look:
    """A store as it is audited, `most` of its memories; what several findings need is worked out once."""

    catalogue: Catalogue
    judge: Judge | None
    ages: Mapping[str, str]
    now: int
    progress: Progress
    most: int = SAMPLE

    @cached_property
    def sample(self) -> list[int]:
        """The memories that are read."""
        return quality.sample(self.catalogue.reader, self.most)

    @cached_property
    def alike(self) -> list[tuple[int, int]]:
        """The pairs that are compared, (older, newer)."""
        return quality.neighbours(self.catalogue.reader, self.sample, NEIGHBOURS)

    @cached_property
    def pairs(self) -> dict[tuple[int, int], likeness.Finding]:
        """What each pair of alike memories is, (older, newer)."""
        texts = self.catalogue.reader.texts({memory for pair in self.alike for memory in pair})
        found: dict[tuple[int, int], likeness.Finding] = {}
        for at in range(0, len(self.alike), likeness.BATCH):
            some = self.alike[at : at + likeness.BATCH]
            said = likeness.compared(self.judge, [(texts[old], texts[new]) for old, new in some])
            found |= zip(some, said, strict=True)
            self.done(len(self.sample) + len(found))
        return found

    def done(self, count: int) -> None:
        """Tell how many of the texts and pairs are read that take all the time."""
        self.progress(count, len(self.sample) + len(self.alike))


def _junk(look: Look) -> Iterator[Found]:
    reader = look.catalogue.reader
    # The judge finds worth what lasts: what has an end is of use until then, and stale afterwards.
    texts = reader.texts(sorted(set(look.sample) - reader.ends(look.sample).keys()))
    judge, rows = look.judge, [row for row, text in texts.items() if "\n" not in text]
    assert judge is not None  # noqa: S101 - what the judge finds is not looked for without it
    for at in range(0, len(rows), _BATCH):
        batch = rows[at : at + _BATCH]
        look.done(at)
        judge.read([texts[row] for row in batch])  # remembered, and cheaper together
        for row in batch:
            ((worth, _),) = judge.lines([texts[row]])
            if worth < JUNK:
                yield row, 0, f"says nothing that lasts: worth {worth:.2f} of 1"


def _duplicates(look: Look) -> Iterator[Found]:
    # One line for each memory that is said again, however often.
    said = {new: old for (old, new), found in look.pairs.items() if found == "same"}
    yield from ((new, old, "says again") for new, old in said.items())


def _contradictions(look: Look) -> Iterator[Found]:
    settled = quality.kept_apart(look.catalogue.reader) | look.catalogue.pairs()
    against = (pair for pair, found in look.pairs.items() if found == "against" and pair not in settled)
    yield from ((old, new, "said otherwise by") for old, new in against)


def _maybe_replaced(look: Look) -> Iterator[Found]:
    yield from ((old, new, "maybe replaced by") for old, new in look.catalogue.doubtful().items())


def _unsupported(look: Look) -> Iterator[Found]:
    yield from ((row, 0, "nobody but an agent has said so") for row in lone(look.catalogue.reader.db))


def _stale(look: Look) -> Iterator[Found]:
    found = doubts(look.catalogue.reader, look.ages, look.now)
    for row, why in sorted(found.items(), key=lambda one: min(one[1])):
        yield row, 0, "; ".join(why.values())


def _unreceipted(look: Look) -> Iterator[Found]:
    yield from ((row, 0, "nothing tells where it comes from") for row in quality.without_receipt(look.catalogue.reader))


def _unlinked(look: Look) -> Iterator[Found]:
    yield from ((row, 0, "linked to nothing") for row in quality.without_edges(look.catalogue.reader))


def _folder_gone(look: Look) -> Iterator[Found]:
    for repository, rows in quality.repositories(look.catalogue.reader).items():
        folder = parted(repository)[0]
        if folder.startswith("/") and not os.path.isdir(folder):
            yield from ((row, 0, f"{folder} is gone") for row in rows)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is looked for: what mends it, and whether it takes the judge, who reads a sample."""

    name: str
    mend: str
    search: Callable[[Look], Iterable[Found]]
    sampled: bool = False
    judged: bool = False


FINDINGS = (
    Finding("junk", "memman insights archive ID", _junk, sampled=True, judged=True),
    Finding("duplicate", "memman forget ID", _duplicates, sampled=True),
    Finding("contradictory", "memman replace ID or memman forget ID", _contradictions, sampled=True, judged=True),
    Finding("maybe replaced", "memman review approve ID or memman review reject ID", _maybe_replaced),
    Finding("unsupported", "memman review approve ID or memman review reject ID", _unsupported),
    Finding("stale", "memman insights verify ID or memman insights archive ID", _stale),
    Finding("no receipt", "memman insights archive ID", _unreceipted),
    Finding("no edges", "memman graph rebuild", _unlinked),
    Finding("folder gone", "memman scope move ID --to personal", _folder_gone),
)


def examined(place: Place, progress: Progress = unseen) -> dict[str, Any]:
    """Return how many memories there are and were read, and each finding with count, share and examples.

    Without a judge some findings have no count. `progress` is told (texts and pairs read, of how many).
    """
    judge = builtin_llm(Settings.load(place.data, place.name)).judge
    with reading(place) as catalogue:
        catalogue.reader.hold()
        look = Look(catalogue, judge, ages_of(place), now_ms(), progress)
        total = quality.current(catalogue.reader)
        findings = [_reported(place, look, one, total) for one in FINDINGS]
        return {
            "store": place.name,
            "memories": total,
            "read": len(look.sample),
            "compared": len(look.pairs),
            "judge": judge is not None,
            "findings": findings,
        }


def _reported(place: Place, look: Look, finding: Finding, total: int) -> dict[str, Any]:
    told: dict[str, Any] = {"name": finding.name, "count": None, "share": None, "mend": finding.mend, "examples": []}
    if finding.judged and look.judge is None:
        return told
    found = list(finding.search(look))
    of = len(look.sample) if finding.sampled else total
    count = len({memory for memory, _, _ in found})
    examples = [example(place, look.catalogue, *one) for one in found[:EXAMPLES]]
    return told | {"count": count, "share": round(count / of, 4) if of else 0.0, "examples": examples}


def example(place: Place, catalogue: Catalogue, memory: int, other: int, why: str) -> dict[str, Any]:
    """Describe what was found: the memory, why, and the other one where there is one."""
    one, *others = (
        veiled(place, catalogue.reader, row["uid"], {name: row[name] for name in _TOLD})
        for row in catalogue.memories([memory, other] if other else [memory])
    )
    return one | {"why": why, "other": others[0] if others else None}


_SHOWN = 120
_OFF = "not looked for: the judge is off (MEMMAN_JUDGE)"


def _print(found: dict[str, Any]) -> None:
    if "files" in found:
        _print_files(found)
        return
    text(
        f"{counted(found['memories'], 'current memory')} in store {found['store']!r}; for junk, duplicates and"
        f" contradictions {found['read']} of them were read and {counted(found['compared'], 'alike pair')} compared"
    )
    for finding in found["findings"]:
        _print_finding(finding)


def _print_finding(finding: dict[str, Any]) -> None:
    if finding["count"] is None:
        text(f"{finding['name']:<14}  {_OFF}")
        return
    mend = f"  {finding['mend']}" if finding["count"] else ""
    text(f"{finding['name']:<14}  {finding['count']:>6}  {finding['share']:>6.1%}{mend}")
    for one in finding["examples"]:
        other = one["other"]
        beside = f" {named(other)}" if other else ""
        text(f"    {named(one)}  ({one['why']}{beside})")


def _print_files(found: dict[str, Any]) -> None:
    read = f"{found['compared']} of {counted(found['lines'], 'item')}"
    text(f"{read} of {', '.join(found['files'])} compared with store {found['store']!r}")
    for one in found["findings"]:
        text(f"{one['file']}:{one['line']}  {one['finding']}  {_cut(one['said'])}")
        text(f"    {named(one['memory'])}")
    if not found["judge"]:
        text(f"contradictions  {_OFF}")


def named(memory: dict[str, Any]) -> str:
    """Write a memory on a line below its finding."""
    return "  ".join(filter(None, (short(memory["uid"]), ", ".join(doubtful(memory)), _cut(memory["text"]))))


def _cut(said: str) -> str:
    return said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"


@verb(shows=_print, bar=("auditing", "nothing was changed"))
@click.option("--files", is_flag=True, help="Compare AGENTS.md, CLAUDE.md and GEMINI.md, or PATHs, with memory.")
@click.argument("paths", nargs=-1, metavar="[PATH...]", type=click.Path())
def audit(place: Place, paths: Sequence[str], *, files: bool, progress: Progress = unseen) -> dict[str, Any]:
    """Say what of memory is junk, said twice, contradictory or out of date.

    Finds what nobody but an agent has said, and what is linked to nothing, too. Changes nothing. Beside each finding
    stands the verb that mends it.
    """
    if paths and not files:
        raise UsageError("a PATH goes with --files: memman audit --files AGENTS.md")
    return compared(place, paths) if files else examined(place, progress)
