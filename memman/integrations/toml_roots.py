"""One of our folders among those that Codex lets commands in its sandbox write to; what else stands there stays."""

import json
import re
from typing import Any

from memman.integrations.edits import CannotEdit, newline
from memman.integrations.toml_block import read

_TABLE, _KEY = "sandbox_workspace_write", "writable_roots"
_HEADER = re.compile(rf"^[ \t]*\[{_TABLE}\][ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)", re.MULTILINE)
_NEXT = re.compile(r"^[ \t]*\[", re.MULTILINE)
_ARRAY = re.compile(rf"^[ \t]*{_KEY}[ \t]*=[ \t]*\[", re.MULTILINE)
_MARK = "# by `memman install`"


def roots(text: str) -> list[Any]:
    """Return the folders of a settings file. Raises CannotEdit."""
    table = read(text).get(_TABLE)
    held = table.get(_KEY) if isinstance(table, dict) else None
    return held if isinstance(held, list) else []


def put(text: str, root: str) -> str:
    """Have `root` among the folders, as the first. Raises CannotEdit where they are written in another way."""
    if root in roots(text):
        return text
    return _checked(_put(text, json.dumps(root, ensure_ascii=False)), [root, *roots(text)])


def take(text: str, root: str) -> str:
    """Take `root` out, and the table or the line that we made for it. Raises CannotEdit."""
    if root not in roots(text):
        return text
    quoted, nl = re.escape(json.dumps(root, ensure_ascii=False)), r"\r?\n"
    alone = rf"{_KEY} = \[{quoted}\] {_MARK}{nl}"
    table = rf"(?:(?<=\n){nl})?\[{_TABLE}\] {_MARK}{nl}{_KEY} = \[{quoted}\]{nl}(?=\Z|(?:{nl})*[ \t]*\[)"
    for ours in (table, alone, rf"{quoted}, ", quoted):
        left, times = re.subn(ours, "", text, count=1)
        if times:
            break
    return _checked(left, [other for other in roots(text) if other != root])


def _put(text: str, quoted: str) -> str:
    nl = newline(text)
    line = f"{_KEY} = [{quoted}] {_MARK}{nl}"
    header = _HEADER.search(text)
    if not header:
        if _TABLE in read(text):
            raise CannotEdit(f"[{_TABLE}] is not written as a table")
        gap = "" if not text else nl if text.endswith("\n") else nl + nl
        return f"{text}{gap}[{_TABLE}] {_MARK}{nl}{_KEY} = [{quoted}]{nl}"
    following = _NEXT.search(text, header.end())
    array = _ARRAY.search(text, header.end(), following.start() if following else len(text))
    if not array:
        start = text[: header.end()]
        return (start if start.endswith("\n") else start + nl) + line + text[header.end() :]
    return text[: array.end()] + quoted + (", " if roots(text) else "") + text[array.end() :]


def _checked(text: str, wanted: list[Any]) -> str:
    try:
        if roots(text) == wanted:
            return text
    except CannotEdit:
        pass
    raise CannotEdit(f"{_KEY} of [{_TABLE}] is not written as an array on its own: change it by hand")
