"""NanoClaw: a skill for its checkout, laid only where asked for by name. It changes the container when it is run."""

import os

from memman.integrations import sources
from memman.integrations.target import File, Target, Wiring, laid
from memman.model.errors import UsageError

NAME = "nanoclaw"
_SKILL = ".claude/skills/add-memman"


def is_checkout(path: str) -> bool:
    """Whether a folder is a checkout of NanoClaw."""
    try:
        with open(f"{path}/package.json", encoding="utf-8", errors="replace") as package:
            named = "nanoclaw" in package.read()
    except OSError:
        return False
    return named and os.path.isfile(f"{path}/container/Dockerfile")


def home() -> str:
    """Return the current folder where it is a checkout, else nothing."""
    here = os.getcwd()
    return here if is_checkout(here) else ""


def root(checkout: str) -> str:
    """Return the checkout that is meant, by default the current folder. Raises UsageError where it is not one."""
    place = os.path.abspath(checkout or os.getcwd())
    if not is_checkout(place):
        raise UsageError(f"{place} is not a NanoClaw checkout: give one with --checkout PATH")
    return place


def _files(wiring: Wiring) -> list[File]:
    place = root(wiring.checkout)
    return [
        laid(
            f"{place}/{_SKILL}/{name}",
            sources.text(NAME, name, "memman"),
            "the skill",
            program=sources.executable(NAME, name),
        )
        for name in sources.names(NAME)
    ]


def _notes(_: Wiring) -> list[str]:
    return ["in the checkout, run the skill: start claude and type /add-memman"]


TARGET = Target(NAME, "", home, _files, _notes, list, everywhere=False)
