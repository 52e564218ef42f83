"""Files of text: CLAUDE.md and its like, whose items and paragraphs are notes of the repository, and plain ones."""

import os
import re
from collections.abc import Iterator

from memman.belief import IMPORT, USER
from memman.config.places import data_dir
from memman.config.repository import repository
from memman.config.scope import PATH, PERSONAL, REPOSITORY, here
from memman.llm.builtin.markdown import Block, blocks
from memman.llm.builtin.split import PARAGRAPH, extent, statements
from memman.portable import files
from memman.portable.incoming import Format, Found, Item

NAMES = ("claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md")
# Where a person keeps rules of their own, below their home.
_HOMES = (".claude", ".codex", ".gemini", ".config/opencode")
_LACKS = ("code blocks and the files that it includes with @", "dates: the file's own counts")
_INCLUDED = re.compile(r"@\S+$")
# Endings of plain text, where a note is a line, and how files begin that are something else.
_ENDINGS = ("", ".txt", ".text")
_ELSE = ("{", "[", "---", "SQLite format")
_UNDATED = ("dates: every line counts as said today",)


def passages(text: str) -> Iterator[str]:
    """Yield the items and paragraphs of Markdown, each on one line behind its heading and what introduces it."""
    for block in blocks(text):
        if block.kind != "code":
            yield from passage(block)


def passage(block: Block) -> list[str]:
    """Return a block on one line, behind what introduces it; a long item sentence by sentence, for so it is stored."""
    whole = " ".join(": ".join((*block.labels, block.text)).split())
    return statements(block) if block.kind == "item" and extent(whole) > PARAGRAPH else [whole]


def held_for(folder: str) -> tuple[str, str]:
    """Return the repository that a folder lies in, or else the folder, '' at home, and what is said there holds for."""
    real = os.path.realpath(folder)
    found = here(data_dir(), repository(real), real)
    return found.repository, (PATH + found.path if found.path else REPOSITORY) if found.repository else ""


def _fits(path: str) -> bool:
    return os.path.isfile(path) and os.path.basename(path).lower() in NAMES


def _read(path: str) -> Found:
    folder = os.path.dirname(path)
    if os.path.realpath(folder) in {os.path.realpath(os.path.expanduser(f"~/{home}")) for home in _HOMES}:
        source, whose, scope = USER, "", PERSONAL
    else:
        source, (whose, scope) = IMPORT, held_for(folder)
    at = int(os.stat(path).st_mtime * 1000)
    said = (text for text in passages(files.text(path)) if not _INCLUDED.match(text))
    return Found(tuple(Item(text, at=at, source=source, repository=whose, scope=scope) for text in said), _LACKS)


FORMAT = Format("rules", "rules of agents (CLAUDE.md, AGENTS.md)", _fits, _read, personal=True)


def _fits_text(path: str) -> bool:
    plain = os.path.isfile(path) and os.path.splitext(path)[1].lower() in _ENDINGS
    return plain and not files.is_database(path) and not files.beginning(path).startswith(_ELSE)


def _read_text(path: str) -> Found:
    # Each line is a paragraph, but for rows of a table and what is indented below a line.
    read = blocks(re.sub(r"\n(?![ \t|])", "\n\n", files.text(path)))
    return Found(tuple(item for block in read for item in _items(block)), _UNDATED)


def _items(block: Block) -> list[Item]:
    """Return the notes of a block; a list that something introduces holds in one place."""
    scope = REPOSITORY if block.kind == "item" and block.leads else ""
    return [Item(text, scope=scope) for text in (block.text.split("\n") if block.kind == "code" else passage(block))]


TEXT = Format("text", "a text file, one note a line, items with the line before their list", _fits_text, _read_text)
