"""Reads for people: lists, counts, chains, the log. Everything comes back as dicts with the columns' own names."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from memman.belief import Statement, outlasts, waits
from memman.clock import now_ms
from memman.config.scope import label
from memman.model.names import expression, mentions
from memman.model.records import Scope
from memman.model.terms import stems
from memman.model.text import without_questions
from memman.model.vocabulary import HIDDEN, JUDGE
from memman.sqlite import LISTED, TranslatedErrors, id_list
from memman.store import MemoryRow
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.schema import migrate
from memman.store.sqlite.scopes import PERSONAL

RECEIPT = ("note", "at", "outcome", "facts", "agent", "session", "cwd", "repository", "revision", "host", "user")
MADE_BY = ("drain", "models")
LOG = ("id", "at", "verb", "memory", "note", "before", "after")
FINGERPRINT = ("provider", "model", "dimension", "vectors")
_MEMORY = f"SELECT {MemoryRow.listed()} FROM memory"
# What may be counted, and among which rows.
_TALLIES = {
    "category": "SELECT category, count(*) FROM memory WHERE status = 'current' GROUP BY 1 ORDER BY 2 DESC, 1",
    "status": "SELECT status, count(*) FROM memory GROUP BY 1 ORDER BY 1",
    "edge": "SELECT kind, count(*) FROM edge GROUP BY 1 ORDER BY 1",
}
# Memories with the words of a name that are looked through for it.
_MOST_MENTIONS = 10_000
# A chain longer than this is shown in part.
_LONGEST_CHAIN = 200
# What superseded what (new, old): as it is now, and as the log tells that it once was.
_NOW = "SELECT superseded_by, id FROM memory WHERE superseded_by IS NOT NULL"
_ONCE = (
    "SELECT n.id, m.id FROM record r JOIN memory m ON m.uid = r.memory"
    " JOIN memory n ON n.uid = r.body ->> '$.now.superseded_by' WHERE r.kind = 'related'"
)
# Verbs that change neither what a memory says nor how it stands.
_QUIET = "('confirm', 'feedback', 'link')"
# The memories of notes that a beginning names, by the index of shown digits and by that of receipts.
_NOTED = (
    "SELECT id FROM memory WHERE substr(note, -8) >= ?1 AND substr(note, -8) < ?2 UNION"
    " SELECT m.id FROM receipt r JOIN memory m ON substr(m.note, -8) = substr(r.note, -8) AND m.note = r.note"
    " WHERE r.note >= ?1 AND r.note < ?2 ORDER BY 1 LIMIT ?3"
)
_MOST_NAMED = 1000
# The lines of the log, but for those of each memory that an undo changed.
_ONE_LINE = "(verb <> 'undo' OR memory = act)"
# What a person, or `insights archive --least`, put out of recall as least worth keeping: a status only as it is listed.
ARCHIVED = "archived"
_ARCHIVED = (
    "'archive' = (SELECT verb FROM log WHERE log.memory = memory.uid AND verb IN ('forget', 'archive')"
    " ORDER BY id DESC LIMIT 1)"
)
_BY = {
    "session": "note IN (SELECT note FROM receipt WHERE session = ?1)",
    "source": "source = ?1",
    "scope": (
        "coalesce((SELECT repository FROM scoped JOIN scope ON scope.id = scope WHERE memory = memory.id), '') = ?1"
    ),
}


def _log_record(row: Sequence[Any]) -> dict[str, Any]:
    record = dict(zip(LOG, row, strict=True))
    return record | {side: json.loads(record[side] or "null") for side in ("before", "after")}


class Catalogue:
    """One store, opened to be looked at. A store without a file yet reads as an empty one."""

    def __init__(self, reader: SqliteReader, path: str) -> None:
        self.reader, self.path = reader, path

    @classmethod
    @contextmanager
    def open(cls, path: str) -> Iterator["Catalogue"]:
        """Open the store at `path` read-only. Raises NewerSchema, DamagedFile and CannotWrite."""
        with TranslatedErrors(path):
            reader = SqliteReader.open(path) or _empty()
            try:
                yield cls(reader, path)
            finally:
                reader.close()

    def size(self) -> int:
        """Return the bytes on disk, the write-ahead log included."""
        return sum(os.path.getsize(name) for name in (self.path, self.path + "-wal") if os.path.exists(name))

    def tally(self, what: str) -> dict[str, int]:
        """Count current memories by category, all memories by status, or edges by kind."""
        return dict(self.reader.db.execute(_TALLIES[what]))

    def listed(
        self,
        *,
        limit: int,
        status: str = "current",
        category: str | None = None,
        source: str | None = None,
        since: int | None = None,
        until: int | None = None,
        scopes: frozenset[int] | None = None,
    ) -> list[dict[str, Any]]:
        """Return memories, newest first; `status` 'all' means every one, ARCHIVED those forgotten for their worth."""
        stands = {"all": None, ARCHIVED: "forgotten"}.get(status, status)
        asked = {
            "category = ?": category,
            "source = ?": source,
            "status = ?": stands,
            "valid_from >= ?": since,
            "valid_from < ?": until,
            f"coalesce((SELECT scope FROM scoped WHERE memory = memory.id), {PERSONAL}) {LISTED}": scopes
            and id_list(scopes),
        }
        said = {sql: value for sql, value in asked.items() if value is not None}
        where = " AND ".join([*said, *([_ARCHIVED] if status == ARCHIVED else [])]) or "1"
        return self._memories(f"{_MEMORY} WHERE {where} ORDER BY id DESC LIMIT ?", (*said.values(), limit))

    def memories(self, ids: Sequence[int]) -> list[dict[str, Any]]:
        """Return the memories of `ids`, in their order."""
        rows = self.reader.rows(ids)
        return self._records([rows[memory] for memory in ids if memory in rows])

    def scopes(self) -> list[tuple[Scope, int]]:
        """Return each scope with how many current memories it has, what holds everywhere first."""
        sql = (
            "SELECT repository, path, (SELECT count(*) FROM scoped JOIN memory m ON m.id = memory"
            " WHERE scope = scope.id AND m.status = 'current') FROM scope ORDER BY repository, path"
        )
        rows = self.reader.db.execute(sql)
        return [(Scope(repository, path), count) for repository, path, count in rows]

    def named(self, part: str) -> list[tuple[int, str, str]]:
        """Return (row, uid, note) of memories whose uid begins with `part`, or whose note it names as shown."""
        values = (part, part[:-1] + chr(ord(part[-1]) + 1), _MOST_NAMED)
        noted = [memory for (memory,) in self.reader.db.execute(_NOTED, values)]
        rows = self.reader.rows([*(memory for memory, _ in self.reader.found(part)), *noted])
        return [(row.id, row.uid, row.note) for row in rows.values()]

    def receipt(self, note: str) -> dict[str, Any] | None:
        """Return what the store recorded about a note and where it came from."""
        names = RECEIPT + MADE_BY
        row = self.reader.db.execute(f"SELECT {', '.join(names)} FROM receipt WHERE note = ?", (note,)).get
        return dict(zip(names, row, strict=True)) if row else None

    def predecessors(self, memory: int) -> list[dict[str, Any]]:
        """Return everything that `memory` took the place of, at first or second hand, oldest first."""
        return self._chain(
            "SELECT id FROM memory WHERE superseded_by = ? UNION"
            " SELECT m.id FROM memory m JOIN chain c ON m.superseded_by = c.id",
            memory,
        )

    def successors(self, memory: int) -> list[dict[str, Any]]:
        """Return what took the place of `memory`, and of that, oldest first."""
        return self._chain(
            "SELECT superseded_by FROM memory WHERE id = ? AND superseded_by IS NOT NULL UNION"
            " SELECT m.superseded_by FROM memory m JOIN chain c ON m.id = c.id WHERE m.superseded_by IS NOT NULL",
            memory,
        )

    def versions(self, memory: int) -> list[dict[str, Any]]:
        """Return a memory, all that it took the place of and all that took its own, now or once, oldest first."""
        sql = (
            f"WITH RECURSIVE step(new, old) AS MATERIALIZED ({_NOW} UNION {_ONCE}),"
            f" before(id) AS (VALUES (?1) UNION SELECT old FROM before JOIN step ON new = id LIMIT {_LONGEST_CHAIN}),"
            f" after(id) AS (VALUES (?1) UNION SELECT new FROM after JOIN step ON old = id LIMIT {_LONGEST_CHAIN})"
            f" {_MEMORY} WHERE id IN (SELECT id FROM before UNION SELECT id FROM after) ORDER BY valid_from, id"
        )
        return self._memories(sql, (memory,))

    def doubtful(self) -> dict[int, int]:
        """Return the memories in force that are maybe replaced, newest first, each with what by."""
        found, known = self._marked()
        return {old: new for old, new in found.items() if waits(known[old], known[new])}

    def behind(self) -> dict[int, int]:
        """Return the memories in force that stand behind what holds only for a while, and less long than they."""
        found, known = self._marked()
        return {old: new for old, new in found.items() if outlasts(known[old].ends_at, known[new].ends_at)}

    def pairs(self) -> set[tuple[int, int]]:
        """Return (older, newer) of all that was ever marked so and still is, also by what has ended since."""
        return set(self.reader.db.execute("SELECT memory, maybe FROM mark WHERE maybe IS NOT NULL"))

    def _marked(self) -> tuple[dict[int, int], dict[int, Statement]]:
        """Return what stands in the place of each memory in force that is marked, and what these are believed by."""
        sql = (
            "SELECT m.id FROM mark JOIN memory m ON m.id = memory WHERE maybe IS NOT NULL AND m.status = 'current'"
            " ORDER BY m.id DESC"
        )
        rows = [row for (row,) in self.reader.db.execute(sql)]
        newer = self.reader.newer(rows)
        found = {row: newer[row][0] for row in rows if row in newer}
        return found, self.reader.statements({*found, *found.values()})

    def around(self, memory: int, before: int, after: int) -> list[tuple[int, int]]:
        """Return (valid_from, id) of a memory amid those that came to hold before and after it, no hidden ones."""
        at = self.reader.began([memory])[memory]
        earlier = self._nearest(at, memory, before, later=False)
        here = [(at, memory)] if self.memories([memory])[0]["status"] not in HIDDEN else []
        return [*reversed(earlier), *here, *self._nearest(at, memory, after, later=True)]

    def latest(self, until: int | None, count: int) -> list[tuple[int, int]]:
        """Return (valid_from, id) of the newest memories that came to hold before a moment, the newest last."""
        return [*reversed(self._nearest(until or 2**62, 0, count, later=False))]

    def _nearest(self, moment: int, memory: int, count: int, *, later: bool) -> list[tuple[int, int]]:
        """Return (when it began, id) of the `count` memories that began just before, or after, one; hidden ones not.

        A `memory` of 0 stands before all of its moment.
        """
        than, order = (">", "") if later else ("<", " DESC")
        sql = (
            f"SELECT valid_from, id FROM memory WHERE (valid_from, id) {than} (?, ?) AND status NOT IN {HIDDEN}"
            f" ORDER BY valid_from{order}, id{order} LIMIT ?"
        )
        return list(self.reader.db.execute(sql, (moment, memory, count)))

    def about(self, names: Sequence[str], filters: Filters, limit: int) -> list[int]:
        """Return the newest memories that mention one of `names` in their text, or as an entity."""
        found: set[int] = set()
        for name in names:
            match = expression(name)
            named = self.reader.rows(self.reader.matched(match, Filters(), _MOST_MENTIONS)) if match else {}
            found |= {row for row, one in named.items() if mentions(one.text, name) or mentions(one.entities, name)}
        return sorted(self.reader.filtered(found, filters), reverse=True)[:limit]

    def edge_counts(self, memory: int) -> dict[str, int]:
        """Count the edges at `memory` by kind."""
        counts: dict[str, int] = {}
        for edge in self.reader.edges([memory]):
            counts[edge.kind] = counts.get(edge.kind, 0) + 1
        return counts

    def log(self, *, limit: int, since: int | None = None, memory: str | None = None) -> list[dict[str, Any]]:
        """Return the newest log lines, newest first, each with the fields that changed.

        An undo is one line, but for who asks about a `memory` that it changed.
        """
        where = (
            f"{_ONE_LINE} AND (?1 IS NULL OR at >= ?1)" if memory is None else "memory = ?2 AND at >= coalesce(?1, 0)"
        )
        sql = f"SELECT {', '.join(LOG)} FROM log WHERE {where} ORDER BY at DESC, id DESC LIMIT ?3"
        return [_log_record(row) for row in self.reader.db.execute(sql, (since, memory, limit))]

    def log_days(self, *, since: int | None = None) -> dict[str, dict[str, int]]:
        """Count log lines by day, newest first, and verb."""
        sql = (
            "SELECT date(at / 1000, 'unixepoch', 'localtime'), verb, count(*) FROM log"
            f" WHERE {_ONE_LINE} AND (?1 IS NULL OR at >= ?1) GROUP BY 1, 2 ORDER BY 1 DESC, 2"
        )
        days: dict[str, dict[str, int]] = {}
        for day, verb, count in self.reader.db.execute(sql, (since,)):
            days.setdefault(day, {})[verb] = count
        return days

    def came(self, since: int) -> dict[int, str]:
        """Return the memories recorded since then, newest first, each with its day (local time); forgotten ones not."""
        sql = (
            "SELECT id, date(recorded_at / 1000, 'unixepoch', 'localtime') FROM memory"
            " WHERE recorded_at >= ? AND status <> 'forgotten' ORDER BY recorded_at DESC, id DESC"
        )
        return dict(self.reader.db.execute(sql, (since,)))

    def changed(self, since: int) -> dict[int, tuple[str, ...]]:
        """Return the memories with log lines since then, by the first, each with the verbs of its lines."""
        sql = (
            "SELECT m.id, l.verb FROM log l JOIN memory m ON m.uid = l.memory"
            f" WHERE l.at >= ? AND l.verb NOT IN {_QUIET} ORDER BY l.id"
        )
        verbs: dict[int, tuple[str, ...]] = {}
        for row, verb in self.reader.db.execute(sql, (since,)):
            verbs[row] = (*verbs.get(row, ()), verb)
        return verbs

    def fingerprints(self) -> list[dict[str, Any]]:
        """Return what made the store's vectors, and how many there are of each."""
        sql = (
            "SELECT provider, model, dimension, (SELECT count(*) FROM vector v WHERE v.embedder = e.id)"
            f" FROM embedder e WHERE provider != '{JUDGE}' ORDER BY id"
        )
        return [dict(zip(FINGERPRINT, row, strict=True)) for row in self.reader.db.execute(sql)]

    def _chain(self, steps: str, memory: int) -> list[dict[str, Any]]:
        sql = f"WITH RECURSIVE chain(id) AS ({steps} LIMIT {_LONGEST_CHAIN}) SELECT id FROM chain"
        ids = id_list(found for (found,) in self.reader.db.execute(sql, (memory,)))
        return self._memories(f"{_MEMORY} WHERE id {LISTED} ORDER BY valid_from, id", (ids,))

    def _memories(self, sql: str, values: tuple[Any, ...]) -> list[dict[str, Any]]:
        return self._records([MemoryRow(row) for row in self.reader.db.execute(sql, values)])

    def _records(self, rows: Sequence[MemoryRow]) -> list[dict[str, Any]]:
        """Name the columns of memories, read their lists, and say scope, unconfirmed and verified."""
        scopes = self.reader.scope_of(row.id for row in rows)
        fresh = freshness(self.reader, (row.id for row in rows))
        known = self.reader.statements(row.id for row in rows)
        return [
            row.record()
            | {"entities": json.loads(row.entities), "keywords": without_questions(json.loads(row.keywords))}
            | {"scope": label(*scopes[row.id]) if row.id in scopes else "", "unconfirmed": known[row.id].lone}
            | {"verified": known[row.id].looked_at}
            | fresh[row.id]
            for row in rows
        ]


