"""Memories as rows of a store, made by hand."""

from memman.embed.base import LocalEmbedder
from memman.model.vocabulary import BUILTIN, HIDDEN
from memman.pipeline.vectors import embed_in_context
from memman.recall.hit import UNREAD, Hit
from memman.store import MemoryRow
from memman.store.sqlite.store import SqliteStore


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


def up_to_date(store: SqliteStore, embedder: LocalEmbedder) -> bool:
    """Whether every memory that is not hidden has the built-in vector that it would be given now."""
    vectors = (
        "SELECT m.id, v.planes FROM memory m LEFT JOIN embedder e ON e.provider = ? LEFT JOIN vector v"
        f" ON v.embedder = e.id AND v.memory = m.id WHERE m.status NOT IN {HIDDEN} ORDER BY 1, e.id"
    )
    before = store.db.execute(vectors, (BUILTIN,)).fetchall()
    with store.unit() as unit:
        embed_in_context(unit, embedder, store.cell, [memory for memory, _ in before])
    return bool(store.db.execute(vectors, (BUILTIN,)).fetchall() == before)
