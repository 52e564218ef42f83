"""A message's passages, and what of them its author did not write, as far as the judge can tell."""

from collections.abc import Sequence

from memman.judge.judge import Judge
from memman.llm.builtin.split import extents

# How many thresholds a passage passes that is surely pasted, and one of which it is unclear.
PASTED, UNCLEAR = 2, 1
# Of a single passage there is nothing to tell whose it is by.
FEWEST = 2


def passages(text: str) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends; one never goes on behind a line's end."""
    found, at = [], 0
    for line in text.split("\n"):
        for start, end in extents(line):
            said = line[start:end]
            if any(map(str.isalnum, said)):
                first = at + start + len(said) - len(said.lstrip())
                found.append((first, first + len(said.strip())))
        at += len(line) + 1
    return found


def parted(judge: Judge | None, text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without what is surely pasted, and those passages of the rest that may be."""
    found = passages(text) if judge else []
    if judge is None or len(found) < FEWEST:
        return text, ()
    bands = judge.pasted(text, found)
    unclear = tuple(text[start:end] for (start, end), band in zip(found, bands, strict=True) if band == UNCLEAR)
    return _without(text, [one for one, band in zip(found, bands, strict=True) if band >= PASTED]), unclear


def _without(text: str, cut: Sequence[tuple[int, int]]) -> str:
    """Cut passages out, and the lines and paragraphs that are then empty."""
    if not cut:
        return text
    kept, at = [], 0
    for start, end in cut:
        kept.append(text[at:start])
        at = end
    left = "".join((*kept, text[at:])).split("\n")
    paragraphs = "\n".join(line.strip() if any(map(str.isalnum, line)) else "" for line in left).split("\n\n")
    return "\n\n".join(one for one in (paragraph.strip("\n") for paragraph in paragraphs) if one)
