"""What install lays down, as it is shipped, packed in the wheel or beside the package in a checkout; and the skills."""

import json
import os
import shlex
from typing import Any

import memman
from memman.config.command import NAME
from memman.integrations.parts import Block
from memman.integrations.target import LAID, File, Wiring, laid, under
from memman.model.errors import BadConfig

PLACEHOLDER = "__MEMMAN__"
# Stands in a plugin where hooks/hook.js is laid down.
_HOOK = "//= hook.js\n"
# Before a command whose shell the agent ends when it is late: then it ends the launcher.
EXEC = "exec "
COMMANDS = ("recall", "remember", "memories")
# Where most agents look; Claude Code has a folder of its own.
_SHARED = "~/.agents/skills"
# Characters of a line that nobody else would write.
_LONG = 40
_PREFIXES = ('"${CLAUDE_PLUGIN_ROOT}/bin/memman"', "memman")


def folder(agent: str) -> str:
    """Return the folder of an agent's sources. Raises BadConfig where this installation has none."""
    package = os.path.dirname(os.path.abspath(memman.__file__))
    for place in (f"{package}/share/hooks/{agent}", f"{os.path.dirname(package)}/hooks/{agent}"):
        if os.path.isdir(place):
            return place
    raise _missing(agent)


def text(agent: str, name: str, launcher: str) -> str:
    """Return a shipped file: in place of a mark how a hook is run, and the launcher's path, as JavaScript or JSON."""
    literal = json.dumps(launcher, ensure_ascii=False)
    shipped = _read(f"{folder(agent)}/{name}")
    if _HOOK in shipped:
        shipped = shipped.replace(_HOOK, _read(f"{os.path.dirname(folder(agent))}/hook.js"))
    return shipped.replace(f'"{PLACEHOLDER}"', literal).replace(PLACEHOLDER, literal)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as source:
            return source.read()
    except OSError as error:
        raise BadConfig(f"this installation lacks {path}: reinstall memman") from error


def _skill(name: str, launcher: str, command: str) -> str:
    """Return a skill, in which agents read how they call memman."""
    shipped = text("claude-code", f"skills/{name}/SKILL.md", launcher)
    for before in ("`", "    "):
        shipped = shipped.replace(f"{before}{NAME} ", f"{before}{command} ")
    return shipped


def names(agent: str) -> list[str]:
    """Return an agent's shipped files, relative to their folder."""
    root = folder(agent)
    found = (f"{place}/{name}"[len(root) + 1 :] for place, _, files in os.walk(root) for name in files)
    shipped = sorted(name for name in found if not name.endswith((".pyc", "~")))
    if not shipped:
        raise _missing(agent)
    return shipped


def executable(agent: str, name: str) -> bool:
    """Whether a shipped file is a program."""
    return os.access(f"{folder(agent)}/{name}", os.X_OK)


def block(agent: str, name: str, launcher: str) -> Block:
    """Return an agent's hooks, with the launcher's path where the source says how memman is called."""
    hooks: Block = json.loads(text(agent, name, launcher))["hooks"]
    for groups in hooks.values():
        for group in groups:
            for handler in group["hooks"]:
                handler["command"] = _command(handler["command"], launcher)
    return hooks


def _missing(agent: str) -> BadConfig:
    return BadConfig(f"this installation lacks the hooks for {agent}: reinstall memman")


def _command(command: str, launcher: str) -> Any:
    words = command.removeprefix(EXEC)
    prefix = next(prefix for prefix in _PREFIXES if words.startswith(prefix + " "))
    return command[: len(command) - len(words)] + shlex.quote(launcher) + words.removeprefix(prefix)


def skills(wiring: Wiring) -> list[File]:
    """Return the skills where most agents look for them."""
    return skills_below(under("", _SHARED), wiring)


def skills_below(folder: str, wiring: Wiring) -> list[File]:
    """Return the skills in a folder; a command's name that the user has given a skill of theirs stays theirs."""
    skill = _skill("memman", wiring.launcher, wiring.command)
    return [
        laid(f"{folder}/memman/SKILL.md", skill, "the skill"),
        *(_command_skill(f"{folder}/{name}/SKILL.md", name, wiring) for name in COMMANDS),
    ]


def _command_skill(path: str, name: str, wiring: Wiring) -> File:
    skill = _skill(name, wiring.launcher, wiring.command)
    lines = [line for line in skill.splitlines() if len(line) > _LONG]

    def put(text: str | None) -> str:
        return skill if not text or any(line in text for line in lines) else text

    return File(os.path.realpath(path), LAID, f"/{name}", put)
