"""Notes somebody asked to remember that wait for a drain, found by their words. Safe on the hot path."""

import os
import sys
import time

import apsw

from memman.belief import BEYOND, ENDED, HOLDS, allowed
from memman.config.scope import PERSONAL, label, path_of
from memman.model.terms import stems
from memman.model.text import outdated
from memman.model.vocabulary import REMEMBERED
from memman.recall.hit import Hit, confidence
from memman.secrets import masked
from memman.sqlite import Row, open_reader, schema_version
from memman.store import LISTS, MemoryRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.query import Query
    from memman.store.filters import Filters

# The newest notes looked at, and the share of the query's words one must hold.
NEWEST = 500
COVERED = 0.5


class WaitingRow(Row):
    """A note that waits."""

    __slots__ = ()
    uid: str
    text: str
    category: "str | None"
    importance: "int | None"
    entities: str
    source: str
    queued_at: int
    replaces: str
    repository: str
    scope: str
    ends_at: "int | None"


_WAITING = f"""
SELECT {WaitingRow.listed()} FROM note
WHERE store = ? AND state IN ('pending', 'running', 'parked') AND channel IN {REMEMBERED}
ORDER BY id DESC LIMIT ?
"""
# What a newer memman has queued is found, too.
_ANY = 2**31


def waiting(path: str, store: str) -> list[WaitingRow]:
    """Return the newest notes of `store` that wait; a queue that cannot be read gives a warning only."""
    try:
        db = open_reader(path)
        made = schema_version(db, _ANY, path)
        rows = list(map(WaitingRow, db.execute(_WAITING, (store, NEWEST)))) if made else []
        db.close()
    except (apsw.Error, UnicodeDecodeError) as error:
        if os.path.exists(path):
            sys.stderr.write(f"memman: {path} cannot be read, so queued notes were not searched ({error})\n")
        return []
    return rows


def pending(notes: list[WaitingRow], query: "Query", filters: "Filters") -> list[Hit]:
    """Return hits for the notes that hold enough of the query's words, or are of the time it asks for."""
    asked = stems(query.about or query.text)
    hits = []
    for note in notes:
        if not admitted(note, filters):
            continue
        covered = coverage(note, query, asked)
        if not query.span.holds(note.queued_at) if query.bare and query.span else covered < COVERED:
            continue
        sure = 1.0 if query.bare else confidence(None, covered)
        if filters.least is None or sure >= filters.least:
            score = covered * query.weight(note.queued_at)
            told = outdated(note.ends_at, None, time.time_ns() // 1_000_000)
            stands, scope = ENDED if told else HOLDS, _scope(note, filters)
            hits.append(Hit(_memory(note), score, sure, covered, scope=scope, labels=(*told,), standing=stands))
    return sorted(hits, key=lambda hit: -hit.score)


def admitted(note: WaitingRow, filters: "Filters") -> bool:
    """Whether a note passes the filters; of others than the user none is personal."""
    return filters.admits(
        category=note.category,
        source=note.source,
        recorded_at=note.queued_at,
        repository=note.repository,
        scope="" if note.scope == PERSONAL and not allowed(note.source, BEYOND) else note.scope,
    )


def coverage(note: WaitingRow, query: "Query", asked: frozenset[str]) -> float:
    """Return the share of the stems asked for that a note holds."""
    return len(asked & stems(query.told(f"{note.text} {note.entities}"))) / len(asked) if asked else 0.0


def _scope(note: WaitingRow, filters: "Filters") -> str:
    """Say what a note will hold for, if not for all of the repository one is in, or everywhere."""
    folder = path_of(note.scope)
    if note.scope == PERSONAL or not note.repository or not (folder or not filters.mine(note.repository, folder)):
        return ""
    return label(note.repository, folder)


def _memory(note: WaitingRow) -> MemoryRow:
    """Return a note as the memory that it may become, its text without secrets."""
    said = {
        "id": 0,
        "uid": note.uid,
        "note": note.uid,
        "text": masked(note.text),
        "category": note.category or "note",
        "importance": note.importance or 3,
        **dict.fromkeys(LISTS, "[]"),
        "source": note.source,
        "valid_from": note.queued_at,
        "recorded_at": note.queued_at,
        **dict.fromkeys(("valid_to", "retired_at", "superseded_by")),
        "status": "pending",
        "uses": 0,
    }
    return MemoryRow.of(**dict.fromkeys(MemoryRow.columns, "") | said)
