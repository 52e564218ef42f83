"""Reads JSON with comments and where everything stands, and edits it in place: all else keeps its bytes.

What is added looks like its surroundings. A path is a tuple of keys and indexes; of a key that stands twice the last
counts, as every reader has it.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_DEEPEST = 200
_GAP = re.compile(r"(?:[ \t\r\n\u00a0\ufeff]+|//[^\n\r]*|/\*.*?\*/)*", re.DOTALL)
_JSON = json.JSONDecoder(strict=False)
_CLOSING = {"{": "}", "[": "]"}


class CannotEdit(ValueError):
    """The text is not what it should be; the message says what and where."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands. `items` are the members or elements of an object or array."""

    start: int
    end: int
    value: Any = None
    items: "tuple[Item, ...]" = ()
    kind: str = "value"

    def plain(self) -> Any:
        """Return the value as Python has it; of a key said twice the last counts."""
        if self.kind == "{":
            return {item.key: item.node.plain() for item in self.items}
        return [item.node.plain() for item in self.items] if self.kind == "[" else self.value


@dataclass(frozen=True, slots=True)
class Item:
    """A member or an element: from `start` to the end of its node, and where its comma is, -1 for none."""

    start: int
    node: Node
    key: str | None = None
    comma: int = -1


@lru_cache(maxsize=8)  # an edit looks at the same text several times
def read(text: str) -> Node | None:
    """Return the one value of a text, None where there is nothing but white space. Raises CannotEdit."""
    reader = _Reader(text)
    reader.skip()
    if reader.at == len(text):
        return None
    node = reader.node(0)
    reader.skip()
    if reader.at < len(text):
        raise reader.wrong("unexpected text after the end")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def wrong(self, what: str) -> CannotEdit:
        before = self.text[: self.at]
        line = before.count("\n") + 1
        column = self.at - before.rfind("\n")
        return CannotEdit(f"line {line}, column {column}: {what}")

    def skip(self) -> None:
        gap = _GAP.match(self.text, self.at)
        self.at = gap.end() if gap else self.at

    def next(self) -> str:
        self.skip()
        return self.text[self.at : self.at + 1]

    def node(self, depth: int) -> Node:
        start, char = self.at, self.next()
        start = self.at
        if depth > _DEEPEST:
            raise self.wrong("nested too deep")
        if char in _CLOSING:
            items = self.items(char, depth)
            return Node(start, self.at, items=items, kind=char)
        value = self.plain()
        return Node(start, self.at, value)

    def items(self, opening: str, depth: int) -> tuple[Item, ...]:
        found = []
        self.at += 1
        while self.next() != _CLOSING[opening]:
            start = self.at
            key = self.key() if opening == "{" else None
            node = self.node(depth + 1)
            comma = self.at if self.next() == "," else -1
            found.append(Item(start, node, key, comma))
            if comma >= 0:
                self.at += 1
            elif self.next() != _CLOSING[opening]:
                raise self.wrong(f"a comma or {_CLOSING[opening]} is missing")
        self.at += 1
        return tuple(found)

    def key(self) -> str:
        if self.next() != '"':
            raise self.wrong("a key in double quotes is missing")
        word: str = self.plain()
        if self.next() != ":":
            raise self.wrong("a colon is missing")
        self.at += 1
        return word

    def plain(self) -> Any:
        """Read a string, a number, true, false or null."""
        try:
            value, self.at = _JSON.raw_decode(self.text, self.at)
        except (ValueError, RecursionError):
            found = f"unexpected {self.text[self.at]!a}" if self.at < len(self.text) else "unexpected end"
            raise self.wrong(found) from None
        return value


Path = tuple[str | int, ...]
_NAMES = {"{": "an object", "[": "a list", "value": "a plain value"}
_INDENT = "  "


def at(text: str, path: Path) -> Any:
    """Return what is at `path` as a plain value, None where nothing is."""
    root = read(text)
    node = root and _find(root, path)
    return node.plain() if node else None


def listed(text: str | None, path: Path) -> list[Any]:
    """Return the list at `path`, an empty one where there is none."""
    held = at(text or "", path)
    return held if isinstance(held, list) else []


def hollow(text: str, path: Path) -> bool:
    """Whether an object or list stands at `path` with nothing in it, no comment either."""
    root = read(text)
    node = root and _find(root, path)
    return bool(node and node.kind != "value" and not text[node.start + 1 : node.end - 1].strip())


def ensure(text: str, path: Path, value: Any) -> str:
    """Set a member unless it is there, making the objects on the way. Raises CannotEdit."""
    text, node, rest = _reach(text, path)
    return _insert(text, node, str(rest[0]), _nested(rest[1:], value)) if rest else text


def append(text: str, path: Path, value: Any) -> str:
    """Add an element to the end of the list at `path`, making what is missing on the way. Raises CannotEdit."""
    text, node, rest = _reach(text, path)
    if rest:
        return _insert(text, node, str(rest[0]), _nested(rest[1:], [value]))
    _check(node, "[", path)
    return _insert(text, node, None, value)


def remove(text: str, path: Path) -> str:
    """Take out the member or element at `path`, with its comma and the line it leaves empty."""
    root = read(text)
    parent = root and _find(root, path[:-1])
    index = _index(parent, path[-1]) if parent else -1
    return _without(text, parent, index) if parent and index >= 0 else text


def _find(node: Node, path: Path) -> Node | None:
    for step in path:
        index = _index(node, step)
        if index < 0:
            return None
        node = node.items[index].node
    return node


