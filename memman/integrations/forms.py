"""How our part of a file is taken out again, by the form that the manifest remembers."""

from collections.abc import Callable

from memman.integrations import claude_code, codex, edits, hook_block, openclaw, toml_block
from memman.integrations.json5 import read
from memman.integrations.target import LAID

# (the text as it is, the text before us, None where that is not known) -> the text without our part
_TAKES: dict[str, Callable[[str, str | None], str]] = {
    claude_code.FORM: claude_code.take,
    codex.JSON_FORM: hook_block.take,
    codex.TOML_FORM: lambda text, _: toml_block.take(text),
    openclaw.FORM: openclaw.take,
}


def take(form: str, text: str, original: str | None) -> str | None:
    """Return a text without our part, None where nothing of anybody else is left. Raises CannotEdit.

    `original` is the text before us: '' where there was no file, None where that is not known.
    """
    if form == LAID or form not in _TAKES:
        return None
    left = _TAKES[form](text, original)
    return None if not original and left != text and _bare(form, left) else left


def check(form: str, text: str | None) -> None:
    """Raise CannotEdit where a text that is about to be written cannot be read."""
    if text is not None and form in _TAKES:
        toml_block.read(text) if form == codex.TOML_FORM else read(text)


def holds(form: str, text: str, launcher: str) -> bool:
    """Whether a text has a part of ours, by the launcher that it names."""
    return launcher in text or (form == openclaw.FORM and openclaw.entered(text))


def _bare(form: str, text: str) -> bool:
    if form == codex.TOML_FORM:
        return not text.strip()
    root = read(text)
    return root is None or (text.strip("\ufeff \t\r\n") == "{}" and edits.at(text, ()) == {})
