"""Our part of other programs' settings: hooks and the MCP server, in JSON or TOML, and a block of rules in Markdown.

Hooks stand as `{"hooks": {EVENT: [{"matcher": …, "hooks": [HANDLER, …]}, …]}}`. In Codex's config.toml ours are tables:
the MCP server, and our folder among those that its sandbox may write. What else stands in a file keeps its bytes.
"""

import json
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from memman.config.places import split_lines
from memman.integrations import edits
from memman.integrations.edits import CannotEdit

# How a file has our part, as the record of an installation says it.
SERVERS, HOOKS, RULES, TOML = "mcp-json", "hooks-json", "rules", "codex-toml"
Block = dict[str, list[dict[str, Any]]]
_SHELL = frozenset(";|&<>()`$")
# What stands around it for Gemini CLI, which ends only the shell of a late hook, and takes the error of a shell that
# finds no launcher for a refusal of the prompt.
_ADDED = ("exec", "2>/dev/null")
# What stands behind it for Copilot CLI, which takes that error for a refusal of the command.
_BEHIND = " || :"
_HOOKS = "hooks"
# Where the servers stand in a file of JSON.
_PLACES = (("mcpServers",), ("mcp",), ("servers",), ("context_servers",))
NAME, WORDS = "memman", ("mcp",)
_SERVERS = "mcp_servers"
_SANDBOX, _ROOTS = "sandbox_workspace_write", "writable_roots"
_MARK = "# by `memman install`"
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_SERVER_TABLE = re.compile(rf"[ \t]*\[{_SERVERS}\.{NAME}(?:\.[^\]]*)?\]")
_SANDBOX_TABLE = re.compile(re.escape(f"[{_SANDBOX}] {_MARK}"))
_RULES_BEGIN = "<!-- memman: written by `memman install`, removed by `memman uninstall` -->"
_RULES_END = "<!-- /memman -->"
# The line break before it is ours.
_RULES_BLOCK = re.compile(
    rf"(?:\r?\n)?{re.escape(_RULES_BEGIN)}(?:(?!{re.escape(_RULES_BEGIN)}).)*?{re.escape(_RULES_END)}(?:\r?\n)?",
    re.DOTALL,
)


def ours(command: object) -> bool:
    """Whether a hook's command is a plain call of a memman, wherever that is."""
    try:
        words = shlex.split(command.removesuffix(_BEHIND)) if isinstance(command, str) else []
    except ValueError:
        return False
    words = [word for word in words if word not in _ADDED]
    if words[1:2] != ["hook"] or os.path.basename(words[0]) != "memman" or any(map(_SHELL.intersection, words[2:])):
        return False
    return any(word.partition("=")[0] == "--host" for word in words[2:])


def put_hooks(text: str | None, block: Block) -> str:
    """Have exactly the groups of `block` as our entries; those of others stay where they are. Raises CannotEdit."""
    text = text or ""
    if groups(edits.at(text, (_HOOKS,))) == block:
        return text
    text = take_hooks(text, None)
    for name, wanted in block.items():
        for group in wanted:
            text = edits.append(text, (_HOOKS, name), group)
    return text


def take_hooks(text: str, original: str | None) -> str:
    """Take out our entries, and what they leave empty unless it was so before."""
    while place := next(_handlers(edits.at(text, (_HOOKS,))), None):
        name, group, index = place
        path = (_HOOKS, name, group, _HOOKS, index)
        text = edits.remove(text, path)
        if edits.at(text, path[:-1]) == []:
            text = prune(edits.remove(text, path[:3]), path[:2], original)
    return text


def prune(text: str, path: tuple[str | int, ...], original: str | None) -> str:
    """Remove the containers along `path` that are empty and were not there in `original`."""
    while path and edits.hollow(text, path) and (original is None or edits.at(original, path) is None):
        text, path = edits.remove(text, path), path[:-1]
    return text


def groups(hooks: object) -> Block:
    """Return the groups with entries of ours among the hooks of a parsed settings file."""
    found: dict[str, dict[int, Any]] = {}
    for name, group, _ in _handlers(hooks):
        found.setdefault(name, {})[group] = hooks[name][group]  # type: ignore[index]
    return {name: list(held.values()) for name, held in found.items()}


def _handlers(hooks: object) -> Iterator[tuple[str, int, int]]:
    """Yield where our entries stand: the event, the number of the group, and that in it."""
    for name, held in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(held if isinstance(held, list) else ()):
            handlers = group.get(_HOOKS) if isinstance(group, dict) else None
            for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict) and ours(handler.get("command")):
                    yield name, number, index


@dataclass(frozen=True, slots=True)
class Server:
    """Where an agent keeps its MCP servers: the file, the keys in it, and what it is told beside the command.

    `joined` has the command and its arguments in one list.
    """

    path: Callable[[], str]
    keys: tuple[str, ...] = _PLACES[0]
    says: Mapping[str, Any] = field(default_factory=dict, compare=False)
    joined: bool = False

    def put(self, text: str, launcher: str) -> str:
        """Have our server in a text; what the user set in it stays. Raises CannotEdit where another has its name."""
        if self.path().endswith(".toml"):
            return serve(text, launcher)
        path = (*self.keys, NAME)
        command = {"command": [launcher, *WORDS]} if self.joined else {"command": launcher, "args": [*WORDS]}
        held = edits.at(text, path)
        if held is None:
            return edits.ensure(edits.remove(text, path), path, {**command, **self.says})
        if not _called(held):
            raise _taken(".".join(path))
        started = {**command, **{key: value for key, value in self.says.items() if key == "type"}}
        for key, value in started.items():
            if held.get(key) != value:
                text = edits.ensure(edits.remove(text, (*path, key)), (*path, key), value)
        return text

    def take(self, text: str) -> str:
        """Take our server out, whichever memman it starts. Raises CannotEdit."""
        return unserve(text) if self.path().endswith(".toml") else take_server(text, None)


