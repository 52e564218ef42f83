"""JSON of other programs, of which nothing is believed; without the json package, which costs as much as a search."""

import sys

from memman.secrets import legible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_BYTES = 4 * 1024 * 1024
_BLANKS = " \t\n\r"


class _Lenient:
    """What the C scanner asks of a decoder: control characters in strings are let through."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def parsed(text: str) -> "Any":
    """Read one JSON value. Raises ValueError, or RecursionError for one that is nested too deeply."""
    text = text.removeprefix("\ufeff").strip(_BLANKS)
    try:
        from _json import make_scanner

        value, end = make_scanner(_Lenient())(text, 0)  # type: ignore[arg-type]
    except (StopIteration, SystemError):  # the latter where it looks for the json package's own error in vain
        raise ValueError("not JSON") from None
    except (ImportError, AttributeError, TypeError):
        from json import loads

        return loads(text, strict=False)
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def quoted(text: str) -> str:
    """Write a JSON string."""
    encode: Callable[[str], str]
    try:
        from _json import encode_basestring as encode
    except ImportError:
        from json import dumps

        return dumps(text, ensure_ascii=False)
    return encode(text)


class Payload:
    """An object of which any field may be missing, or be of any type."""

    __slots__ = ("fields",)

    def __init__(self, fields: "Any") -> None:
        self.fields: dict[str, Any] = fields if isinstance(fields, dict) else {}

    @classmethod
    def read(cls) -> "Payload":
        """Read standard input to its end. Raises ValueError, RecursionError, and OverflowError where it is too long."""
        if sys.stdin.isatty():
            return cls({})
        raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            while sys.stdin.buffer.read(MAX_BYTES):
                pass  # a host must not be left with a broken pipe
            raise OverflowError("the payload is longer than 4 MB")
        return cls(parsed(raw.decode("utf-8", "replace")))

    def text(self, *names: str) -> str:
        """Return the first of these fields that holds text, made storable; '' where none does."""
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, list):
                value = "\n".join(filter(None, (part.text("text") for part in self.parts(name))))
            if isinstance(value, str) and value:
                return legible(value).replace("\0", " ")
        return ""

    def under(self, name: str) -> "Payload":
        """Return the object in a field, an empty one where there is none."""
        return Payload(self.fields.get(name))

    def parts(self, name: str) -> "list[Payload]":
        """Return the objects in the list in a field."""
        held = self.fields.get(name)
        return [Payload(part) for part in held if isinstance(part, dict)] if isinstance(held, list) else []

    def flag(self, name: str) -> bool:
        """Whether a field is true."""
        return self.fields.get(name) is True
