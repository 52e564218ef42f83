"""Our entries among the hooks of a settings file: `{"hooks": {EVENT: [{"matcher": …, "hooks": [HANDLER, …]}, …]}}`."""

import os
import shlex
from collections.abc import Callable, Iterator
from typing import Any

from memman.integrations.edits import append, at, hollow, remove

Block = dict[str, list[dict[str, Any]]]
_SHELL = frozenset(";|&<>()`$")
# What stands around it for Gemini CLI, which ends only the shell of a late hook, and takes the error of a shell that
# finds no launcher for a refusal of the prompt.
_ADDED = ("exec", "2>/dev/null")
# What stands behind it for Copilot CLI, which takes that error for a refusal of the command.
_BEHIND = " || :"
_KEY = "hooks"


def program(command: object) -> str:
    """Return the memman that a hook's command is a plain call of, wherever that is; '' for other commands."""
    try:
        words = shlex.split(command.removesuffix(_BEHIND)) if isinstance(command, str) else []
    except ValueError:
        return ""
    words = [word for word in words if word not in _ADDED]
    if words[1:2] != ["hook"] or os.path.basename(words[0]) != "memman" or any(map(_SHELL.intersection, words[2:])):
        return ""
    return words[0] if any(word.partition("=")[0] == "--host" for word in words[2:]) else ""


def ours(command: object, launcher: str = "") -> bool:
    """Whether a hook's command is a plain call of `launcher`, or where none is named of any memman."""
    called = program(command)
    return bool(called) and (not launcher or os.path.realpath(called) == os.path.realpath(launcher))


def commands(hooks: object) -> list[str]:
    """Return the commands, among the hooks of a parsed settings file, that are plain calls of some memman."""
    return [handler["command"] for *_, handler in _handlers(hooks, ours)]


def put(text: str, block: Block) -> str:
    """Have exactly the groups of `block` as our entries; those of others stay where they are. Raises CannotEdit."""
    if groups(at(text, (_KEY,))) == block:
        return text
    text = take(text, None)
    for name, wanted in block.items():
        for group in wanted:
            text = append(text, (_KEY, name), group)
    return text


def take(text: str, original: str | None, launcher: str = "") -> str:
    """Take out our entries, with a `launcher` those that call it, and what they leave empty unless it was so before."""
    while place := next(_handlers(at(text, (_KEY,)), lambda command: ours(command, launcher)), None):
        name, group, index, _ = place
        path = (_KEY, name, group, _KEY, index)
        text = remove(text, path)
        if at(text, path[:-1]) == []:
            text = prune(remove(text, path[:3]), path[:2], original)
    return text


def prune(text: str, path: tuple[str | int, ...], original: str | None) -> str:
    """Remove the containers along `path` that are empty and were not there in `original`."""
    while path and hollow(text, path) and (original is None or at(original, path) is None):
        text, path = remove(text, path), path[:-1]
    return text


def groups(hooks: object) -> Block:
    """Return the groups with entries of ours among the hooks of a parsed settings file."""
    found: dict[str, dict[int, Any]] = {}
    for name, group, _, _ in _handlers(hooks, ours):
        found.setdefault(name, {})[group] = hooks[name][group]  # type: ignore[index]
    return {name: list(held.values()) for name, held in found.items()}


def _handlers(hooks: object, meant: Callable[[object], object]) -> Iterator[tuple[str, int, int, dict[str, Any]]]:
    for name, held in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(held if isinstance(held, list) else ()):
            handlers = group.get(_KEY) if isinstance(group, dict) else None
            for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict) and meant(handler.get("command")):
                    yield name, number, index, handler
