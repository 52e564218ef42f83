"""OpenClaw: a plugin folder, and its entry in openclaw.json. Access to conversations is the user's to grant."""

from typing import Any

from memman.integrations import edits, sources
from memman.integrations.parts import prune
from memman.integrations.target import File, Target, Wiring, laid, look, under

NAME = "openclaw"
FORM = "openclaw-config"
_PLUGIN = "memman"
_ENTRY = ("plugins", "entries", _PLUGIN)
_ALLOW = ("plugins", "allow")
_ACCESS = (*_ENTRY, "hooks", "allowConversationAccess")
_TIMEOUTS = (*_ENTRY, "hooks", "timeouts", "before_prompt_build")
_ENABLED = (*_ENTRY, "enabled")
_LEAVES = (_ENABLED, _ACCESS, _TIMEOUTS)
_PATIENCE = 1500  # ms for a prompt's memories; the hook program itself gives up after 1 s


def home() -> str:
    """Return OpenClaw's folder."""
    return under("OPENCLAW_STATE_DIR", "~/.openclaw")


def _config() -> str:
    return under("OPENCLAW_CONFIG_PATH", home() + "/openclaw.json")


def granted() -> bool:
    """Whether the user has already allowed the plugin to see conversations."""
    return look(_config(), _ACCESS) is True


def entered(text: str) -> bool:
    """Whether a configuration has an entry for the plugin."""
    return edits.at(text, _ENTRY) is not None


def _files(wiring: Wiring) -> list[File]:
    plugin = home() + "/extensions/" + _PLUGIN
    files = [
        laid(
            f"{plugin}/{name}",
            sources.text(NAME, name, wiring.launcher),
            "the plugin",
            program=sources.executable(NAME, name),
        )
        for name in sources.names(NAME)
    ]
    access = "and its access to conversations" if wiring.conversation_access else "without access to conversations"
    return [*files, File(_config(), FORM, f"the plugin's entry, {access}", lambda text: _put(text or "", wiring))]


def _put(text: str, wiring: Wiring) -> str:
    members: list[tuple[edits.Path, Any]] = [(_ENABLED, True), (_TIMEOUTS, _PATIENCE)]
    if wiring.conversation_access:
        members.insert(1, (_ACCESS, True))
    for path, value in members:
        text = edits.ensure(text, path, value)
    allowed = edits.at(text, _ALLOW)
    return edits.append(text, _ALLOW, _PLUGIN) if isinstance(allowed, list) and _PLUGIN not in allowed else text


def take(text: str, original: str | None) -> str:
    """Take the plugin's entry out, or of an entry that `original` had what was added to it."""
    had = entered(original or "")
    for path in (*_LEAVES, *(() if had else (_ENTRY,))):
        if edits.at(text, path) is not None and edits.at(original or "", path) is None:
            text = prune(edits.remove(text, path), path[:-1], original)
    allowed = edits.listed(text, _ALLOW)
    if _PLUGIN in allowed and _PLUGIN not in edits.listed(original, _ALLOW):
        text = edits.remove(text, (*_ALLOW, allowed.index(_PLUGIN)))
    return text


def _notes(wiring: Wiring) -> list[str]:
    notes = ["restart the gateway: openclaw gateway restart"]
    if not (wiring.conversation_access or granted()):
        notes.append(
            "the plugin may not see conversations, so it neither recalls nor captures: to allow it, run "
            "`memman install --target openclaw --allow-conversation-access`"
        )
    return notes


TARGET = Target(NAME, "openclaw", home, _files, _notes, lambda: [_config()])
