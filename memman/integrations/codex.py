"""Codex: hooks in hooks.json, the MCP server and what its sandbox may write in config.toml, and the shared skill."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from memman.integrations import parts, sources
from memman.integrations.edits import CannotEdit
from memman.integrations.parts import Server
from memman.integrations.target import File, Target, Wiring, look, text_of, under, within
from memman.model.plural import counted

NAME = "codex"
APPROVE = "start `codex`, type /hooks and approve those of memman"


def home() -> str:
    """Return Codex's folder."""
    return under("CODEX_HOME", "~/.codex")


def _json() -> str:
    return home() + "/hooks.json"


def _toml() -> str:
    return home() + "/config.toml"


def sandboxed(data: str) -> bool:
    """Whether commands in Codex's sandbox may write to the data folder."""
    try:
        return data in parts.roots(text_of(_toml()) or "")
    except CannotEdit:
        return False


def _files(wiring: Wiring) -> list[File]:
    block = sources.block(NAME, "hooks.json", wiring.launcher)

    def put_toml(text: str | None) -> str | None:
        return parts.allow(text or "", wiring.data) if wiring.sandbox else text

    return [
        File(_json(), parts.HOOKS, f"{len(block)} hooks", lambda text: parts.put_hooks(text, block)),
        File(_toml(), parts.TOML, "its sandbox" if wiring.sandbox else "", put_toml),
        *sources.skills(wiring),
    ]


def skipped() -> list[str]:
    """Say which of our hooks Codex skips: it asks its user to approve each, and keeps that in config.toml."""
    record = look(_toml(), ("hooks", "state"))
    entries = {key: within(record, (key,)) for key in _keys(_json())}
    new = [key for key, entry in entries.items() if not within(entry, ("trusted_hash",))]
    off = [key for key, entry in entries.items() if within(entry, ("enabled",)) is False]
    return [
        f"codex skips {counted(len(keys), 'hook')} {how}: {', '.join(key.split(':')[-3] for key in keys)}"
        for keys, how in ((new, "you have not approved"), (off, "switched off"))
        if keys
    ]


def _keys(path: str) -> Iterator[str]:
    """Name our hooks as Codex does: the file, the event, the group's and the handler's number."""
    root = os.path.realpath(path) if os.environ.get("CODEX_HOME") else path
    for event, groups in _items(look(path, ("hooks",))):
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for number, group in _items(groups):
            for index, handler in _items(within(group, ("hooks",))):
                if parts.ours(within(handler, ("command",))):
                    yield f"{root}:{name}:{number}:{index}"


def _items(held: Any) -> Iterable[tuple[Any, Any]]:
    return held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()


def _notes(_: Wiring) -> list[str]:
    return [f"{says}; {APPROVE}" for says in skipped()]


TARGET = Target(NAME, "codex", home, _files, _notes, lambda: [_json(), _toml()], server=Server(_toml))
