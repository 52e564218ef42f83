"""queue.db opened only to be looked at: nothing is created, nothing is written."""

import json
import os
from collections.abc import Sequence
from typing import Any

from memman.config.places import queue_path
from memman.model.objects import parsed
from memman.queue.notes import TOGETHER, Queue, going_on
from memman.queue.schema import look
from memman.sqlite import NAMED, TranslatedErrors

WAITING = ("pending", "running", "parked")


class QueueView(Queue):
    """The reading half of the queue; where there is no file yet, an empty one."""

    def __init__(self, data: str) -> None:
        self.path = queue_path(data)
        with TranslatedErrors(self.path):
            self.db = look(self.path)

    def hold(self) -> None:
        """Show, until it is closed, what waits at this moment, whatever others do."""
        with TranslatedErrors(self.path):
            self.db.execute("BEGIN")
            self.db.execute("SELECT 1 FROM note LIMIT 1").get  # noqa: B018 - the first read is what holds it

    def close(self) -> None:
        """Close."""
        self.db.close()

    def named(self, store: str, part: str) -> list[str]:
        """Return the notes of `store` that wait and that `part` names, as a catalogue's `named` says."""
        sql = (
            f"SELECT uid FROM note WHERE store = ?2 AND state <> 'done' AND {NAMED.format('uid')} ORDER BY id LIMIT 10"
        )
        return [str(uid) for (uid,) in self._ask(sql, (part, store))]

    def of(self, store: str) -> list[str]:
        """Return the notes of `store` that wait, parked ones too, oldest first."""
        sql = "SELECT uid FROM note WHERE store = ? AND state <> 'done' ORDER BY id"
        return [str(uid) for (uid,) in self._ask(sql, (store,))]

    def sessions(self, store: str) -> list[str]:
        """Return the sessions of which notes wait for `store`."""
        sql = "SELECT DISTINCT session FROM note WHERE store = ? AND state <> 'done' AND session <> ''"
        return [str(session) for (session,) in self._ask(sql, (store,))]

    def rows(
        self, store: str, *, session: str | None = None, since: int | None = None, uids: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return notes that wait for `store`, as `put_back` takes them: of a session, since a moment, or some."""
        names = self._columns()
        sql = (
            f"SELECT {', '.join(names)} FROM note WHERE store = ?1 AND state <> 'done' AND (?2 IS NULL OR session = ?2)"
            " AND (?3 IS NULL OR queued_at >= ?3) AND (?4 IS NULL OR uid IN (SELECT value FROM json_each(?4)))"
        )
        values = (store, session, since, None if uids is None else json.dumps(list(uids)))
        return [dict(zip(names, row, strict=True)) for row in self._ask(sql, values)]

    def last_drain(self) -> dict[str, Any]:
        """Return what the last drain that came to its end did."""
        return parsed(self.meta("last_drain")) or {}

    def due(self) -> int:
        """Count the notes that a drain nobody waits for would work on."""
        talks = going_on(self.db, os.path.dirname(self.path)) if self.meta(TOGETHER) else {}
        return self.waiting() - sum(talks.values())

    def why(self) -> str:
        """Return why notes wait, as far as the last drain and the notes themselves say, '' where nothing is amiss."""
        if failing := self.meta("breaker"):
            return f"the provider failed: {failing}"
        last = self.last_drain()
        if last.get("exit_code") and last.get("errors"):
            return str(last["errors"][0])
        sql = "SELECT error FROM note WHERE state = 'pending' AND error <> '' ORDER BY changed_at DESC LIMIT 1"
        return "".join(error for (error,) in self._ask(sql))

    def stored(self) -> dict[str, dict[str, int]]:
        """Return by store the notes that it was given to keep, and when (Unix milliseconds)."""
        found: dict[str, dict[str, int]] = {}
        for store, uid, at in self._ask("SELECT store, uid, changed_at FROM note WHERE state = 'done' AND error = ''"):
            found.setdefault(store, {})[uid] = at
        return found