def _index(node: Node, step: str | int) -> int:
    if isinstance(step, int):
        return step if node.kind == "[" and step < len(node.items) else -1
    found = [number for number, item in enumerate(node.items) if item.key == step]
    return found[-1] if found else -1


def _reach(text: str, path: Path) -> tuple[str, Node, Path]:
    """Return the deepest node along `path` and the steps that are missing from there on."""
    node, done = read(text), 0
    if node is None:
        return _reach(_begun(text), path)
    for step in path:
        _check(node, "{", path[:done])
        index = _index(node, step)
        if index < 0:
            break
        node, done = node.items[index].node, done + 1
    return text, node, path[done:]


def _begun(text: str) -> str:
    """Give a text that holds no value an empty object after its white space and comments."""
    nl = newline(text)
    gap = nl if text.strip("\ufeff \t\r\n") and not text.endswith(("\n", "\r")) else ""
    kept = text if text.strip("\ufeff \t\r\n") else text[: text.startswith("\ufeff")]
    return f"{kept}{gap}{{}}{nl}"


def _check(node: Node, kind: str, path: Path) -> None:
    if node.kind != kind:
        where = ".".join(map(str, path)) or "the whole"
        raise CannotEdit(f"{where} is {_NAMES[node.kind]} where {_NAMES[kind]} is expected")


def _nested(path: Path, value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value


# --- adding ---


def newline(text: str) -> str:
    """Return how the text ends its lines."""
    return "\r\n" if re.search(r"\r?\n", text + "\n")[0] == "\r\n" else "\n"  # type: ignore[index]


def _insert(text: str, node: Node, key: str | None, value: Any) -> str:
    nl, unit = newline(text), _unit(text)
    last = node.items[-1] if node.items else None
    if last is None:
        indent = _line_indent(text, node.start)
        close = node.end - 1
        at_ = len(text[:close].rstrip())
        written = _written(key, value, indent + unit, unit, nl)
        return f"{text[:at_]}{nl}{indent}{unit}{written}{nl}{indent}{text[close:]}"
    if _own_line(text, last.start):
        indent = _line_indent(text, last.start)
        return _after(text, last, f"{nl}{indent}{_written(key, value, indent, unit, nl)}")
    return _after(text, last, " " + _written(key, value, "", None, ""))


def _after(text: str, last: Item, addition: str) -> str:
    """Put an addition behind the last item and what is said of it on its line; a trailing comma stays the custom."""
    end = last.node.end if last.comma < 0 else last.comma + 1
    rest = _rest_of_line(text, end) if addition[0] != " " else end
    if last.comma < 0:
        return f"{text[:end]},{text[end:rest]}{addition}{text[rest:]}"
    return f"{text[:rest]}{addition},{text[rest:]}"


def _rest_of_line(text: str, end: int) -> int:
    """Return where the comment that follows on the same line ends, `end` where there is none."""
    found = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/(?=[ \t]*[\r\n]))").match(text, end)
    return found.end() if found else end


def _written(key: str | None, value: Any, indent: str, unit: str | None, nl: str) -> str:
    body = json.dumps(value, ensure_ascii=False, indent=unit)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    return name + body.replace("\n", nl + indent)


def _unit(text: str) -> str:
    """Return by how much the text indents: as its first indented member does."""
    found = re.search(r"""[{\[][ \t]*\r?\n([ \t]+)["{\[\w-]""", text)
    return found[1] if found else _INDENT


def _line_start(text: str, position: int) -> int:
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def _own_line(text: str, position: int) -> bool:
    start = _line_start(text, position)
    return start > 0 and not text[start:position].strip(" \t")


def _line_indent(text: str, position: int) -> str:
    line = text[_line_start(text, position) : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


# --- taking out ---


def _without(text: str, parent: Node, index: int) -> str:
    item = parent.items[index]
    start, end = item.start, item.node.end
    if item.comma >= 0:
        between = text[end : item.comma]
        end = item.comma + 1 if not between.strip() else end
    bare = item.comma >= end
    start, end = _widened(text, start, end, parent)
    text = text[:start] + (text[end : item.comma] + text[item.comma + 1 :] if bare else text[end:])
    before = parent.items[index - 1].comma if index and item.comma < 0 else -1
    if before >= 0:
        text = text[:before] + text[before + 1 :]
    return _collapsed(text, parent.start) if len(parent.items) == 1 else text


def _widened(text: str, start: int, end: int, parent: Node) -> tuple[int, int]:
    """Take the item's line along where nothing else is on it, else the blanks on one side of it."""
    after = re.compile(r"[ \t]*").match(text, end)
    rest = after.end() if after else end
    alone = rest == parent.end - 1 or text[rest : rest + 1] in {"\n", "\r", ""}
    if _own_line(text, start):
        if not alone:
            return start, rest
        line = _line_start(text, start)
        if rest == parent.end - 1 and "//" in text[_line_start(text, line - 1) : line]:
            return start, end  # the bracket would end up in the comment
        return line - (2 if text[line - 2 : line] == "\r\n" else 1), end
    if alone:
        return len(text[:start].rstrip(" \t")), end
    return start, rest


def _collapsed(text: str, start: int) -> str:
    """Close a container that nothing is left in."""
    found = re.compile(r"([{\[])\s*([}\]])").match(text, start)
    return text[:start] + found[1] + found[2] + text[found.end() :] if found else text
