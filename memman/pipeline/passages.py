"""A message's passages, and what of them its author did not write, as far as the judge can tell."""

from memman.judge.judge import Judge
from memman.llm.builtin.split import extents
from memman.pipeline.speech import own

# Of a single passage there is nothing to tell whose it is by.
FEWEST = 2
# What the judge says of a passage: surely the author's own, possibly pasted, or probably.
OWN, MAYBE, PASTED = 0, 1, 2


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


def heard(judge: Judge | None, text: str) -> tuple[str, tuple[str, ...]]:
    """Return what the author of a message may have typed, and its passages that are not their word."""
    said = own(text)
    if judge is None:
        return said, ()
    found = passages(said)
    bands = judge.pasted(said, found) if len(found) >= FEWEST else [OWN] * len(found)
    told = [said[start:end] for start, end in found]
    steers = judge.steering(told)
    return said, tuple(one for one, band, order in zip(told, bands, steers, strict=True) if band == PASTED or order)
