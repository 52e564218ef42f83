"""The text index: the words of each memory, and those around it. In the transaction of their caller."""

import json
from collections.abc import Iterable, Sequence

import apsw

from memman.model.terms import index_terms
from memman.model.text import questions as asked
from memman.model.vocabulary import HIDDEN

# Two neighbours either side: the measured optimum of the context column.
_NEIGHBOURS = 2


def index(db: apsw.Connection, memories: Iterable[int]) -> None:
    """Write the words of memories afresh, each with the text of its neighbours as context."""
    for memory in memories:
        row = db.execute("SELECT text, entities, keywords, status FROM memory WHERE id = ?", (memory,)).get
        text, entities, keywords, status = row
        db.execute("DELETE FROM fts WHERE rowid = ?", (memory,))
        if status in HIDDEN:
            continue
        terms = " ".join(json.loads(keywords))
        terms = " ".join((index_terms(f"{text} {terms}"), *json.loads(entities), terms))
        near = sorted((other, its) for distance, other, its in in_context(db, memory) if distance)
        context = " ".join(its for _, its in near)
        sql = "INSERT INTO fts(rowid, text, terms, context) VALUES (?, ?, ?, ?)"
        db.execute(sql, (memory, text, terms, context))


def renew(db: apsw.Connection, memories: Sequence[int]) -> list[int]:
    """Write the words of memories, and of those whose context they are, afresh; drains renew the vectors.

    Return all of these.
    """
    from memman.store.sqlite import vectors  # loads numpy

    around = touched(db, memories)
    index(db, around)
    vectors.outdate(db, around)
    return around


def touched(db: apsw.Connection, memories: Sequence[int]) -> list[int]:
    """Return memories and those whose context they are."""
    return list(dict.fromkeys(other for memory in memories for _, other, _ in in_context(db, memory)))


def in_context(db: apsw.Connection, memory: int) -> list[tuple[int, int, str]]:
    """Return (distance, id, text) of a memory, at 0, and of those around it in the same session, or else note."""
    origin, note, text = db.execute("SELECT origin, note, text FROM memory WHERE id = ?", (memory,)).get
    # An origin without a session strings together unrelated notes: there only the note itself is context.
    session = not origin.startswith("@")
    near = [(0, memory, text)]
    for beyond, order in (("<", "DESC"), (">", "ASC")):
        rows = db.execute(
            f"SELECT id, note, text FROM memory WHERE origin = ? AND id {beyond} ? AND status NOT IN {HIDDEN}"
            f" ORDER BY id {order} LIMIT {_NEIGHBOURS}",
            (origin, memory),
        )
        near += [(n, other, its) for n, (other, its_note, its) in enumerate(rows, 1) if session or its_note == note]
    return near


def questions(db: apsw.Connection, memory: int) -> list[str]:
    """Return the questions that a model says a memory answers."""
    keywords: str = db.execute("SELECT keywords FROM memory WHERE id = ?", (memory,)).get
    return asked(json.loads(keywords)) if '?"' in keywords else []
