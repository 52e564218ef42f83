"""The drain's and the person's side of queue.db: claim, acknowledge, give back, park, retry, purge."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from memman.clock import now_ms
from memman.config.places import ensure_safe_folder, queue_path
from memman.config.shown import session_ended
from memman.model.errors import AmbiguousId, UnknownId, UsageError
from memman.model.records import Hints, Note, Provenance
from memman.model.vocabulary import REMEMBERED
from memman.queue.schema import open_queue
from memman.secrets.leaks import within
from memman.sqlite import NAMED, Transaction, TranslatedErrors, close

# Failures of a note's own after which it is parked; memman.drain.consequences says which failures those are.
ATTEMPTS = 5
# Waiting time after the n-th transient failure of one note, in seconds; lifted when the provider recovers.
BACKOFF = (0, 0, 0, 60, 120, 240, 480, 900, 1800, 3600)


# What is said of a note that was in flight when a drain died, until it is stored or fails in its own way.
SUSPECT = "a drain was killed while it worked on this note"
# A waiting time further off than any we set means that the clock was turned back.
_LONGEST_MS = 2 * BACKOFF[-1] * 1000
_DONE_KEPT_MS = 7 * 86_400_000
# A conversation is over once nobody has said anything for so long (milliseconds), or after so many turns.
QUIET, MOST = 15 * 60_000, 16
# Queue setting: `on` where a model reads conversations, and drains that nobody waits for leave turns until theirs ends.
TOGETHER = "conversations"
_TALKS = """
SELECT agent, session, count(*) FROM note
WHERE state = 'pending' AND channel = 'turn' AND session <> ''
GROUP BY agent, session HAVING count(*) < ? AND max(queued_at) BETWEEN ? AND ?
"""
WAITS = "a conversation goes on: its turns are read once it ends, or is quiet for 15 minutes"

# Who said a note, in the order of Provenance, and what else a drain takes of one.
_STAMPS = ("source", "agent", "session", "cwd", "repository", "revision", "host", "user")
_CLAIMED = (
    *("id", "uid", "store", "text", "queued_at", "category", "importance", "entities", "replaces", "deferrals"),
    *("channel", "reply", "shown", "scope", "ends_at", "visibility", *_STAMPS),
)
# Whether one that came after it is stored: the drain goes by the order of ids, and looks at times for such alone.
_OVERTAKEN = """EXISTS (SELECT 1 FROM note AS later
WHERE later.store = note.store AND later.id > note.id AND later.state = 'done')"""
# A note that was imported (its uid is a UUIDv8, as that of a turn may be) may be older than what is stored; so may a
# turn that waited.
_IMPORTED, _WAITED = f"channel IN {REMEMBERED} AND substr(uid, 13, 1) = '8'", "channel = 'turn' AND retry_at > 0"
_LATE = f"({_IMPORTED} OR {_WAITED} OR {_OVERTAKEN})"
_NEXT = """
(SELECT id FROM note WHERE state = 'pending' AND {which}
 AND (:store IS NULL OR store = :store) AND store NOT IN (SELECT value FROM json_each(:shut))
 AND NOT (channel = 'turn' AND agent || ' ' || session IN (SELECT value FROM json_each(:talks)))
 ORDER BY {order} LIMIT 1)
