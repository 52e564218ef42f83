"""The MCP server `memman mcp` among those of an agent: where each keeps them, and what it is told of ours."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memman.integrations import edits, toml
from memman.integrations.hook_block import prune
from memman.integrations.toml import NAME, WORDS, called, taken

FORM = "mcp-json"
# Where the servers stand in a file of JSON.
_PLACES = (("mcpServers",), ("mcp",), ("servers",), ("context_servers",))


@dataclass(frozen=True, slots=True)
class Server:
    """Where an agent keeps its MCP servers: the file, the keys in it, and what it is told beside the command.

    `joined` has the command and its arguments in one list.
    """

    path: Callable[[], str]
    keys: tuple[str, ...] = _PLACES[0]
    says: Mapping[str, Any] = field(default_factory=dict, compare=False)
    joined: bool = False

    def put(self, text: str, launcher: str) -> str:
        """Have our server in a text; what the user set in it stays. Raises CannotEdit where another has its name."""
        if self.path().endswith(".toml"):
            return toml.serve(text, launcher)
        path = (*self.keys, NAME)
        command = {"command": [launcher, *WORDS]} if self.joined else {"command": launcher, "args": [*WORDS]}
        held = edits.at(text, path)
        if held is None:
            return edits.ensure(edits.remove(text, path), path, {**command, **self.says})
        if not ours(held):
            raise taken(".".join(path))
        started = {**command, **{key: value for key, value in self.says.items() if key == "type"}}
        for key, value in started.items():
            if held.get(key) != value:
                text = edits.ensure(edits.remove(text, (*path, key)), (*path, key), value)
        return text

    def take(self, text: str) -> str:
        """Take our server out, whichever memman it starts. Raises CannotEdit."""
        return toml.unserve(text) if self.path().endswith(".toml") else take(text, None)


def take(text: str, original: str | None, launcher: str = "") -> str:
    """Take our server out of a text of JSON, with a `launcher` only one that starts it. Raises CannotEdit."""
    for keys in _PLACES:
        path = (*keys, NAME)
        while ours(edits.at(text, path), launcher):
            text = prune(edits.remove(text, path), keys, original)
    return text


def ours(entry: object, launcher: str = "") -> bool:
    """Whether an entry starts `launcher` as an MCP server, or where none is named any memman."""
    found = called(entry)
    return bool(found) and (not launcher or os.path.realpath(found) == os.path.realpath(launcher))
