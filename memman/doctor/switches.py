"""Whether an agent's own settings switch hooks off.

Looks at: the agents' own settings
Finds: warns where they switch hooks off, or OpenClaw's plugin may not see conversations
"""

import re
import sys
from collections.abc import Iterator
from typing import Any

from memman.doctor.agents import settings, wired
from memman.doctor.finding import Context, Finding, shell, skipped, sound, warn
from memman.integrations import claude_code, codex, gemini, openclaw
from memman.integrations.target import Target, text_of
from memman.model.plural import counted

_MANAGED = (
    "/Library/Application Support/ClaudeCode/managed-settings.json"
    if sys.platform == "darwin"
    else "/etc/claude-code/managed-settings.json"
)
_MEANT = "fine if intended; otherwise"
# Agent -> (key path, the value that switches us off).
_SWITCHES: dict[str, tuple[tuple[tuple[str, ...], bool], ...]] = {
    claude_code.NAME: ((("disableAllHooks",), True),),
    gemini.NAME: ((("hooksConfig", "enabled"), False),),
    codex.NAME: ((("features", "hooks"), False), (("features", "codex_hooks"), False)),
    openclaw.NAME: ((("plugins", "enabled"), False), (("plugins", "entries", "memman", "enabled"), False)),
}
_ADMINISTRATORS = ("disableAllHooks", "allowManagedHooksOnly")
# Where Gemini CLI lists hooks that are off by their names, newer and older.
_DISABLED = (("hooksConfig", "disabled"), ("hooks", "disabled"))


def check(context: Context) -> Iterator[Finding]:
    """Look for hooks that are switched off by the agents' own settings."""
    found = wired(context)
    if not found:
        yield skipped("memman is not set up in any agent")
        return
    yield from sound(
        (fault for target in found for fault in _switched_off(target)),
        f"hooks are on in {counted(len(found), 'agent')}",
    )


def _switched_off(target: Target) -> Iterator[Finding]:
    for path in target.settings():
        held = settings(path)
        for keys, off in _SWITCHES.get(target.name, ()):
            if _under(held, keys) is off:
                yield _off(target.name, path, keys, off=off)
        if target.name == gemini.NAME:
            yield from _disabled(path, held)
    if target.name == claude_code.NAME:
        yield from managed(_MANAGED)
    if target.name == openclaw.NAME and not openclaw.granted():
        yield warn(
            "openclaw: the plugin may not see conversations, so it cannot recall or save anything",
            "memman install --target openclaw --allow-conversation-access",
        )


def managed(path: str) -> Iterator[Finding]:
    """Look into the settings of Claude Code that an administrator makes."""
    for key in _ADMINISTRATORS:
        if _under(settings(path), (key,)) is True:
            yield warn(f"claude-code: {key} in {path} switches hooks off", hint="ask the administrator of this machine")


def _off(agent: str, path: str, keys: tuple[str, ...], *, off: bool) -> Finding:
    says = f"{agent}: {'.'.join(keys)} in {path} switches hooks off"
    wrong, right = str(off).lower(), str(not off).lower()
    toml = path.endswith(".toml")
    # Means the same to Python and to sed.
    pattern = f"^{keys[-1]} *= *{wrong}" if toml else f'"{keys[-1]}" *: *{wrong}'
    better = f"{keys[-1]} = {right}" if toml else f'"{keys[-1]}": {right}'
    mend = shell("sed", "-i.bak", f"s/{pattern}/{better}/", path)
    once = len(re.findall(pattern, text_of(path) or "", re.MULTILINE)) == 1
    return warn(says, mend if once else "", f"{_MEANT} set it to {right}")


def _disabled(path: str, held: Any) -> Iterator[Finding]:
    for keys in _DISABLED:
        names = _under(held, keys)
        if isinstance(names, list) and "memman" in names:
            yield warn(
                f"gemini: {'.'.join(keys)} in {path} switches memman off",
                hint="start `gemini`, type /hooks enable memman",
            )


def _under(held: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        held = held.get(key) if isinstance(held, dict) else None
    return held
