"""A reader of JSON5 that keeps where everything stands, so that a text can be edited in place."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_DEEPEST = 200
# Of what JSON5 calls white space, what other readers of settings take for it too.
_GAP = re.compile(r"(?:[ \t\r\n\u00a0\ufeff]+|//[^\n\r]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n\r]|\\.)*"|\'(?:[^\'\\\n\r]|\\.)*\'', re.DOTALL)
_WORD = re.compile(r"[\w$+.\-]+")
_DIGITS = 1000  # of a number; Python refuses to read some thousands
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN)")
_HEX = re.compile(r"([+-]?)0[xX]([0-9a-fA-F]+)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0", "\n": "", "\r\n": "", "\r": ""}
_LITERALS = {"true": True, "false": False, "null": None}
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
        value = self.string() if char in {'"', "'"} else self.literal()
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
        word = self.string() if self.next() in {'"', "'"} else self.word()
        if self.next() != ":":
            raise self.wrong("a colon is missing")
        self.at += 1
        return word

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if not found:
            raise self.wrong("unterminated string")
        self.at = found.end()
        return _unescaped(found[0][1:-1])

    def word(self) -> str:
        found = _WORD.match(self.text, self.at)
        if not found:
            raise self.wrong("unexpected end" if self.at == len(self.text) else f"unexpected {self.text[self.at]!a}")
        self.at = found.end()
        return found[0]

    def literal(self) -> Any:
        start, word = self.at, self.word()
        if word in _LITERALS:
            return _LITERALS[word]
        if number := _HEX.fullmatch(word):
            return int(number[1] + number[2], 16)
        if _NUMBER.fullmatch(word) and len(word) <= _DIGITS:
            return float(word) if re.search("[.eEIN]", word) else int(word)
        self.at = start
        raise self.wrong(f"unexpected {word[:20]!a}")


def _unescaped(inside: str) -> str:
    if "\\" not in inside:
        return inside
    text = _ESCAPE.sub(_character, inside)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(found[3], found[3])
