"""Our entries among the hooks of a settings file: `{"hooks": {EVENT: [{"matcher": …, "hooks": [HANDLER, …]}, …]}}`."""

import os
import shlex
from collections.abc import Iterator
from typing import Any

from memman.integrations.edits import append, at, hollow, remove

Block = dict[str, list[dict[str, Any]]]
_SHAPE = ("memman", "hook", "--host")
# What stands around it for Gemini CLI, which ends only the shell of a late hook, and takes the error of a shell that
# finds no launcher for a refusal of the prompt.
_ADDED = ("exec", "2>/dev/null")
_KEY = "hooks"


def ours(command: object) -> bool:
    """Whether a hook's command is a call of memman's hook program, wherever that is."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    words = [word for word in words if word not in _ADDED]
    return len(words) == 5 and (os.path.basename(words[0]), words[1], words[3]) == _SHAPE  # noqa: PLR2004 - two more


def commands(hooks: object) -> list[str]:
    """Return our commands among the hooks of a parsed settings file."""
    return [handler["command"] for *_, handler in _handlers(hooks)]


def put(text: str, block: Block) -> str:
    """Have exactly the groups of `block` as our entries; those of others stay where they are. Raises CannotEdit."""
    if groups(at(text, (_KEY,))) == block:
        return text
    text = take(text, None)
    for event, wanted in block.items():
        for group in wanted:
            text = append(text, (_KEY, event), group)
    return text


def take(text: str, original: str | None) -> str:
    """Take our entries out, and what they leave empty unless it was there in `original`."""
    while place := next(_handlers(at(text, (_KEY,))), None):
        event, group, index, _ = place
        path = (_KEY, event, group, _KEY, index)
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
    for event, group, _, _ in _handlers(hooks):
        found.setdefault(event, {})[group] = hooks[event][group]  # type: ignore[index]
    return {event: list(held.values()) for event, held in found.items()}


def _handlers(hooks: object) -> Iterator[tuple[str, int, int, dict[str, Any]]]:
    for event, held in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(held if isinstance(held, list) else ()):
            handlers = group.get(_KEY) if isinstance(group, dict) else None
            for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict) and ours(handler.get("command")):
                    yield event, number, index, handler
