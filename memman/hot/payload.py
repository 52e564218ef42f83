"""What a host tells a hook: one JSON object on standard input, of which nothing is believed."""

import sys

from memman.hot.wire import parsed
from memman.secrets import legible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_BYTES = 4 * 1024 * 1024


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
            if isinstance(value, list):  # parts, of which some are text
                value = "\n".join(filter(None, (Payload(part).text("text") for part in value)))
            if isinstance(value, str) and value:
                return legible(value).replace("\0", " ")
        return ""

    def under(self, name: str) -> "Payload":
        """Return the object in a field, an empty one where there is none."""
        return Payload(self.fields.get(name))

    def flag(self, name: str) -> bool:
        """Whether a field is true."""
        return self.fields.get(name) is True
