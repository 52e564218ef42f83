"""Memories as rows of a store, made by hand."""

from memman.recall.hit import UNREAD, Hit
from memman.store import MemoryRow


def row(text: str = "", id: int = 0, uid: str = "", **values: object) -> MemoryRow:  # noqa: A002 - the row's own name
    """Make a row; what is not given is what a plain fact of the user's has."""
    plain = dict.fromkeys(MemoryRow.columns) | {
        "category": "fact",
        "importance": 3,
        "entities": "[]",
        "keywords": "[]",
        "summary": "",
        "source": "user",
        "origin": "",
        "valid_from": 0,
        "recorded_at": 0,
        "status": "current",
        "uses": 0,
    }
    return MemoryRow.of(**plain | {"id": id, "uid": uid, "note": uid, "text": text} | values)


def hit(memory: MemoryRow, score: float = 0.0, confidence: float = 1.0, behind: int | None = None) -> Hit:
    """Make a hit as the gate does."""
    return Hit(memory, score, confidence, read=UNREAD.having(behind=behind))
