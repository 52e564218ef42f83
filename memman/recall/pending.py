"""Notes that wait to be drained, found by their words. Safe on the hot path.

Only what somebody asked to be remembered: a turn is no memory before the drain has judged it.
"""

import os
import sys

import apsw

from memman.model.terms import stems
from memman.queue.seal import SINCE, SOUND, teach
from memman.recall.confidence import LOW, apposite, confidence, wanted
from memman.recall.hit import Hit
from memman.secrets import masked
from memman.sqlite import open_reader, schema_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memman.recall.query import Query
    from memman.store.filters import Filters

# The newest notes looked at, and the share of the query's words one must hold.
NEWEST = 500
COVERED = 0.5

_WAITING = """
SELECT uid, text, category, importance, entities, source, queued_at, replaces FROM note
WHERE store = ? AND state IN ('pending', 'running', 'parked') AND {kind} ORDER BY id DESC LIMIT ?
"""
# What a newer memman has queued is found, too.
_ANY = 2**31
# A queue that no note was added to since an upgrade may have no channels yet.
_CHANNELS_SINCE = 2


def waiting(path: str, store: str) -> "list[tuple[Any, ...]]":
    """Return the newest notes of `store` that are not drained yet, but for damaged ones.

    Of a queue that cannot be read there is only a warning.
    """
    try:
        db = open_reader(path)
        version = schema_version(db, _ANY, path)
        kind = "channel = 'note'" if version >= _CHANNELS_SINCE else "1"
        if version >= SINCE:
            teach(db)
            kind += f" AND {SOUND}"
        rows = list(db.execute(_WAITING.format(kind=kind), (store, NEWEST))) if version else []
        db.close()
    except (apsw.Error, UnicodeDecodeError) as error:
        if os.path.exists(path):
            sys.stderr.write(f"memman: {path} cannot be read, so queued notes were not searched ({error})\n")
        return []
    return rows


def pending(notes: "list[tuple[Any, ...]]", query: "Query", filters: "Filters") -> list[Hit]:
    """Return hits for the notes that hold enough of the query's words, best first.

    For a question that asks for a time and nothing else, these are the notes of that time.
    """
    asked, wants = stems(query.about or query.text), wanted(query.text)
    hits = []
    for uid, text, category, importance, entities, source, queued_at, _ in notes:
        if not filters.admits(category=category, source=source, recorded_at=queued_at):
            continue
        covered = len(asked & stems(query.told(f"{text} {entities}"))) / len(asked) if asked else 0.0
        if not query.span.holds(queued_at) if query.bare and query.span else covered < COVERED:
            continue
        hit = Hit(0)
        hit.pending, hit.coverage, hit.score = True, covered, covered * query.weight(queued_at)
        hit.confidence = 1.0 if query.bare else confidence(covered, None, apposite(wants, text, asked))
        hit.doubtful = hit.confidence < LOW
        if filters.least is not None and hit.confidence < filters.least:
            continue
        hit.row = (
            0, uid, uid, masked(text), category or "note", importance or 3, "[]", "[]", "", source, "",
            queued_at, None, queued_at, None, "pending", None, 0,
        )  # fmt: skip
        hits.append(hit)
    hits.sort(key=lambda hit: -hit.score)
    return hits
