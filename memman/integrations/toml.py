"""Our tables at the end of Codex's config.toml: the MCP server, and our folder among those that its sandbox may write.

A table is found again by its name and what it says; what else stands in the file keeps its bytes.
"""

import json
import os
import re
import tomllib
from itertools import pairwise
from typing import Any

from memman.config.places import split_lines
from memman.integrations.edits import CannotEdit, newline

NAME, WORDS = "memman", ("mcp",)
_SERVERS = "mcp_servers"
_SANDBOX, _ROOTS = "sandbox_workspace_write", "writable_roots"
_MARK = "# by `memman install`"
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_SERVER_TABLE = re.compile(rf"[ \t]*\[{_SERVERS}\.{NAME}(?:\.[^\]]*)?\]")
_SANDBOX_TABLE = re.compile(re.escape(f"[{_SANDBOX}] {_MARK}"))


def read(text: str) -> dict[str, Any]:
    """Return the parsed file. Raises CannotEdit."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotEdit(str(error) or "nested too deep") from error


def called(entry: object) -> str:
    """Return the memman that an entry among an agent's MCP servers starts, '' for other servers."""
    held = entry if isinstance(entry, dict) else {}
    command, args = held.get("command"), held.get("args")
    words = command if isinstance(command, list) else [command, *(args if isinstance(args, list) else ())]
    found = words[0] if words[1:] == [*WORDS] and isinstance(words[0], str) else ""
    return found if os.path.basename(found) == NAME else ""


def taken(where: str) -> CannotEdit:
    """Return the error that another server has our server's name."""
    return CannotEdit(f"{where} is not memman's MCP server: give it another name, or use --no-mcp")


def serve(text: str, launcher: str) -> str:
    """Have our server in a text. Raises CannotEdit where another has its name."""
    held = _under(read(text), _SERVERS).get(NAME)
    if held is not None and not called(held):
        raise taken(f"{_SERVERS}.{NAME}")
    if called(held) == launcher:
        return text
    bare = text if held is None else _without_server(text)
    return _added(bare, f"{_SERVERS}.{NAME}", {"command": launcher, "args": [*WORDS]})


def unserve(text: str, launcher: str = "") -> str:
    """Take our server out, with a `launcher` only where it starts that. Raises CannotEdit where more would go."""
    found = called(_under(read(text), _SERVERS).get(NAME))
    if not found or (launcher and os.path.realpath(found) != os.path.realpath(launcher)):
        return text
    return _without_server(text)


def roots(text: str) -> list[Any]:
    """Return the folders that commands in the sandbox may write to. Raises CannotEdit."""
    held = _under(read(text), _SANDBOX).get(_ROOTS)
    return held if isinstance(held, list) else []


def allow(text: str, root: str) -> str:
    """Have `root` among these folders. Raises CannotEdit where the file has a table of them already."""
    if root in roots(text):
        return text
    if _SANDBOX in read(text):
        raise CannotEdit(f"[{_SANDBOX}] stands there already: add {root} to its {_ROOTS} by hand")
    return _added(text, _SANDBOX, {_ROOTS: [root]})


def forbid(text: str, root: str) -> str:
    """Take `root` out where the table is ours. Raises CannotEdit where somebody has added to it."""
    if roots(text) != [root] or not _SANDBOX_TABLE.search(text):
        return text
    return _cut(text, _SANDBOX_TABLE, _less(read(text), _SANDBOX, _ROOTS))


def _without_server(text: str) -> str:
    return _cut(text, _SERVER_TABLE, _less(read(text), _SERVERS, NAME))


def _under(parsed: dict[str, Any], table: str) -> dict[str, Any]:
    held = parsed.get(table)
    return held if isinstance(held, dict) else {}


def _less(parsed: dict[str, Any], table: str, key: str) -> dict[str, Any]:
    """Return what is left without one key of a table, and without the table where it was the only one."""
    left = {name: held for name, held in parsed[table].items() if name != key}
    rest = {name: held for name, held in parsed.items() if name != table}
    return rest | {table: left} if left else rest


def _added(text: str, table: str, pairs: dict[str, Any]) -> str:
    nl = newline(text)
    gap = "" if not text or text.endswith(("\n\n", "\r\n\r\n")) else nl if text.endswith("\n") else nl + nl
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}{nl}" for key, value in pairs.items()]
    new = f"{text}{gap}[{table}] {_MARK}{nl}{''.join(lines)}"
    try:
        read(new)
    except CannotEdit as error:
        raise CannotEdit(f"what it has of {table} is not written as [tables] ({error})") from error
    return new


def _cut(text: str, ours: re.Pattern[str], left: dict[str, Any]) -> str:
    """Take out the tables whose header is `ours`. Raises CannotEdit where that would not leave what is `left`."""
    starts = [0, *(header.start() for header in _HEADER.finditer(text)), len(text)]
    kept = ""
    for part in (text[start:end] for start, end in pairwise(starts)):
        if not ours.match(part):
            kept += part
            continue
        if _MARK in part.partition("\n")[0] and kept.endswith(("\n\n", "\n\r\n")):
            kept = kept.removesuffix("\n").removesuffix("\r")
        kept += _comments(part)
    if read(kept) != left:
        raise CannotEdit("memman's table is not written on its own, or was changed: take it out by hand")
    return kept


def _comments(part: str) -> str:
    """Keep the comments that stand behind a table of ours: they belong to what follows."""
    lines = split_lines(part, ends=True)
    last = max(n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    return "".join(lines[last + 1 :])
