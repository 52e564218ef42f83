"""Codex: hooks in hooks.json, or in config.toml where it already holds hooks; never in both."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from memman.config.launcher import launcher_path
from memman.integrations import hook_block, skills, sources, toml_block, toml_roots, toml_server
from memman.integrations.edits import CannotEdit
from memman.integrations.mcp_server import Server
from memman.integrations.target import File, Target, Wiring, look, text_of, under, within
from memman.model.plural import counted

NAME = "codex"
JSON_FORM = "hooks-json"
TOML_FORM = "codex-toml"
APPROVE = "start `codex`, type /hooks and approve those of memman"


def home() -> str:
    """Return Codex's folder."""
    return under("CODEX_HOME", "~/.codex")


def _json() -> str:
    return home() + "/hooks.json"


def _toml() -> str:
    return home() + "/config.toml"


def in_toml() -> bool:
    """Whether config.toml holds hooks of others, so that ours have to stand there too. Raises CannotEdit."""
    try:
        return any(toml_block.hooks(toml_block.take(text_of(_toml()) or "")).values())
    except CannotEdit as error:
        raise CannotEdit(f"{_toml()} cannot be read ({error})") from error


def _held_in_toml() -> bool:
    """Whether they stand there, as far as can be read: what is wrong is said where the file is worked on."""
    with suppress(CannotEdit):
        return in_toml()
    return False


def sandboxed(data: str) -> bool:
    """Whether commands in Codex's sandbox may write to the data folder."""
    try:
        return data in toml_roots.roots(text_of(_toml()) or "")
    except CannotEdit:
        return False


def take(text: str, launcher: str) -> str:
    """Take our hooks out of config.toml; with a `launcher` those that call it, and its folder from the sandbox."""
    text = toml_block.take(toml_server.take(text, launcher), launcher)
    return toml_roots.take(text, launcher.removesuffix(launcher_path(""))) if launcher else text


def _files(wiring: Wiring) -> list[File]:
    block = sources.block(NAME, "hooks.json", wiring.launcher)
    what = f"{len(block)} hooks"

    def put_json(text: str | None) -> str | None:
        if not in_toml():
            return hook_block.put(text or "", block)
        return text and hook_block.take(text, None)

    def put_toml(text: str | None) -> str | None:
        held = toml_block.put(text or "", block) if in_toml() else text and toml_block.take(text)
        return toml_roots.put(held or "", wiring.data) if wiring.sandbox else held

    return [
        File(_json(), JSON_FORM, what, put_json),
        File(_toml(), TOML_FORM, ", ".join([what] * _held_in_toml() + ["its sandbox"] * wiring.sandbox), put_toml),
        *skills.shared(wiring),
    ]


def skipped() -> list[str]:
    """Say which of our hooks Codex skips: it asks its user to approve each, and keeps that in config.toml."""
    record = look(_toml(), ("hooks", "state"))
    entries = {key: within(record, (key,)) for path in (_json(), _toml()) for key in _keys(path)}
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
                if hook_block.ours(within(handler, ("command",))):
                    yield f"{root}:{name}:{number}:{index}"


def _items(held: Any) -> Iterable[tuple[Any, Any]]:
    return held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()


def _notes(_: Wiring) -> list[str]:
    return [f"{says}; {APPROVE}" for says in skipped()]


TARGET = Target(NAME, "codex", home, _files, _notes, lambda: [_json(), _toml()], server=Server(_toml))
