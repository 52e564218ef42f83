"""A message's passages, and what of them its author did not write, as far as the judge can tell."""

from memman.judge.judge import Judge
from memman.llm.builtin.split import extents
from memman.pipeline.speech import announced, own

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
    """Return what the author of a message may have said, and the passages of it that they may not have written.

    What is possibly written to steer agents is in doubt wherever it stands, as a message of its own too: of what people
    type to an agent hardly anything is. What follows an announcement is said by them only where the judge is sure of
    it, and may not be theirs even then.
    """
    said = own(text)
    if judge is None:
        return said, ()
    bands = _banded(judge, said)
    steering = judge.steering([one for one, _ in bands])
    theirs = [one for (one, band), steers in zip(bands, steering, strict=True) if band == PASTED or steers]
    after = announced(text)
    kept = [one for one, band in _banded(judge, text) if band == OWN and one in after] if after else []
    return "\n\n".join(filter(None, (said, *kept))), (*theirs, *kept)


def _banded(judge: Judge, text: str) -> list[tuple[str, int]]:
    """Return the passages of a message, and what the judge says of each; whose a single one is nothing tells."""
    found = passages(text)
    bands = judge.pasted(text, found) if len(found) >= FEWEST else [MAYBE] * len(found)
    return [(text[start:end], band) for (start, end), band in zip(found, bands, strict=True)]
