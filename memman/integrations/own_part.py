"""Our part of a settings file, by the form that the manifest remembers: taking it out again, and what it calls."""

import re
from collections.abc import Callable

from memman.integrations import (
    claude_code,
    codex,
    edits,
    hook_block,
    mcp_server,
    openclaw,
    rules_block,
    toml_block,
    toml_server,
)
from memman.integrations.edits import read
from memman.integrations.target import LAID

# (the text as it is, the text before us, None where that is not known, the launcher) -> the text without our part
_TAKES: dict[str, Callable[[str, str | None, str], str]] = {
    claude_code.FORM: claude_code.take,
    codex.JSON_FORM: lambda text, original, launcher: hook_block.take(
        mcp_server.take(text, original, launcher), original, launcher
    ),
    mcp_server.FORM: mcp_server.take,
    codex.TOML_FORM: lambda text, _, launcher: codex.take(text, launcher),
    openclaw.FORM: lambda text, original, _: openclaw.take(text, original),
    rules_block.FORM: lambda text, *_: rules_block.take(text),
}
# What reads a form that is not JSON.
_READERS: dict[str, Callable[[str], object]] = {codex.TOML_FORM: toml_block.read, rules_block.FORM: str}
_HOOKS: dict[str, Callable[[str], object]] = {
    claude_code.FORM: lambda text: edits.at(text, ("hooks",)),
    codex.JSON_FORM: lambda text: edits.at(text, ("hooks",)),
    codex.TOML_FORM: toml_block.hooks,
}
# What starts our MCP server in a text.
_SERVED: dict[str, Callable[[str], list[str]]] = {
    codex.JSON_FORM: mcp_server.programs,
    codex.TOML_FORM: lambda text: [*filter(None, [toml_server.program(text)])],
    mcp_server.FORM: mcp_server.programs,
}
# How a file that is laid down whole names the launcher.
_NAMED = re.compile(r'"(/[^"\\\n]*/bin/memman)"')


def take(form: str, text: str, original: str | None, launcher: str = "") -> str | None:
    """Return a text without our part, None where nothing else is left; `original` is None where not known.

    With a `launcher` only hooks that call it are ours. Raises CannotEdit.
    """
    if form == LAID or form not in _TAKES:
        return None
    left = _TAKES[form](text, original, launcher)
    return None if not original and left != text and _bare(form, left) else left


def check(form: str, text: str | None) -> None:
    """Raise CannotEdit where a text that is about to be written cannot be read."""
    if text is not None and form in _TAKES:
        _READERS.get(form, read)(text)


def called(form: str, text: str) -> list[str]:
    """Return every memman that a text plainly calls. Raises CannotEdit."""
    if form == LAID:
        return _NAMED.findall(text)
    hooks = _HOOKS[form](text) if form in _HOOKS else {}
    served = _SERVED[form](text) if form in _SERVED else []
    return list(dict.fromkeys([*map(hook_block.program, hook_block.commands(hooks)), *served]))


def anonymous(form: str, text: str) -> bool:
    """Whether a text has a part that some memman made, and does not say which."""
    return (form == openclaw.FORM and openclaw.entered(text)) or (form == rules_block.FORM and rules_block.holds(text))


def _bare(form: str, text: str) -> bool:
    if form in _READERS:
        return not text.strip()
    root = read(text)
    return root is None or (text.strip("\ufeff \t\r\n") == "{}" and edits.at(text, ()) == {})
