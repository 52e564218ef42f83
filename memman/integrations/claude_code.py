"""Claude Code: hooks and permissions in its settings, and a skill; or its plugin, which brings the hooks itself."""

import os

from memman.integrations import edits, hook_block, sources
from memman.integrations.target import File, Target, Wiring, laid, look, under
from memman.model.verbs import AGENT_VERBS, ALLOWED

NAME = "claude-code"
FORM = "claude-settings"
# Those that the agent is told of, and no more.
PERMISSIONS = tuple(f"Bash(memman {verb}:*)" for verb in AGENT_VERBS)
_ALLOW = ("permissions", "allow")
_PLUGIN = "memman@"


def home() -> str:
    """Return Claude Code's folder."""
    return under("CLAUDE_CONFIG_DIR", "~/.claude")


def _settings() -> str:
    return home() + "/settings.json"


def plugged() -> bool:
    """Whether the plugin form is installed and on: hooks in the settings would then fire twice."""
    said = _plain(_settings(), "enabledPlugins")
    named = {key: on for key, on in said.items() if key.startswith(_PLUGIN)}
    recorded = _plain(home() + "/plugins/installed_plugins.json", "plugins")
    if any(named.values()) or any(key.startswith(_PLUGIN) and key not in named for key in recorded):
        return True
    return os.path.isfile(home() + "/skills/memman/.claude-plugin/plugin.json")


def _plain(path: str, key: str) -> dict[str, object]:
    held = look(path, (key,))
    return held if isinstance(held, dict) else {}


def _allowed() -> list[object]:
    held = look(_settings(), _ALLOW)
    return held if isinstance(held, list) else []


def _files(wiring: Wiring) -> list[File]:
    block = {} if plugged() else sources.block(NAME, "hooks/hooks.json", wiring.launcher)
    what = f"{len(block)} hooks, {len(PERMISSIONS)} permissions" if block else f"{len(PERMISSIONS)} permissions"
    if wide := [str(permission) for permission in _allowed() if loose(permission)]:
        what += f", in place of {', '.join(wide)}"
    files = [File(_settings(), FORM, what, lambda text: _put(text or "", block))]
    if block:
        skill = sources.text(NAME, "skills/memman/SKILL.md", wiring.launcher)
        files.append(laid(home() + "/skills/memman/SKILL.md", skill, "the skill"))
    return files


def loose(permission: object) -> bool:
    """Whether a permission lets the agent run memman's verbs of a person, as those of earlier versions did."""
    inner = permission[len("Bash(") : -1] if isinstance(permission, str) and permission.startswith("Bash(") else ""
    called, _, verb = inner.removesuffix(":*").removesuffix(" *").partition(" ")
    return os.path.basename(called.strip("'\"")) == "memman" and verb not in {*AGENT_VERBS, *ALLOWED}


def _put(text: str, block: hook_block.Block) -> str:
    text = hook_block.put(text, block)
    for number, permission in reversed(list(enumerate(edits.listed(text, _ALLOW)))):
        if loose(permission):
            text = edits.remove(text, (*_ALLOW, number))
    for permission in PERMISSIONS:
        if permission not in edits.listed(text, _ALLOW):
            text = edits.append(text, _ALLOW, permission)
    return text


def take(text: str, original: str | None, launcher: str = "") -> str:
    """Take our hooks and permissions out of the settings, but not those that were in `original`.

    With a `launcher` only hooks that call it go; where others stay the permissions do too.
    """
    text = hook_block.take(text, original, launcher)
    if hook_block.commands(edits.at(text, ("hooks",))):
        return text
    had = edits.listed(original, _ALLOW)
    for number, permission in reversed(list(enumerate(edits.listed(text, _ALLOW)))):
        if permission in PERMISSIONS and permission not in had:
            text = hook_block.prune(edits.remove(text, (*_ALLOW, number)), _ALLOW, original)
    return text


def _notes(_: Wiring) -> list[str]:
    notes = []
    if plugged():
        notes.append(
            "the memman plugin is on and brings the hooks: none are kept in the settings, they would fire twice"
        )
    if look(_settings(), ("disableAllHooks",)) is True:
        notes.append(f"hooks are switched off by disableAllHooks in {_settings()}: set it to false")
    return notes


TARGET = Target(NAME, "claude", home, _files, _notes, lambda: [_settings()])