def take_server(text: str, original: str | None) -> str:
    """Take our server out of a text of JSON. Raises CannotEdit."""
    for keys in _PLACES:
        path = (*keys, NAME)
        while _called(edits.at(text, path)):
            text = prune(edits.remove(text, path), keys, original)
    return text


def read_toml(text: str) -> dict[str, Any]:
    """Return the parsed file. Raises CannotEdit."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotEdit(str(error) or "nested too deep") from error


def _called(entry: object) -> str:
    """Return the memman that an entry among an agent's MCP servers starts, '' for other servers."""
    held = entry if isinstance(entry, dict) else {}
    command, args = held.get("command"), held.get("args")
    words = command if isinstance(command, list) else [command, *(args if isinstance(args, list) else ())]
    found = words[0] if words[1:] == [*WORDS] and isinstance(words[0], str) else ""
    return found if os.path.basename(found) == NAME else ""


def _taken(where: str) -> CannotEdit:
    """Return the error that another server has our server's name."""
    return CannotEdit(f"{where} is not memman's MCP server: give it another name, or use --no-mcp")


def serve(text: str, launcher: str) -> str:
    """Have our server in a text. Raises CannotEdit where another has its name."""
    held = _under(read_toml(text), _SERVERS).get(NAME)
    if held is not None and not _called(held):
        raise _taken(f"{_SERVERS}.{NAME}")
    if _called(held) == launcher:
        return text
    bare = text if held is None else _without_server(text)
    return _added(bare, f"{_SERVERS}.{NAME}", {"command": launcher, "args": [*WORDS]})


def unserve(text: str) -> str:
    """Take our server out. Raises CannotEdit where more would go."""
    return _without_server(text) if _called(_under(read_toml(text), _SERVERS).get(NAME)) else text


def roots(text: str) -> list[Any]:
    """Return the folders that commands in the sandbox may write to. Raises CannotEdit."""
    held = _under(read_toml(text), _SANDBOX).get(_ROOTS)
    return held if isinstance(held, list) else []


def allow(text: str, root: str) -> str:
    """Have `root` among these folders. Raises CannotEdit where the file has a table of them already."""
    if root in roots(text):
        return text
    if _SANDBOX in read_toml(text):
        raise CannotEdit(f"[{_SANDBOX}] is there already: add {root} to its {_ROOTS} by hand")
    return _added(text, _SANDBOX, {_ROOTS: [root]})


def forbid(text: str) -> str:
    """Take our table of folders out. Raises CannotEdit where somebody has added to it."""
    if len(roots(text)) != 1 or not _SANDBOX_TABLE.search(text):
        return text
    return _cut(text, _SANDBOX_TABLE, _less(read_toml(text), _SANDBOX, _ROOTS))


def _without_server(text: str) -> str:
    return _cut(text, _SERVER_TABLE, _less(read_toml(text), _SERVERS, NAME))


def _under(parsed: dict[str, Any], table: str) -> dict[str, Any]:
    held = parsed.get(table)
    return held if isinstance(held, dict) else {}


def _less(parsed: dict[str, Any], table: str, key: str) -> dict[str, Any]:
    """Return what is left without one key of a table, and without the table where it was the only one."""
    left = {name: held for name, held in parsed[table].items() if name != key}
    rest = {name: held for name, held in parsed.items() if name != table}
    return rest | {table: left} if left else rest


def _added(text: str, table: str, pairs: dict[str, Any]) -> str:
    nl = edits.newline(text)
    gap = "" if not text or text.endswith(("\n\n", "\r\n\r\n")) else nl if text.endswith("\n") else nl + nl
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}{nl}" for key, value in pairs.items()]
    new = f"{text}{gap}[{table}] {_MARK}{nl}{''.join(lines)}"
    try:
        read_toml(new)
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
    if read_toml(kept) != left:
        raise CannotEdit("memman's table is not written on its own, or was changed: remove it by hand")
    return kept


def _comments(part: str) -> str:
    """Keep the comments that stand behind a table of ours: they belong to what follows."""
    lines = split_lines(part, ends=True)
    last = max(n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    return "".join(lines[last + 1 :])


def put_rules(text: str, says: str) -> str:
    """Have exactly what is said as our block, at the end. Raises CannotEdit."""
    nl, bare = edits.newline(text), take_rules(text)
    lines = (_RULES_BEGIN, *says.splitlines(), _RULES_END, "")
    return f"{bare}{nl if bare else ''}{nl.join(lines)}"


def take_rules(text: str) -> str:
    """Take our block out. Raises CannotEdit where its last line is gone: what follows may be the user's."""
    while block := _RULES_BLOCK.search(text):
        before, after = text[: block.start()], text[block.end() :]
        joined = before and after and not before.endswith("\n") and not after.startswith(("\n", "\r"))
        text = before + (edits.newline(text) if joined else "") + after
    if _RULES_BEGIN in text:
        line = text[: text.index(_RULES_BEGIN)].count("\n") + 1
        raise CannotEdit(
            f"line {line} begins memman's block, which has lost its last line: put {_RULES_END} back after it"
        )
    return text
