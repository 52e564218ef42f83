"""Taking back what notes did to a store, and taking that back again. Functions run inside their caller's transaction.

The memories that the notes made are forgotten, and rows that they changed say again what they said before: what each
changed stands with its receipt (see `images`), and what an undo changes stands in the undo's own record. A row that
somebody has changed since is left as it is.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any

import apsw

from memman.model.vocabulary import CLAIMS, HIDDEN, MAYBE, REPLACED, SPREAD
from memman.sqlite import LISTED, id_list
from memman.store.sqlite import acts, images
from memman.store.sqlite.images import Image, Record, Values
from memman.store.sqlite.unit import SqliteUnit

_CHANGED = "was changed since"
_INHERITED = "is still superseded, by what came after it"
_PURGED = "is left as it is: what had taken its place was purged"
_HOLDS = ["current", None, None, None]


class Work:
    """An undo at work: `made` are the rows of the memories that go, `left` what is left as it is, and why."""

    def __init__(self, unit: SqliteUnit, made: Collection[int] = ()) -> None:
        self.unit, self.db, self.made = unit, unit.db, set(made)
        self.record = unit.record = Record(unit.db)
        self.left: dict[int, str] = {}

    def take_back(self, notes: Collection[str], at: int) -> None:
        """Undo what `notes` did: all that they made is forgotten, all that they changed is as before."""
        self.made |= _made(self.db, notes)
        for note in _newest_first(self.db, notes):
            self.reverse(_changed(self.db, note))
        self._let_hold()
        for memory in sorted(self.made):
            status, valid_to, retired_at, by = images.read(self.db, "memory", [memory]) or ("forgotten", 0, 0, None)
            if status != "forgotten":
                self._put("memory", [memory], ["forgotten", valid_to, retired_at or at, by])

    def bring_back(self, memories: Collection[int]) -> None:
        """Undo that memories were forgotten: each stands as it did before."""
        for memory in memories:
            status, valid_to, retired_at, by = images.read(self.db, "memory", [memory]) or _HOLDS
            if status == "forgotten":
                self._put("memory", [memory], ["superseded", valid_to, retired_at, by] if by else _HOLDS)

    def unreport(self, reports: Collection[acts.Report]) -> None:
        """Drop what was reported of memories."""
        for report in reports:
            self._put("evidence", list(report), None)

    def reverse(self, done: Sequence[Image]) -> None:
        """Have rows say what they said before, where they still say what they said afterwards, the last one first."""
        for table, key, before, after in reversed(done):
            now = images.read(self.db, table, key)
            if images.alike(table, now, after):
                self._put(table, key, self._before(key, before, after) if table == "memory" else before)
            elif table == "meta" and str(key[0]).startswith(SPREAD):
                self._put(table, key, [shifted(*((one or ["[]"])[0] for one in (now, before, after)))])
            elif not images.alike(table, now, before):
                self._leave(table, key)

    def settled(self) -> dict[int, tuple[str, str]]:
        """Put what is hidden now, or is no more, where it belongs; return (was, is) of each status that changed."""
        found = [(row, before[0], after[0]) for table, (row, *_), before, after in self.images() if table == "memory"]
        self.unit.settle([row for row, was, now in found if (was in HIDDEN) != (now in HIDDEN)])
        return {row: (was, now) for row, was, now in found if was != now}

    def images(self) -> list[Image]:
        """Return what the undo has changed."""
        return self.record.images()

    def _let_hold(self) -> None:
        """Let what is still superseded by what goes hold again, and drop marks that name it, or what it contradicts.

        A store from before receipts told what their notes changed knows it only by this.
        """
        where = f"superseded_by {LISTED} AND status = 'superseded' AND id NOT IN (SELECT value FROM json_each(?))"
        listed = id_list(self.made)
        for (old,) in self.db.execute(f"SELECT id FROM memory WHERE {where}", (listed, listed)).fetchall():
            if old not in self.left:
                self._put("memory", [old], self._before([old], _HOLDS, images.read(self.db, "memory", [old])))
        sql = f"SELECT key FROM meta WHERE key GLOB '{MAYBE}*' AND value IN (SELECT uid FROM memory WHERE id {LISTED})"
        said = f"SELECT key FROM meta JOIN memory m ON key = '{CLAIMS}' || m.uid WHERE m.id {LISTED}"
        for (key,) in (*self.db.execute(sql, (listed,)).fetchall(), *self.db.execute(said, (listed,)).fetchall()):
            self._put("meta", [key], None)

    def _before(self, key: list[Any], before: Values, after: Values) -> Values:
        """Return what a memory said, or that it gives way to the successor of what took its place and goes."""
        heir = self._heir(after[3]) if after and after[3] in self.made else None
        if after and heir and key[0] not in self.made:
            self.left[key[0]] = _INHERITED
            return [*after[:3], heir]
        if before and before[3] and not images.read(self.db, "memory", [before[3]]):
            self.left[key[0]] = _PURGED
            return after
        return before

    def _heir(self, gone: int) -> int | None:
        """Return what took the place of a memory that goes, and does not go itself."""
        memory: int | None = gone
        seen: set[int | None] = set()
        while memory in self.made and memory not in seen:
            seen.add(memory)
            by: Any = (images.read(self.db, "memory", [memory]) or _HOLDS)[3]
            memory = by
        return memory if memory and memory not in self.made else None

    def _put(self, table: str, key: list[Any], values: Values) -> None:
        if values is None or self._there(table, key, values):
            self.record.about(table, *key)
            images.write(self.db, table, key, values)

    def _there(self, table: str, key: list[Any], values: list[Any]) -> bool:
        """Whether all memories that a row names are there: some may have been purged."""
        if table == "meta" and key[0].startswith(MAYBE):
            return all(_row(self.db, uid) for uid in (key[0].removeprefix(MAYBE), values[0]))
        if table == "meta" and key[0].startswith(CLAIMS):
            return all(_row(self.db, uid) for uid in (key[0].removeprefix(CLAIMS), *json.loads(values[0])))
        named = images.named(table, key)
        if table == "meta" and key[0].startswith(REPLACED):
            named = [int(values[0].split()[0])]
        return all(images.read(self.db, "memory", [memory]) for memory in named)

    def _leave(self, table: str, key: list[Any]) -> None:
        """Take note of the memory that is left as it is."""
        row = _row(self.db, str(key[0]).removeprefix(MAYBE).removeprefix(CLAIMS)) if table == "meta" else key[0]
        if row and row not in self.made:
            self.left[row] = _CHANGED


def shifted(now: str, before: str, after: str) -> str:
    """Return a spread [count, mean, sum of squares] without what took it from `before` to `after`."""
    sums = [_moments(json.loads(one)) for one in (now, before, after)]
    count, total, squares = (x + y - z for x, y, z in zip(*sums, strict=True))
    if count <= 0:
        return "[0,0.0,0.0]"
    mean = total / count
    return json.dumps([count, round(mean, 6), round(max(squares - count * mean * mean, 0.0), 6)])


def _moments(spread: Sequence[float]) -> tuple[float, float, float]:
    count, mean, squares = spread or (0, 0.0, 0.0)
    return count, count * mean, squares + count * mean * mean


def _made(db: apsw.Connection, notes: Collection[str]) -> set[int]:
    sql = "SELECT id FROM memory WHERE substr(note, -8) = substr(?1, -8) AND note = ?1"
    return {memory for note in notes for (memory,) in db.execute(sql, (note,))}


def _newest_first(db: apsw.Connection, notes: Collection[str]) -> list[str]:
    sql = "SELECT note FROM receipt WHERE note IN (SELECT value FROM json_each(?)) ORDER BY at DESC, note DESC"
    return [note for (note,) in db.execute(sql, (json.dumps(list(notes)),))]


def _changed(db: apsw.Connection, note: str) -> list[Image]:
    said = db.execute("SELECT changed FROM receipt WHERE note = ?", (note,)).get
    found: list[Image] = json.loads(said or "[]")
    return found


def _row(db: apsw.Connection, uid: str) -> int | None:
    found: int | None = db.execute("SELECT id FROM memory WHERE uid = ?", (uid,)).get
    return found
