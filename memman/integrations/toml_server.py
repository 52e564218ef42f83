"""Our MCP server in a TOML file: a table at its end, found again by what it starts."""

import json
import os
import re
from itertools import pairwise
from typing import Any

from memman.integrations.edits import CannotEdit, newline
from memman.integrations.toml_block import comments, read

NAME, WORDS = "memman", ("mcp",)
_TABLE = "mcp_servers"
_MARK = "# by `memman install`"
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_OURS = re.compile(rf"[ \t]*\[{_TABLE}\.{NAME}(?:\.[^\]]*)?\]")


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


def program(text: str) -> str:
    """Return the memman that our server in a text starts, '' where there is none. Raises CannotEdit."""
    return called(_server(read(text)))


def put(text: str, launcher: str) -> str:
    """Have our server in a text. Raises CannotEdit where another has its name."""
    held, nl = _server(read(text)), newline(text)
    if held is not None and not called(held):
        raise taken(f"{_TABLE}.{NAME}")
    command, args = json.dumps(launcher, ensure_ascii=False), json.dumps([*WORDS])
    table = f"[{_TABLE}.{NAME}] {_MARK}{nl}command = {command}{nl}args = {args}{nl}"
    if called(held) == launcher:
        return text
    bare = text if held is None else _cut(text)
    gap = "" if not bare or bare.endswith(("\n\n", "\r\n\r\n")) else nl if bare.endswith("\n") else nl + nl
    new = bare + gap + table
    try:
        read(new)
    except CannotEdit as error:
        raise CannotEdit(f"its MCP servers are not written as [{_TABLE}.NAME] tables ({error})") from error
    return new


def take(text: str, launcher: str = "") -> str:
    """Take our server out, with a `launcher` only where it starts that. Raises CannotEdit where more would go."""
    found = program(text)
    if not found or (launcher and os.path.realpath(found) != os.path.realpath(launcher)):
        return text
    return _cut(text)


def _cut(text: str) -> str:
    starts = [0, *(header.start() for header in _HEADER.finditer(text)), len(text)]
    kept = ""
    for part in (text[start:end] for start, end in pairwise(starts)):
        if not _OURS.match(part):
            kept += part
            continue
        if _MARK in part.partition("\n")[0] and kept.endswith(("\n\n", "\n\r\n")):
            kept = kept.removesuffix("\n").removesuffix("\r")
        kept += comments(part)
    if read(kept) != _without(read(text)):
        raise CannotEdit("the MCP server memman is not written as a table on its own: take it out by hand")
    return kept


def _server(parsed: dict[str, Any]) -> Any:
    servers = parsed.get(_TABLE)
    return servers.get(NAME) if isinstance(servers, dict) else None


def _without(parsed: dict[str, Any]) -> dict[str, Any]:
    """Return what is not ours."""
    left = {name: held for name, held in parsed[_TABLE].items() if name != NAME}
    rest = {key: value for key, value in parsed.items() if key != _TABLE}
    return rest | {_TABLE: left} if left else rest
