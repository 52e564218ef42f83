"""A question to a person, at their own terminal: what cannot be taken back is done once they have answered."""

import os
import sys
import termios
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from memman.commands.ancestors import asking
from memman.commands.printing import WIDE
from memman.model.errors import ForPeople
from memman.model.text import clean

_TERMINAL = "/dev/tty"
_LONGEST = 4096
# Characters of an id that a person types.
_TYPED = 4


def confirm(question: str, word: str = "", listed: Iterable[str] = ()) -> None:
    """Ask a person at their terminal about the lines `listed`; raise ForPeople unless the answer is yes.

    Where there is a `word`, that has to be typed instead.
    """
    said = _answer(question, f"Type {word} to go on: " if word else "[y/N] ", listed)
    if said != word if word else said.lower() not in {"y", "yes"}:
        raise ForPeople(f"cancelled: the answer was not {word or 'yes'}")


def choose(question: str, answers: Mapping[str, str] | None, listed: Iterable[str] = ()) -> str:
    """Ask a person at their terminal for one of `answers` or its letter, or for a line.

    Raises ForPeople as `confirm` does, and where the terminal is closed.
    """
    prompt = f"{', '.join(answers.values())}? " if answers else ""
    while True:
        said = _answer(question, prompt, listed)
        found = answers.get(said[:1].lower(), "") if answers else said
        if not answers or (found and found.startswith(said.lower())):
            return found
        listed = ()


def tell(line: str, question: str = "Show a secret?") -> None:
    """Show a person a line at their terminal, whatever standard output is. Raises ForPeople as `confirm` does."""
    refuse_agents()
    sys.stdout.flush()
    with _terminal(question) as terminal:
        _write(terminal, line + "\n")


def refuse_agents() -> None:
    """Raise ForPeople where an agent runs this."""
    if who := asking():
        raise ForPeople(f"only a person may do this, and {who} is running it: run it in your own terminal")


def _answer(question: str, prompt: str, listed: Iterable[str]) -> str:
    question = clean(question, WIDE)
    refuse_agents()
    sys.stdout.flush()
    with _terminal(question) as terminal:
        _write(terminal, "".join(clean(line, WIDE) + "\n" for line in listed))
        termios.tcflush(terminal, termios.TCIFLUSH)  # what was typed before the question answers nothing
        _write(terminal, f"{question} {prompt}")
        raw = os.read(terminal, _LONGEST)
    if not raw:
        raise ForPeople("cancelled: the terminal was closed")
    return raw.decode(errors="replace").strip()


def typed(ids: Sequence[str]) -> str:
    """Return what a person types to name memories or notes: how the id begins, or how many they are."""
    return ids[0][:_TYPED] if len(ids) == 1 else str(len(ids))


@contextmanager
def _terminal(question: str) -> Iterator[int]:
    try:
        terminal = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY)
    except OSError:
        raise ForPeople(
            f"{question} This needs confirmation at a terminal, and there is none: run it in your own terminal"
        ) from None
    try:
        if os.tcgetpgrp(terminal) != os.getpgrp():
            raise ForPeople(f"{question} This needs confirmation: run it in the foreground of your terminal")
        yield terminal
    finally:
        os.close(terminal)


def _write(terminal: int, text: str) -> None:
    left = text.encode(errors="replace")
    while left:
        left = left[os.write(terminal, left) :]
