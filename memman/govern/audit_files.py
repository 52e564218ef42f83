"""What files of rules say that memory says too, or otherwise, line by line. Writes nothing."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from memman.config import stores
from memman.config.env import Settings
from memman.govern import likeness
from memman.govern.held import veiled
from memman.govern.stores import Chosen, answering, reading, standing
from memman.judge.judge import Judge
from memman.model.errors import UsageError
from memman.pipeline.candidates import lexical
from memman.pipeline.comparison import same
from memman.pipeline.judged import nearest
from memman.portable.files import text
from memman.portable.formats.rules import numbered
from memman.providers.build import builtin_llm
from memman.store.filters import Filters
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


@answering
def compared(place: Chosen, paths: Sequence[str]) -> dict[str, Any]:
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
    yield from numbered(text(path))


def _found(place: Chosen, catalogue: Catalogue, judge: Judge | None, lines: Sequence[Line]) -> Iterator[dict[str, Any]]:
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
