"""Sentences → statements that stand alone: each begins with what it is about, and has room in one memory."""

from collections.abc import Iterator, Sequence

from memman.judge.judge import Judge
from memman.llm.builtin.extract import LONG
from memman.llm.builtin.split import MAX_CHARS, MAX_FACTS, refers

# A sentence is worth keeping from here on; a statement of so many characters is shown whole.
WORTH, WHOLE = 0.5, LONG


def worthy(judge: Judge | None, about: str, sentences: Sequence[str], bar: float = WORTH) -> list[str]:
    """Return the sentences up to the last that the judge finds worth keeping: those before it may say of what."""
    if judge is None:
        return [*sentences]
    rated = judge.lines([f"{about}: {sentence}" if about else sentence for sentence in sentences])
    return [*sentences[: max((n for n, (worth, _) in enumerate(rated, 1) if worth >= bar), default=0)]]


def packed(about: str, sentences: Sequence[str], most: int = MAX_FACTS, *, fits: int = MAX_CHARS) -> Iterator[str]:
    """Yield at most so many statements of what the sentences say, each one sentence for whoever stores it.

    Those that `fit` together are one statement, and one that needs the one before it is with it where there is room.
    """
    room = MAX_CHARS - len(about) - 2
    held: list[str] = []
    count = 0
    for sentence in [*sentences, ""]:
        said = sentence.rstrip(".,;: ")
        most_chars = room if refers(said) or said[:1] == "(" else fits - len(about) - 2
        if held and (not said or len("; ".join((*held, said))) > most_chars):
            yield ": ".join(filter(None, (about, "; ".join(held)))) + "."
            count += 1
            held = []
        if count == most:
            return
        if said and len(said) <= room:
            held.append(said)
