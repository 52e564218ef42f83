"""The skills that agents read: memman's own, and one for each command that a user may type with a slash."""

import os

from memman.integrations import sources
from memman.integrations.target import LAID, File, Wiring, laid, under

COMMANDS = ("recall", "remember", "memories")
# Where most agents look; Claude Code has a folder of its own.
_SHARED = "~/.agents/skills"
# Characters of a line that nobody else would write.
_LONG = 40


def shared(wiring: Wiring) -> list[File]:
    """Return the skills where most agents look for them."""
    return below(under("", _SHARED), wiring)


def below(folder: str, wiring: Wiring) -> list[File]:
    """Return the skills in a folder; a command's name that the user has given a skill of theirs stays theirs."""
    skill = sources.skill("memman", wiring.launcher, wiring.command)
    return [
        laid(f"{folder}/memman/SKILL.md", skill, "the skill"),
        *(_command(f"{folder}/{name}/SKILL.md", name, wiring) for name in COMMANDS),
    ]


def _command(path: str, name: str, wiring: Wiring) -> File:
    skill = sources.skill(name, wiring.launcher, wiring.command)
    lines = [line for line in skill.splitlines() if len(line) > _LONG]

    def put(text: str | None) -> str:
        return skill if not text or any(line in text for line in lines) else text

    return File(os.path.realpath(path), LAID, f"/{name}", put)
