"""Claude Code: hooks and permissions in its settings, and a skill; or its plugin, which brings the hooks itself."""

import os
import re

from memman.config.command import NAME as MEMMAN
from memman.integrations import edits, parts, sources
from memman.integrations.parts import Server
from memman.integrations.target import File, Target, Wiring, look, under
from memman.model.verbs import AGENT_VERBS, ALLOWED

NAME = "claude-code"
FORM = "claude-settings"
_GRANT = re.compile(rf"Bash\((.+) (?:{'|'.join(AGENT_VERBS)}):\*\)")
# Our MCP server's tools, none of which may do more than the verb of its name: those that are not granted only look.
_TOOL, _TOOLS = f"mcp__{MEMMAN}__", (*AGENT_VERBS, "show", "review")
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


def permissions(wiring: Wiring) -> list[str]:
    """Return the grants of the agent's verbs: by its name, as it is told to call it, and as tools of our MCP server."""
    calls = [f"Bash({called} {verb}:*)" for called in (MEMMAN, wiring.command) for verb in AGENT_VERBS]
    return calls + [_TOOL + tool for tool in _TOOLS if wiring.mcp]


def _granted(permission: str) -> bool:
    """Whether a permission is a grant of ours, however it calls memman."""
    found = _GRANT.fullmatch(permission)
    if found is None:
        return permission.startswith(_TOOL) and permission.removeprefix(_TOOL) in _TOOLS
    return os.path.basename(found[1].strip("'")) == MEMMAN


def _files(wiring: Wiring) -> list[File]:
    block = {} if plugged() else sources.block(NAME, "hooks/hooks.json", wiring.launcher)
    granted = permissions(wiring)
    what = f"{len(block)} hooks, {len(granted)} permissions" if block else f"{len(granted)} permissions"
    allowed = look(_settings(), _ALLOW)
    if wide := [str(one) for one in (allowed if isinstance(allowed, list) else ()) if loose(one)]:
        what += f", replacing {', '.join(wide)}"
    files = [File(_settings(), FORM, what, lambda text: _put(text or "", block, granted))]
    if block:
        files += sources.skills_below(home() + "/skills", wiring)
    return files


def loose(permission: object) -> bool:
    """Whether a permission lets the agent run memman's verbs of a person, as those of earlier versions did."""
    inner = permission[len("Bash(") : -1] if isinstance(permission, str) and permission.startswith("Bash(") else ""
    called, _, verb = inner.removesuffix(":*").removesuffix(" *").partition(" ")
    return os.path.basename(called.strip("'\"")) == "memman" and verb not in {*AGENT_VERBS, *ALLOWED}


def _put(text: str, block: parts.Block, granted: list[str]) -> str:
    text = parts.put_hooks(text, block)
    for number, permission in reversed(list(enumerate(edits.listed(text, _ALLOW)))):
        if loose(permission):
            text = edits.remove(text, (*_ALLOW, number))
    text = _revoke(text, None, granted)
    for permission in granted:
        if permission not in edits.listed(text, _ALLOW):
            text = edits.append(text, _ALLOW, permission)
    return text


def take(text: str, original: str | None) -> str:
    """Take our hooks and permissions out, but not those in `original`."""
    return _revoke(parts.take_hooks(text, original), original, edits.listed(original, _ALLOW))


def _revoke(text: str, original: str | None, kept: list[str]) -> str:
    """Take out our grants, except those to be `kept`."""
    for number, permission in reversed(list(enumerate(edits.listed(text, _ALLOW)))):
        if _granted(permission) and permission not in kept:
            text = parts.prune(edits.remove(text, (*_ALLOW, number)), _ALLOW, original)
    return text


def _notes(_: Wiring) -> list[str]:
    says = "the memman plugin is on and has the hooks, so none are written to the settings: they would run twice"
    return [says] if plugged() else []


_SERVER = Server(lambda: under("CLAUDE_CONFIG_DIR", "~") + "/.claude.json", says={"type": "stdio"})
TARGET = Target(NAME, "claude", home, _files, _notes, lambda: [_settings()], server=_SERVER)
