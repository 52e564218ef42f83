"""memman's own folder of Markdown: texts that were edited replace their memories, others are new notes."""

import os
from typing import Any

from memman.belief import USER
from memman.model.moments import ms
from memman.model.vocabulary import CATEGORIES
from memman.portable import front, markdown
from memman.portable.incoming import Format, Found, Item

_LACKS = (
    "edits of the front matter, and deleted files: `memman forget` hides memories",
    "of memories that are not stored here: links, what they superseded, evidence and their scope",
)


def _fits(path: str) -> bool:
    return os.path.isdir(path) and next(markdown.ours(path), None) is not None


def _read(path: str) -> Found:
    texts = [text for _, text in markdown.ours(path)]
    return Found(tuple(_item(text) for text in texts if markdown.is_edited(text) or _current(text)), _LACKS)


def _current(text: str) -> bool:
    return front.parted(text)[0].get("status") == "current"


def _item(text: str) -> Item:
    about, body = front.parted(text)
    uid, category, importance = str(about.get("id", "")), about.get("category"), about.get("importance")
    entities = about.get("entities")
    hints: dict[str, Any] = {
        "category": category if category in CATEGORIES else None,
        "importance": importance if importance in range(1, 6) else None,
        "entities": tuple(map(str, entities)) if isinstance(entities, list) else (),
    }
    said = markdown.said(body)
    if markdown.is_edited(text):
        return Item(said, key=f"{uid}\n{said}", source=USER, edits=uid, **hints)
    return Item(said, key=uid, at=ms(str(about.get("valid_from", ""))), memory=uid, **hints)


FORMAT = Format("markdown", "a folder of Markdown that memman wrote", _fits, _read)
