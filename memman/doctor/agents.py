"""Whether the agents of this machine are wired, their files stand as this version ships them, and hooks are on."""

import os
import sys
from collections.abc import Iterator
from typing import Any

from memman.doctor.finding import Context, Finding, fail, shell, sound, warn
from memman.integrations import claude_code, codex, edits, gemini, openclaw, toml_block
from memman.integrations.hook_block import ours
from memman.integrations.json5 import CannotEdit
from memman.integrations.state import drift, installed, unreadable
from memman.integrations.target import Target, text_of
from memman.integrations.targets import TARGETS, chosen, targets
from memman.model.plural import counted

_MANAGED = (
    "/Library/Application Support/ClaudeCode/managed-settings.json"
    if sys.platform == "darwin"
    else "/etc/claude-code/managed-settings.json"
)
# Of each agent: where its settings say something of hooks, what there switches them off, and what a person does then.
_SWITCHES: tuple[tuple[str, tuple[str, ...], object, str], ...] = (
    (claude_code.NAME, ("disableAllHooks",), True, ""),
    (gemini.NAME, ("hooksConfig", "enabled"), False, ""),
    (gemini.NAME, ("hooksConfig", "disabled"), "memman", "start `gemini`, type /hooks enable memman"),
    (gemini.NAME, ("hooks", "disabled"), "memman", "start `gemini`, type /hooks enable memman"),
    (codex.NAME, ("features", "hooks"), False, ""),
    (codex.NAME, ("features", "codex_hooks"), False, ""),
    (openclaw.NAME, ("plugins", "enabled"), False, ""),
    (openclaw.NAME, ("plugins", "entries", "memman", "enabled"), False, ""),
)
_APPROVE = "start `codex`, type /hooks and approve those of memman"


def wired(context: Context) -> list[Target]:
    """Return the agents that memman is wired into."""
    return [target for target in targets() if installed(target, context.data)]


def check(context: Context) -> Iterator[Finding]:
    """Compare what was laid down and merged with what this version ships, and with which agents there are.

    Warns where an agent is not wired, its settings are read-only, or they switch hooks off, of hooks that Codex
    skips because you have not approved them, and where OpenClaw's plugin may not see conversations; fails where the
    settings differ from what this version ships, or hooks would fire twice
    """
    found = wired(context)
    faults = [*_unwired(found), *(fault for target in found for fault in _faults(context, target))]
    names = [target.name for target in found] or ["Claude Code's plugin"]
    yield from sound(faults, f"{', '.join(names)}: up to date, hooks are on")


def _unwired(found: list[Target]) -> Iterator[Finding]:
    here = chosen(())
    for target in here:
        if target not in found and not (target.name == claude_code.NAME and claude_code.plugged()):
            yield _offered(target)
    if not (found or here):
        hint = f"no agent was found on this machine; `memman install --target NAME` sets up any of {', '.join(TARGETS)}"
        yield warn("memman is not set up in any agent: nothing is recalled or saved automatically", hint=hint)


def _offered(target: Target) -> Finding:
    """Say that an agent is there and knows nothing of memman, and what lets it."""
    says = f"{target.name} is on this machine, but memman is not set up in it"
    if broken := unreadable(target):
        return warn(f"{says}: {broken[0]}", hint=f"correct the file by hand, then {_install(target)}")
    return warn(says, _install(target))


def _install(target: Target) -> str:
    return shell("memman", "install", "--target", target.name)


def _faults(context: Context, target: Target) -> Iterator[Finding]:
    broken = unreadable(target)
    for line in broken:
        yield fail(f"{target.name}: {line}", hint="correct the file by hand; the agent itself cannot read it either")
    if not broken:
        yield from (fail(f"{target.name}: {line}", _install(target)) for line in drift(target, context.data))
        yield from _switched_off(target)
    if target.name == codex.NAME:
        yield from _unapproved(target)
    if target.name == openclaw.NAME and not openclaw.granted():
        says = "openclaw: the plugin may not see conversations, so it cannot recall or save anything"
        yield warn(says, "memman install --target openclaw --allow-conversation-access")


def _switched_off(target: Target) -> Iterator[Finding]:
    for path in target.settings():
        held = _settings(path)
        for agent, keys, off, step in _SWITCHES:
            said = _under(held, keys)
            if agent == target.name and (said is off or (isinstance(said, list) and off in said)):
                says = f"{agent}: {'.'.join(keys)} in {path} switches hooks off"
                yield warn(says, hint=f"fine if intended; otherwise {step or f'set it to {str(not off).lower()}'}")
    if target.name == claude_code.NAME:
        yield from managed(_MANAGED)


def managed(path: str) -> Iterator[Finding]:
    """Look into the settings of Claude Code that an administrator makes."""
    for key in ("disableAllHooks", "allowManagedHooksOnly"):
        if _under(_settings(path), (key,)) is True:
            yield warn(f"claude-code: {key} in {path} switches hooks off", hint="ask the administrator of this machine")


def _unapproved(target: Target) -> Iterator[Finding]:
    """Find hooks that Codex skips: it asks its user to approve each, and keeps the answers in its config.toml."""
    record = _under(_settings(codex.home() + "/config.toml"), ("hooks", "state"))
    entries = {key: _under(record, (key,)) for path in target.settings() for key in _keys(path)}
    new = [key for key, entry in entries.items() if not _under(entry, ("trusted_hash",))]
    off = [key for key, entry in entries.items() if _under(entry, ("enabled",)) is False]
    for keys, how in ((new, "you have not approved"), (off, "switched off")):
        if keys:
            events = ", ".join(key.split(":")[-3] for key in keys)
            yield warn(f"codex skips {counted(len(keys), 'hook')} {how}: {events}", hint=_APPROVE)


def _keys(path: str) -> Iterator[str]:
    """Name our hooks as Codex does: the file, the event, the group's and the handler's number."""
    hooks = _under(_settings(path), ("hooks",))
    root = os.path.realpath(path) if os.environ.get("CODEX_HOME") else path
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        name = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).lstrip("_")
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = _under(group, ("hooks",))
            for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if ours(_under(handler, ("command",))):
                    yield f"{root}:{name}:{number}:{index}"


def _settings(path: str) -> Any:
    """Return an agent's settings as plain values, None where there are none to be read."""
    text = text_of(path) or ""
    try:
        return toml_block.read(text) if path.endswith(".toml") else edits.at(text, ())
    except CannotEdit:
        return None


def _under(held: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        held = held.get(key) if isinstance(held, dict) else None
    return held
