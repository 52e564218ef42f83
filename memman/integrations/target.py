"""What an agent is to install: where it keeps its settings, and how each of them should read."""

import os
import shutil
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memman.config.command import launcher_path, quoted
from memman.integrations import edits, parts
from memman.integrations.edits import CannotEdit
from memman.integrations.parts import SERVERS, Server

LAID = "laid"


@dataclass(frozen=True, slots=True)
class Wiring:
    """What the files of a target depend on."""

    data: str
    conversation_access: bool = False
    checkout: str = ""
    # Whether commands in Codex's sandbox may write to the data folder.
    sandbox: bool = False
    # Whether agents that speak MCP are told of `memman mcp`.
    mcp: bool = True

    @property
    def launcher(self) -> str:
        """Return the path that hooks call."""
        return launcher_path(self.data)

    @property
    def command(self) -> str:
        """Return how agents call memman, as words for a shell."""
        return quoted(self.launcher)


@dataclass(frozen=True, slots=True)
class File:
    """One file of a target; `put` gives its text from what is there, `form` says how our part is taken out."""

    path: str
    form: str
    what: str
    put: Callable[[str | None], str | None]
    program: bool = False
    # Whether our MCP server is in it, None where that is kept elsewhere.
    serves: bool | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """An agent.

    `everywhere` says whether it is set up where it is found, `unseen` whether `--target all` sets it up elsewhere, too.
    """

    name: str
    program: str
    home: Callable[[], str]
    own_files: Callable[[Wiring], list[File]]
    notes: Callable[[Wiring], list[str]]
    settings: Callable[[], list[str]]
    everywhere: bool = True
    unseen: bool = True
    server: Server | None = None

    def detected(self) -> bool:
        """Whether the agent is there: its program is on the PATH, or its folder exists."""
        return bool(self.program and shutil.which(self.program)) or os.path.isdir(self.home())

    def files(self, wiring: Wiring) -> list[File]:
        """Return its files; where it speaks MCP our server stands in one of them, or in one more."""
        files = self.own_files(wiring)
        if not self.server:
            return files
        path = self.server.path()
        if path not in (file.path for file in files):
            files.append(File(path, SERVERS, "", lambda text: text))
        return [_served(file, self.server, wiring) if file.path == path else file for file in files]


def _served(file: File, server: Server, wiring: Wiring) -> File:
    """Return a file with our MCP server in it, or without where that is not wanted."""
    what = f"{file.what}, the MCP server" if file.what else "the MCP server"
    if wiring.mcp:
        return replace(file, what=what, serves=True, put=lambda text: server.put(file.put(text) or "", wiring.launcher))
    return replace(
        file, what=file.what or what, serves=False, put=lambda text: (held := file.put(text)) and server.take(held)
    )


def laid(path: str, content: str, what: str, *, program: bool = False) -> File:
    """Return a file that is wholly ours: one, by however many links agents reach it."""
    return File(os.path.realpath(path), LAID, what, lambda _: content, program)


def under(variable: str, default: str) -> str:
    """Return the folder that an environment variable names absolutely, or the default below the home folder."""
    named = os.path.expanduser(os.environ.get(variable, ""))
    return os.path.abspath(named if os.path.isabs(named) else os.path.expanduser(default))


def look(path: str, keys: Sequence[str]) -> Any:
    """Return what stands in a settings file, None where nothing does or it cannot be read."""
    text = text_of(path) or ""
    try:
        return within(parts.read_toml(text) if path.endswith(".toml") else edits.at(text, ()), keys)
    except CannotEdit:
        return None


def within(held: Any, keys: Sequence[str]) -> Any:
    """Return what a value holds under one key after another, None where it does not."""
    for key in keys:
        held = held.get(key) if isinstance(held, dict) else None
    return held


def text_of(path: str) -> str | None:
    """Return a settings file's text for a look at it, None where it cannot be read."""
    try:
        with open(path, encoding="utf-8", newline="") as source:
            return source.read() if stat.S_ISREG(os.fstat(source.fileno()).st_mode) else None
    except (OSError, UnicodeDecodeError):
        return None