"""
_DUE = _NEXT.format(which="id > :after AND (retry_at <= :now OR retry_at > :absurd)", order="id")
# The waiting time is the breaker's now: whichever note has waited longest may go, due or not.
_PROBE = _NEXT.format(which="1", order="retry_at, id")
# What the row itself says, whatever a damaged index does.
_STILL = "+state = 'pending'"
_CLAIM = f"""
UPDATE note SET state = 'running', attempts = attempts + 1, changed_at = :now WHERE id = {{}} AND {_STILL}
RETURNING {", ".join(_CLAIMED)}, {_LATE}
"""
_EMPTIED = "text = '', reply = '', shown = ''"
LISTED = (
    *("uid", "store", "channel", "state", "attempts", "deferrals", "queued_at", "changed_at", "retry_at", "error"),
    "text",
)


# Columns that concern nobody: where a row lies, and what nothing uses any more.
_UNSHOWN = ("id", "digest", "instead", "again")


def provenance(row: Mapping[str, Any]) -> Provenance:
    """Return where a note came from, of its row."""
    return Provenance(*(row[name] for name in _STAMPS))


def _note(row: Mapping[str, Any]) -> Note:
    names = tuple(row["entities"].split("\n")) if row["entities"] else ()
    hints = (row[name] for name in ("replaces", "scope", "ends_at", "visibility"))
    return Note(
        row["uid"],
        row["store"],
        row["text"],
        row["queued_at"],
        Hints(row["category"], row["importance"], names, *hints),
        provenance(row),
        row["deferrals"],
        row["channel"],
        row["reply"],
        tuple(row["shown"].split()),
        bool(row["overtaken"]),
    )


class Queue:
    """queue.db opened for work; its writes wait for no disk, because the stores hold the receipts."""

    def __init__(self, data: str) -> None:
        ensure_safe_folder(data)
        self.path = queue_path(data)
        with TranslatedErrors(self.path):
            self.db = open_queue(self.path, synchronous="NORMAL")
        self._passed = 0

    def close(self) -> None:
        """Truncate the log and close."""
        close(self.db, self.path)

    def rescue(self) -> int:
        """Give back notes left running by a dead drain, as suspects; one that was alone has spent its attempt."""
        with TranslatedErrors(self.path), Transaction(self.db):
            running = int(self.db.execute("SELECT count(*) FROM note WHERE state = 'running'").get)
            spared = 1 if running > 1 else 0
            sql = "UPDATE note SET state = 'pending', error = ?, attempts = attempts - ? WHERE state = 'running'"
            self.db.execute(sql, (SUSPECT, spared))
        return running

    def suspects(self) -> dict[str, str]:
        """Return the stores of the notes, by uid, one of which may have killed a drain: they are tried one by one."""
        return dict(self._ask("SELECT uid, store FROM note WHERE state = 'pending' AND error = ?", (SUSPECT,)))

    def park_spent(self) -> int:
        """Park notes whose last attempt never came to an end: they kill the drain that touches them."""
        return self._run(
            "UPDATE note SET state = 'parked', changed_at = ?, error = 'the worker was killed at every attempt'"
            " WHERE state = 'pending' AND attempts >= ?",
            (now_ms(), ATTEMPTS),
        )

    def claim(
        self, store: str | None = None, shut: Iterable[str] = (), talks: Iterable[str] = (), *, probe: bool = False
    ) -> Note | None:
        """Take the oldest note that is due, or with `probe` any, once; none of `shut` stores, no turn of `talks`."""
        now = now_ms()
        values = {
            "after": self._passed,
            "now": now,
            "absurd": now + _LONGEST_MS,
            "store": store,
            "shut": _json_list(shut),
            "talks": _json_list(talks),
        }
        with TranslatedErrors(self.path), Transaction(self.db):
            found = self.db.execute(_CLAIM.format(_PROBE if probe else _DUE), values).get
        if found is None:
            return None
        row = dict(zip((*_CLAIMED, "overtaken"), found, strict=True))
        if not probe:
            self._passed = row["id"]
        return _note(row)

    def rewind(self) -> None:
        """Let notes that came up already come up again."""
        self._passed = 0

    def done(self, uid: str) -> None:
        """Acknowledge a note that its store holds a receipt for; its text goes."""
        with TranslatedErrors(self.path), Transaction(self.db):
            self.db.execute(
                "UPDATE note SET state = 'done', changed_at = ?, error = ''"
                " WHERE uid = ? AND state IN ('running', 'pending')",
                (now_ms(), uid),
            )
            self.db.execute(f"UPDATE note SET {_EMPTIED} WHERE uid = ? AND state = 'done'", (uid,))
            self.db.execute("DELETE FROM journal WHERE note = ?", (uid,))

    def release(self, uid: str, error: str = "") -> None:
        """Give a note back untried: the drain was asked to stop, or has to by an error that is not the note's."""
        self._run(
            "UPDATE note SET state = 'pending', attempts = attempts - 1, error = iif(?1 = '', error, ?1)"
            " WHERE uid = ?2 AND state = 'running'",
            (error, uid),
        )

    def defer(self, uid: str, error: str) -> None:
        """Give a note back after a transient failure: no attempt is spent, only time."""
        now = now_ms()
        waits = " ".join(f"WHEN {n} THEN {seconds * 1000}" for n, seconds in enumerate(BACKOFF))
        self._run(
            "UPDATE note SET state = 'pending', attempts = attempts - 1, deferrals = deferrals + 1, error = ?,"
            f" changed_at = ?, retry_at = ? + CASE deferrals {waits} ELSE {BACKOFF[-1] * 1000} END"
            " WHERE uid = ? AND state = 'running'",
            (error, now, now, uid),
        )

    def fail(self, uid: str, error: str) -> bool:
        """Give a note back after a failure of its own; True when that was the last attempt and it is parked."""
        sql = (
            "UPDATE note SET state = CASE WHEN attempts >= ? THEN 'parked' ELSE 'pending' END, error = ?,"
            " changed_at = ? WHERE uid = ? AND state = 'running' RETURNING state"
        )
        return self._ask(sql, (ATTEMPTS, error, now_ms(), uid)) == [("parked",)]

    def hurry(self) -> int:
        """Lift all waiting times: the provider has recovered."""
        return self._run("UPDATE note SET retry_at = 0 WHERE state = 'pending' AND retry_at > 0")

    def counts(self) -> dict[str, int]:
        """Count notes by state."""
        return dict(self._ask("SELECT state, count(*) FROM note GROUP BY state"))

    def oldest(self) -> int | None:
        """Return when the oldest waiting note was queued."""
        found = self._ask("SELECT queued_at FROM note WHERE state IN ('pending', 'running') ORDER BY id LIMIT 1")
        return found[0][0] if found else None

    def waiting(self, store: str | None = None) -> int:
        """Count notes that are pending or running."""
        sql = "SELECT count(*) FROM note WHERE state IN ('pending', 'running') AND (?1 IS NULL OR store = ?1)"
        return int(self._ask(sql, (store,))[0][0])

    def listed(self, states: tuple[str, ...], limit: int) -> list[dict[str, Any]]:
        """Return the newest notes in `states`, as dicts of LISTED."""
        where = "state IN (SELECT value FROM json_each(?))"
        sql = f"SELECT {', '.join(LISTED)} FROM note WHERE {where} ORDER BY id DESC LIMIT ?"
        return [dict(zip(LISTED, row, strict=True)) for row in self._ask(sql, (_json_list(states), limit))]

    def find(self, part: str) -> str:
        """Return the uid of the note that a beginning or an ending names. Raises UnknownId and AmbiguousId."""
        if not part.isalnum():
            raise UsageError(f"{part[:40]!a} is not an id")
        found = self._ask(f"SELECT uid FROM note WHERE {NAMED.format('uid')} LIMIT 2", (part.lower(),))
        if not found:
            raise UnknownId(f"no note has the id {part}")
        if len(found) > 1:
            raise AmbiguousId(f"several notes have ids like {part}: give more characters")
        return str(found[0][0])

    def show(self, uid: str) -> dict[str, Any]:
        """Return what there is of a note, and the stages its journal holds."""
        names = self._columns()
        (row,) = self._ask(f"SELECT {', '.join(names)} FROM note WHERE uid = ?", (uid,))
        stages = [stage for (stage,) in self._ask("SELECT stage FROM journal WHERE note = ?", (uid,))]
        return dict(zip(names, row, strict=True)) | {"journal": stages}

    def retry(self, uid: str) -> bool:
        """Send a parked note round again; False when it is not parked."""
        sql = (
            "UPDATE note SET state = 'pending', attempts = 0, deferrals = 0, retry_at = 0, error = '',"
            " changed_at = ? WHERE uid = ? AND state = 'parked'"
        )
        return self._run(sql, (now_ms(), uid)) == 1

    def purge(self, state: str, older_ms: int = 0) -> int:
        """Delete notes that are done or parked, and were so `older_ms` ago."""
        return self._run("DELETE FROM note WHERE state = ? AND changed_at <= ?", (state, now_ms() - older_ms))

    def drop(self, uid: str) -> None:
        """Take a note out of the queue: it was forgotten, and its store holds a receipt that says so."""
        with TranslatedErrors(self.path), Transaction(self.db):
            self.db.execute("DELETE FROM note WHERE uid = ?", (uid,))
            self.db.execute("DELETE FROM journal WHERE note = ?", (uid,))

    def put_back(self, rows: Iterable[Mapping[str, Any]], store: str = "") -> list[str]:
        """Have notes that do not wait yet wait again, for `store` or their own; return the store of each that does."""
        waits = []
        with TranslatedErrors(self.path), Transaction(self.db):
            for row in rows:
                state = "parked" if row["state"] == "parked" else "pending"
                again = {**row, "store": store or row["store"], "state": state, "retry_at": 0}
                names, marks = ", ".join(again), ", ".join(f":{name}" for name in again)
                self.db.execute("DELETE FROM note WHERE uid = ? AND state = 'done'", (row["uid"],))
                self.db.execute(f"INSERT INTO note({names}) VALUES ({marks}) ON CONFLICT DO NOTHING", again)
                if self.db.changes():
                    waits.append(again["store"])
        return waits

    def maintain(self) -> None:
        """Drop what nobody needs any more: old done notes, each store's last apart, and journals of what is gone."""
        self._run(
            f"DELETE FROM note WHERE state = 'done' AND changed_at <= ? AND {_OVERTAKEN}", (now_ms() - _DONE_KEPT_MS,)
        )
        self._run("DELETE FROM journal WHERE note NOT IN (SELECT uid FROM note WHERE state <> 'done')")

    def meta(self, key: str) -> str:
        """Return a remembered value, '' when there is none."""
        return "".join(value for (value,) in self._ask("SELECT value FROM meta WHERE key = ?", (key,)))

    def set_meta(self, key: str, value: str) -> None:
        """Remember a value between drains, without secrets: a provider's error may repeat one."""
        self._run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, within(value)))

    def _columns(self) -> list[str]:
        return [name for (name,) in self._ask("SELECT name FROM pragma_table_info('note')") if name not in _UNSHOWN]

    def _ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with TranslatedErrors(self.path):
            return self.db.execute(sql, values).fetchall()

    def _run(self, sql: str, values: tuple[Any, ...] | dict[str, Any] = ()) -> int:
        with TranslatedErrors(self.path):
            self.db.execute(sql, values)
            return self.db.changes()


def going_on(db: apsw.Connection, data: str) -> dict[str, int]:
    """Return the conversations that go on, as 'agent session', and how many turns of each wait."""
    now = now_ms()
    return {
        f"{agent} {session}": turns
        for agent, session, turns in db.execute(_TALKS, (MOST, now - QUIET, now + QUIET))
        if not session_ended(data, agent, session)
    }


def _json_list(values: Iterable[str]) -> str:
    return json.dumps(list(values))