def freshness(reader: SqliteReader, ids: Iterable[int]) -> dict[int, dict[str, int | None]]:
    """Return until when each memory holds, and since when a file that it names differs; None where nothing is known."""
    ids = list(ids)
    ends, changed = reader.ends(ids), reader.changed_files(ids, now_ms())
    return {row: {"ends_at": ends.get(row), "file_changed_at": changed.get(row)} for row in ids}


def _empty() -> SqliteReader:
    db = apsw.Connection(":memory:")
    migrate(db, ":memory:")
    return SqliteReader(db)


def chosen_by(db: apsw.Connection, by: str, value: str) -> list[str]:
    """Return the uids of memories by `session`, `source` or `scope` (a repository), hidden ones too."""
    return [uid for (uid,) in db.execute(f"SELECT uid FROM memory WHERE {_BY[by]} ORDER BY id", (value,))]


def saying(db: apsw.Connection, query: str) -> list[str]:
    """Return the uids of memories, hidden ones too, whose text or names have all words of a query."""
    return those_saying(db.execute("SELECT uid, concat_ws(' ', text, entities, keywords) FROM memory"), query)


def those_saying(texts: Iterable[tuple[str, str]], query: str) -> list[str]:
    """Return the ids of the texts that have all words of a query, in whatever form."""
    asked = stems(query)
    return [uid for uid, text in texts if asked and asked <= stems(text)]
