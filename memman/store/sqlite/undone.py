"""What undos did, each under an id of its own, and which notes a session, a drain or a time has stored."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import apsw

from memman.model.errors import AmbiguousId, UnknownId
from memman.model.text import SHORT_ID
from memman.model.vocabulary import UNDONE
from memman.sqlite import NAMED
from memman.store.sqlite.images import GONE, Image, moved, named
from memman.store.sqlite.rescoped import Move
from memman.store.sqlite.unit import SqliteUnit

# What a note is that nothing stored is left of, or ever came.
_GONE = "('purged', 'undone')"


def keep(unit: SqliteUnit, uid: str, record: Mapping[str, Any]) -> None:
    """Keep what an undo did."""
    unit.set_meta(UNDONE + uid, _json(record))


def keep_act(unit: SqliteUnit, uid: str, at: int, verb: str, what: str, did: str, **more: Any) -> None:
    """Keep an act as an undo, with a line of the log."""
    record = {"at": at, "what": what, "did": did, "undone": "", "images": [], "notes": [], "put": [], "moved": []}
    keep(unit, uid, record | more)
    unit.tell(at, verb, uid, f"{what}: {did}")


def keep_moves(unit: SqliteUnit, uid: str, at: int, what: str, moves: Collection[Move], naming: Sequence[str]) -> None:
    """Keep what a repository's new name moved as an undo; `naming` is the git folder, the name before and after."""
    keep_act(unit, uid, at, "rename", what, f"{len(moves)} moved", moved=moves, named=naming)


def listed(db: apsw.Connection) -> dict[str, dict[str, Any]]:
    """Return what each undo did, by its id, newest first."""
    sql = f"SELECT key, value FROM meta WHERE key GLOB '{UNDONE}*' ORDER BY key DESC"
    return {key.removeprefix(UNDONE): json.loads(value) for key, value in db.execute(sql)}


def notes(db: apsw.Connection) -> set[str]:
    """Return the notes that undos took back, and that nobody brought back."""
    records = [one for one in listed(db).values() if not one["undone"]]
    return {note for one in records for note in (*one.get("stored", ()), *(row["uid"] for row in one["notes"]))}


def found(db: apsw.Connection, part: str) -> dict[str, dict[str, Any]]:
    """Return the undos whose id, or the digits of it that are shown, begins with `part`, or ends with it."""
    return {
        uid: one
        for uid, one in listed(db).items()
        if uid.startswith(part) or uid[-SHORT_ID:].startswith(part) or uid.endswith(part)
    }


def forget(db: apsw.Connection, rows: Collection[int], *, notes: bool = False) -> None:
    """Drop what undos and receipts keep of memories that are gone, and of the queue where something was purged."""
    for uid, record in listed(db).items():
        kept = record | {"images": _without(record["images"], rows)} | ({} if notes else {"notes": []})
        if kept != record:
            db.execute("UPDATE meta SET value = ? WHERE key = ?", (_json(kept), UNDONE + uid))
    forget_receipts(db, rows)


def forget_receipts(db: apsw.Connection, rows: Collection[int], where: str = "1", *values: str) -> None:
    """Drop what receipts keep of memories."""
    sql = f"SELECT note, changed FROM receipt WHERE changed <> '' AND {where}"
    receipts: list[Any] = db.execute(sql, values).fetchall()
    for note, changed in receipts:
        left = _without(said := json.loads(changed), rows)
        if left != said:
            db.execute("UPDATE receipt SET changed = ? WHERE note = ?", (_json(left) if left else "", note))


def _without(said: Collection[Image], rows: Collection[int]) -> list[Image]:
    """Return the images that name none of these memories as what they are of, and nowhere else by their rows."""
    kept = [image for image in said if not any(row in rows for row in named(image[0], image[1]))]
    return [moved(image, lambda row: GONE if int(row) in rows else row) for image in kept]


def _json(said: Any) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def noted(db: apsw.Connection, part: str) -> list[str]:
    """Return the first two notes with a receipt that `part` names."""
    sql = f"SELECT note FROM receipt WHERE {NAMED.format('note')} AND outcome NOT IN {_GONE} LIMIT 2"
    return [note for (note,) in db.execute(sql, (part,))]


def of_session(db: apsw.Connection, session: str) -> list[str]:
    """Return the notes of a session that are stored."""
    return _notes(db, "session = ?", session)


def of_drain(db: apsw.Connection, part: str) -> tuple[str, list[str]]:
    """Return a drain that is named by its beginning or as `last`, and the notes it stored. Raises UnknownId."""
    if part == "last":
        drain = db.execute("SELECT drain FROM receipt WHERE drain <> '' ORDER BY at DESC, note DESC LIMIT 1").get
    else:
        names = [one for (one,) in db.execute("SELECT DISTINCT drain FROM receipt WHERE drain <> ''")]
        drain = one_of(names, part, "drain")
    if not drain:
        raise UnknownId("no drain has stored anything yet")
    return drain, _notes(db, "drain = ?", drain)


def since(db: apsw.Connection, moment: int) -> list[str]:
    """Return the notes that were stored at a moment or later."""
    return _notes(db, "at >= ?", moment)


def sessions(db: apsw.Connection) -> list[str]:
    """Return the sessions of which notes are stored."""
    return [one for (one,) in db.execute("SELECT DISTINCT session FROM receipt WHERE session <> ''")]


def one_of(names: Collection[str], part: str, kind: str) -> str:
    """Return the one of `names` that is `part` or begins with it. Raises UnknownId and AmbiguousId."""
    said = [name for name in names if name == part] or [name for name in names if part and name.startswith(part)]
    if not said:
        raise UnknownId(f"there is no {kind} {part[:80]!r} in this store")
    if len(said) > 1:
        raise AmbiguousId(f"several {kind}s begin with {part[:80]!r}: give more characters")
    return said[0]


def _notes(db: apsw.Connection, where: str, value: str | int) -> list[str]:
    sql = f"SELECT note FROM receipt WHERE {where} AND outcome NOT IN {_GONE} ORDER BY at, note"
    return [note for (note,) in db.execute(sql, (value,))]
