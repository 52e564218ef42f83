"""Our hooks in a TOML file: tables at its end between two comments, found again by their commands."""

import json
import re
import tomllib
from itertools import pairwise
from typing import Any

from memman.config.places import split_lines
from memman.integrations.edits import CannotEdit, newline
from memman.integrations.hook_block import Block, commands, groups, ours

_BEGIN = "# >>> memman: these hooks are written by `memman install` and removed by `memman uninstall`"
_END = "# <<< memman"
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_STATE = "state"


def read(text: str) -> dict[str, Any]:
    """Return the parsed file. Raises CannotEdit."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotEdit(str(error) or "nested too deep") from error


def hooks(text: str) -> dict[str, Any]:
    """Return the hooks of a file by their events; what the user trusts is kept under the same key and no hook."""
    found = read(text).get("hooks")
    return {event: groups for event, groups in found.items() if event != _STATE} if isinstance(found, dict) else {}


def put(text: str, block: Block) -> str:
    """Have exactly the groups of `block` as our tables. Raises CannotEdit where the file keeps its hooks otherwise."""
    if groups(hooks(text)) == block:
        return text
    bare, nl = take(text), newline(text)
    gap = "" if not bare or bare.endswith(("\n\n", "\r\n\r\n")) else nl if bare.endswith("\n") else nl + nl
    new = bare + gap + nl.join(_lines(block)) + nl
    try:
        read(new)
    except CannotEdit as error:
        raise CannotEdit(f"its hooks are not written as [[hooks.EVENT]] tables ({error})") from error
    return new


def take(text: str, launcher: str = "") -> str:
    """Take out our tables and comments, with a `launcher` those that call it. Raises CannotEdit where more would go."""
    called = commands(hooks(text))
    if not any(ours(command, launcher) for command in called):
        return text
    starts = [0, *(found.start() for found in _HEADER.finditer(text)), len(text)]
    parts = [text[a:b] for a, b in pairwise(starts)]
    kept = "".join(comments(part) if gone else part for part, gone in zip(parts, _gone(parts, launcher), strict=True))
    kept = _unmarked(kept) if all(ours(command, launcher) for command in called) else kept
    if _without(read(kept), launcher) != _without(read(text), launcher):
        raise CannotEdit("our hooks stand among others in one table; take them out by hand")
    return kept


def _gone(parts: list[str], launcher: str) -> list[bool]:
    """Tell which parts are ours: a table of handlers with our command, and the group it is alone in."""
    kinds = [_kind(part) for part in parts]
    gone = [kind == "handler" and _command_ours(part, launcher) for kind, part in zip(kinds, parts, strict=True)]
    for number, kind in enumerate(kinds):
        if kind == "group":
            rest = kinds[number + 1 :]
            own = next((n for n, other in enumerate(rest) if other != "handler"), len(rest))
            gone[number] = own > 0 and all(gone[number + 1 : number + 1 + own])
    return gone


def _kind(part: str) -> str:
    head = part.lstrip().partition("\n")[0]
    found = re.match(r"\[\[\s*hooks\s*\.\s*[\w\"'-]+\s*(\.\s*hooks\s*)?\]\]", head)
    return "" if not found else "handler" if found[1] else "group"


def _command_ours(part: str, launcher: str) -> bool:
    try:
        return ours(tomllib.loads(part.partition("\n")[2]).get("command"), launcher)
    except tomllib.TOMLDecodeError:
        return False


def comments(part: str) -> str:
    """Keep the comments that stand behind a table of ours: they belong to what follows."""
    lines = split_lines(part, ends=True)
    last = max(n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    return "".join(lines[last + 1 :])


def _unmarked(text: str) -> str:
    kept: list[str] = []
    for line in split_lines(text, ends=True):
        mark = line.strip()
        if mark == _BEGIN and kept and not kept[-1].strip():
            kept.pop()
        elif mark not in {_BEGIN, _END}:
            kept.append(line)
    return "".join(kept)


def _without(parsed: dict[str, Any], launcher: str = "") -> dict[str, Any]:
    """Return what is not ours."""
    table = parsed.get("hooks")
    if not isinstance(table, dict):
        return parsed
    left = {event: _others(groups, launcher) if isinstance(groups, list) else groups for event, groups in table.items()}
    left = {event: groups for event, groups in left.items() if groups != [] or table[event] == []}
    rest = {key: value for key, value in parsed.items() if key != "hooks"}
    return rest | {"hooks": left} if left else rest


def _others(groups: list[Any], launcher: str) -> list[Any]:
    bare = []
    for group in groups:
        handlers = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(handlers, list):
            bare.append(group)
            continue
        left = [hook for hook in handlers if not (isinstance(hook, dict) and ours(hook.get("command"), launcher))]
        if left or not handlers:
            bare.append(group | {"hooks": left})
    return bare


def _lines(block: Block) -> list[str]:
    lines = [_BEGIN]
    for event, wanted in block.items():
        for group in wanted:
            lines += [f"[[hooks.{event}]]", *_pairs(group)]
            for handler in group["hooks"]:
                lines += [f"[[hooks.{event}.hooks]]", *_pairs(handler)]
    return [*lines, _END]


def _pairs(table: dict[str, Any]) -> list[str]:
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items() if key != "hooks"]
