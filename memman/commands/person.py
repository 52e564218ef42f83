"""A question to a person at their own terminal, and whether an agent asks it instead of one."""

import os
import sys
import termios
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from memman.commands.printing import WIDE
from memman.hot.provenance import agent
from memman.model.errors import ForPeople
from memman.model.text import clean

_TERMINAL = "/dev/tty"
_LONGEST = 4096
# Characters of an id that a person types.
_TYPED = 4


def confirm(question: str, word: str = "", listed: Iterable[str] = (), *, whole: str = "") -> None:
    """Ask a person at their terminal about the lines `listed`; raise ForPeople unless the answer is yes.

    Where there is a `word`, that has to be typed instead, or more of the `whole` that it begins.
    """
    said = _answer(question, f"Type {word} to go on: " if word else "[y/N] ", listed)
    typed_on = said.startswith(word) and whole.startswith(said)
    if not (said == word or typed_on) if word else said.lower() not in {"y", "yes"}:
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


# Programs of agents, by the name they are started by, with what runs them where that is not the system.
_PROGRAMS = {
    "amp": "amp",
    "auggie": "augment",
    "claude": "claude-code",
    "cline": "cline",
    "codex": "codex",
    "copilot": "copilot",
    "cursor-agent": "cursor",
    "gemini": "gemini",
    "goose": "goose",
    "openclaw": "openclaw",
    "openclaw-gateway": "openclaw",
    "opencode": "opencode",
    "qwen": "qwen",
}
_RUNTIMES = frozenset(("bun", "deno", "node"))


def asking() -> str:
    """Name the agent that runs this command, by its own variables or by what started it; '' for a person."""
    return agent() or agent_above()


def agent_above() -> str:
    """Name the agent among the processes that started this one; '' for none, and where there is no /proc."""
    process = os.getppid()
    while process:
        try:
            comm, parent = _status(process)
            found = _program(comm, _read(process, "cmdline")) or agent(_environ(process))
        except OSError:
            return ""
        if found:
            return found
        process = parent
    return ""


def _status(process: int) -> tuple[str, int]:
    with open(f"/proc/{process}/stat", "rb") as file:
        head, _, rest = file.read().rpartition(b")")
    return head.partition(b"(")[2].decode(errors="replace"), int(rest.split()[1])


def _read(process: int, what: str) -> list[bytes]:
    try:
        with open(f"/proc/{process}/{what}", "rb") as file:
            return file.read().split(b"\0")
    except PermissionError:  # another user's
        return []


def _program(comm: str, line: list[bytes]) -> str:
    words = [os.path.basename(word).decode(errors="replace") for word in line]
    names = [comm, *words[:1]]
    if any(name in _RUNTIMES for name in names):
        names += [word.partition(".")[0] for word in words[1:] if word and not word.startswith("-")][:1]
    return next((_PROGRAMS[name] for name in names if name in _PROGRAMS), "")


def _environ(process: int) -> dict[str, str]:
    pairs = (pair.decode(errors="replace").partition("=") for pair in _read(process, "environ"))
    return {name: value for name, _, value in pairs}
