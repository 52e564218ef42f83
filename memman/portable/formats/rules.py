"""CLAUDE.md, AGENTS.md and their like: each item and each paragraph is a note of the repository that it lies in."""

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
