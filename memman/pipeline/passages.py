"""A message's passages, and what of them its author did not write, as far as the judge can tell."""

from memman.judge.judge import Judge
from memman.llm.builtin.split import extents

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


def unclear(judge: Judge | None, text: str) -> tuple[str, ...]:
    """Return the passages of a message that its author may not have written."""
    found = passages(text) if judge else []
    if judge is None or len(found) < FEWEST:
        return ()
    pasted = judge.pasted(text, found)
    return tuple(text[start:end] for (start, end), theirs in zip(found, pasted, strict=True) if theirs)
