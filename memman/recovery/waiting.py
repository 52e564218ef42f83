"""Notes that waited when a backup was taken, put back into the queue where no store knows them."""

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw

from memman.config.buried import Buried
from memman.config.places import queue_path
from memman.config.tombstones import Tombstones
from memman.model.errors import DamagedFile
from memman.queue.damage import resealed
from memman.queue.notes import Queue
from memman.recovery.manifest import Part
from memman.recovery.present import Present
from memman.sqlite import Transaction, TranslatedErrors, open_reader

if TYPE_CHECKING:
    from memman.recovery.restore import Prepared

Row = dict[str, Any]


def again(
    data: str, folder: str, part: Part | None, drafts: Mapping[str, "Prepared"], only: str | None, purged: Buried
) -> dict[str, frozenset[str]]:
    """Have the backup's notes wait again, but for purged ones; return their uids by the store of the backup."""
    if part is None:
        return {}
    path = f"{folder}/{part.file}"
    with TranslatedErrors(path), closing(open_reader(path)) as db:
        notes = _rows(db, "SELECT * FROM note WHERE state <> 'done' ORDER BY id")
        journal = _rows(db, "SELECT * FROM journal")
        ledger = _rows(db, "SELECT * FROM ledger")
    buried, known = Tombstones.load(data).touched, _Known(data, drafts)
    wanted = [
        note
        for note in notes
        if only in {None, note["store"]}
        and note["uid"] not in buried | known.of(note)
        and not purged.says(note["text"])
    ]
    with closing(_queue(data)) as queue, TranslatedErrors(queue.path), Transaction(queue.db):
        put = [note for note in wanted if _put(queue.db, note, known.name(note))]
        uids = {note["uid"] for note in put}
        for table, rows in (("journal", [row for row in journal if row["note"] in uids]), ("ledger", ledger)):
            for row in rows:
                _insert(queue.db, table, row, "ON CONFLICT DO NOTHING")
    return {
        store: frozenset(note["uid"] for note in put if note["store"] == store) for store in {n["store"] for n in put}
    }


class _Known:
    """The notes that each store has dealt with, as it will be in force."""

    def __init__(self, data: str, drafts: Mapping[str, "Prepared"]) -> None:
        self.data, self.drafts = data, drafts
        self._receipts: dict[str, frozenset[str]] = {}

    def name(self, note: Row) -> str:
        """Return the store that a note of the backup is for now."""
        draft = self.drafts.get(note["store"])
        return draft.name if draft else str(note["store"])

    def of(self, note: Row) -> frozenset[str]:
        """Return the notes that need not be put back into the store of `note`."""
        store = note["store"]
        if store not in self._receipts:
            draft = self.drafts.get(store)
            receipts = draft.receipts if draft else frozenset()
            if draft is None or draft.name != store:  # beside a store that goes by another name, its own stays
                present = Present.of(self.data, store)
                receipts |= present.stored | present.closed
            self._receipts[store] = receipts
        return self._receipts[store]


def _queue(data: str) -> Queue:
    """Open the queue, made where it is missing. Raises DamagedFile."""
    try:
        return Queue(data)
    except DamagedFile as error:
        raise DamagedFile(f"{queue_path(data)} is damaged: run `memman repair --queue`, then restore again") from error


def _put(db: apsw.Connection, note: Row, store: str) -> bool:
    """Have a note wait, unless it waits already; one that was done since, for a store that is gone, waits again."""
    state = "parked" if note["state"] == "parked" else "pending"
    row = {name: value for name, value in note.items() if name != "id"} | {"state": state}
    if state == "pending":
        row |= {"attempts": 0, "retry_at": 0}
    changes = ", ".join(f"{name} = excluded.{name}" for name in row)
    _insert(db, "note", row, f"ON CONFLICT (uid) DO UPDATE SET {changes} WHERE note.state = 'done'")
    if db.changes() == 0:
        return False
    place = db.execute("SELECT id FROM note WHERE uid = ?", (note["uid"],)).get
    with resealed(db, place):
        db.execute("UPDATE note SET store = ? WHERE id = ?", (store, place))
    return True


def _insert(db: apsw.Connection, table: str, row: Row, otherwise: str) -> None:
    sql = f"INSERT INTO {table}({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)}) {otherwise}"
    db.execute(sql, row)


def _rows(db: apsw.Connection, sql: str) -> list[Row]:
    cursor = db.execute(sql)
    try:
        names = [column[0] for column in cursor.get_description()]
    except apsw.ExecutionCompleteError:  # there is no row
        return []
    return [dict(zip(names, row, strict=True)) for row in cursor]
