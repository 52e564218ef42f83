"""What install lays down, as it is shipped: packed in the wheel, or beside the package in a checkout."""

import json
import os
import shlex
from typing import Any

import memman
from memman.config.command import NAME
from memman.integrations.hook_block import Block
from memman.model.errors import BadConfig

PLACEHOLDER = "__MEMMAN__"
# Before a command whose shell the agent ends when it is late: then it ends the launcher.
EXEC = "exec "
_PREFIXES = ('"${CLAUDE_PLUGIN_ROOT}/bin/memman"', "memman")


def folder(agent: str) -> str:
    """Return the folder of an agent's sources. Raises BadConfig where this installation has none."""
    package = os.path.dirname(os.path.abspath(memman.__file__))
    for place in (f"{package}/share/hooks/{agent}", f"{os.path.dirname(package)}/hooks/{agent}"):
        if os.path.isdir(place):
            return place
    raise _missing(agent)


def text(agent: str, name: str, launcher: str) -> str:
    """Return a shipped file, the launcher's path in its place as a string of JavaScript or JSON."""
    path, literal = f"{folder(agent)}/{name}", json.dumps(launcher, ensure_ascii=False)
    try:
        with open(path, encoding="utf-8", newline="") as source:
            return source.read().replace(f'"{PLACEHOLDER}"', literal).replace(PLACEHOLDER, literal)
    except OSError as error:
        raise _missing(agent) from error


def skill(name: str, launcher: str, command: str) -> str:
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
