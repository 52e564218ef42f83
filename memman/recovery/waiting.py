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
from memman.recovery.salvage import columns
from memman.sqlite import Transaction, TranslatedErrors, open_reader

if TYPE_CHECKING:
    from memman.recovery.restore import Prepared

Row = dict[str, Any]
_LEFT = "WHERE state <> 'done' ORDER BY id"


def again(
    data: str, folder: str, part: Part | None, drafts: Mapping[str, "Prepared"], only: str | None, purged: Buried
) -> dict[str, frozenset[str]]:
    """Have the backup's notes wait again, but for purged ones; return their uids by the store of the backup."""
    if part is None:
        return {}
    path = f"{folder}/{part.file}"
    with TranslatedErrors(path), closing(open_reader(path)) as db:
        notes = [note for note in _rows(db, "note", _LEFT) if only in {None, note["store"]}]
        journal, ledger = _rows(db, "journal"), _rows(db, "ledger")
    stores, buried = {str(note["store"]) for note in notes}, Tombstones.load(data).touched
    names = {store: draft.name for store, draft in drafts.items()}
    known = {store: buried | _known(data, store, drafts.get(store)) for store in stores}
    wanted = [note for note in notes if note["uid"] not in known[note["store"]] and not purged.says(note["text"])]
    with closing(_queue(data)) as queue, TranslatedErrors(queue.path), Transaction(queue.db):
        put = [note for note in wanted if _put(queue.db, note, names.get(note["store"]) or str(note["store"]))]
        uids = {note["uid"] for note in put}
        for table, rows in (("journal", [row for row in journal if row["note"] in uids]), ("ledger", ledger)):
            for row in rows:
                _insert(queue.db, table, row, "ON CONFLICT DO NOTHING")
    return {store: frozenset(note["uid"] for note in put if note["store"] == store) for store in stores}


def _known(data: str, store: str, draft: "Prepared | None") -> frozenset[str]:
    """Return the notes that need not be put back into a store: it has dealt with them, as it will be in force."""
    receipts = draft.receipts if draft else frozenset()
    if draft and draft.name == store:
        return receipts
    present = Present.of(data, store)  # beside a store that goes by another name, its own stays
    return receipts | present.stored | present.closed


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


def _rows(db: apsw.Connection, table: str, rest: str = "") -> list[Row]:
    names = columns(db, table)
    return [dict(zip(names, row, strict=True)) for row in db.execute(f"SELECT * FROM {table} {rest}")]
