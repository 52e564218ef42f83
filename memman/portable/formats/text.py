"""A plain text file: a note a line, in a list or below a heading with what introduces it."""

import os
import re

from memman.config.scope import REPOSITORY
from memman.llm.builtin.markdown import Block, blocks
from memman.portable import files
from memman.portable.formats.rules import passage
from memman.portable.incoming import Format, Found, Item

_ENDINGS = ("", ".txt", ".text")
# How files begin that are something else.
_ELSE = ("{", "[", "---", "SQLite format")
_LACKS = ("dates: every line counts as said today",)


def _fits(path: str) -> bool:
    plain = os.path.isfile(path) and os.path.splitext(path)[1].lower() in _ENDINGS
    return plain and not files.is_database(path) and not files.beginning(path).startswith(_ELSE)


def _read(path: str) -> Found:
    # Each line is a paragraph, but for rows of a table and what is indented below a line.
    read = blocks(re.sub(r"\n(?![ \t|])", "\n\n", files.text(path)))
    return Found(tuple(item for block in read for item in _items(block)), _LACKS)


def _items(block: Block) -> list[Item]:
    """Return the notes of a block; a list that something introduces holds in one place."""
    scope = REPOSITORY if block.kind == "item" and block.leads else ""
    return [Item(text, scope=scope) for text in (block.text.split("\n") if block.kind == "code" else passage(block))]


FORMAT = Format("text", "a text file, one note a line, items with the line before their list", _fits, _read)
