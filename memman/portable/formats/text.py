"""A plain text file, one note a line."""

import os

from memman.portable import files
from memman.portable.incoming import Format, Found, Item

_ENDINGS = ("", ".txt", ".text")
# How files begin that are something else.
_ELSE = ("{", "[", "---", "SQLite format")


def _fits(path: str) -> bool:
    plain = os.path.isfile(path) and os.path.splitext(path)[1].lower() in _ENDINGS
    return plain and not files.is_database(path) and not files.beginning(path).startswith(_ELSE)


def _read(path: str) -> Found:
    lines = [line.strip() for line in files.text(path).split("\n")]
    lacks = ("dates: every line counts as said today",)
    return Found(tuple(Item(line) for line in lines if line), lacks)


FORMAT = Format("text", "a text file, one note a line", _fits, _read)
