"""The records of a store, as its database keeps them. Functions run inside the transaction of their caller."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from secrets import token_hex
from typing import Any

import apsw

from memman.model.errors import DamagedFile
from memman.model.vocabulary import CONNECTED, REWRITTEN
from memman.sqlite import LISTED
from memman.store.records import EDGE, ENDS, PAIR, Record
from memman.store.records import body as written
from memman.store.records import lost as lost_one

_HOST_BYTES = 8
_COLUMNS = "h.name, r.n, r.at, r.act, r.memory, r.kind, r.body, r.author, r.visibility"
# SQLite guesses from a sample how many records a host and an act have; wrong guesses had it read all of them at each
# commit. CROSS JOIN and INDEXED BY leave it no choice.
_OF_HOST = "record r CROSS JOIN host h ON h.id = r.host"
_FROM = f"SELECT {_COLUMNS} FROM {_OF_HOST}"
_FROM_ACT = _FROM.replace("record r", "record r INDEXED BY record_act")
_FROM_MEMORY = _FROM.replace("record r", "record r INDEXED BY record_memory")
_BY_HOST = "host h CROSS JOIN record r ON r.host = h.id"
# The lines of undos under their own ids with the acts that each takes back, and those that bear on some acts.
_UNDOS = """
WITH RECURSIVE undo(id, act, back) AS MATERIALIZED (
    SELECT r.id, r.act, value FROM record r, json_each(r.body, '$.acts')
    WHERE r.kind = 'undone' AND r.memory = r.act AND r.body <> ''
), bearing(id, act) AS (
    SELECT id, act FROM undo WHERE back IN (SELECT value FROM json_each(?))
    UNION SELECT undo.id, undo.act FROM undo JOIN bearing ON undo.back = bearing.act
)"""
# The machine that writes this file is its host 1.
OURS = 1


def host(db: apsw.Connection) -> str:
    """Return the name of this machine in this store, given on first use."""
    name: str | None = db.execute("SELECT name FROM host WHERE id = ?", (OURS,)).get
    if not name:
        name = token_hex(_HOST_BYTES)
        db.execute("INSERT INTO host(id, name) VALUES (?, ?)", (OURS, name))
    return name


def renew_host(db: apsw.Connection, after: int | None = None) -> list[Record]:
    """Go on under a new name, since another file that goes on under the old one was, or is, a copy of this one.

    Records beyond number `after` take the new name, and are returned: the index has to follow.
    """
    name = host(db)
    n, at = db.execute("SELECT n, at FROM host WHERE id = ?", (OURS,)).get
    kept = n if after is None else after
    moved = [row for (row,) in db.execute("SELECT id FROM record WHERE host = ? AND n > ? ORDER BY n", (OURS, kept))]
    values = (token_hex(_HOST_BYTES), len(moved), at if moved else 0, OURS)
    db.execute("UPDATE host SET name = ?, n = ?, at = ? WHERE id = ?", values)
    db.execute("INSERT INTO host(name, n, at, ours) VALUES (?, ?, ?, 1)", (name, kept, at))
    db.execute("UPDATE record SET host = ? WHERE host = ? AND n <= ?", (db.last_insert_rowid(), OURS, kept))
    for number, row in enumerate(moved, 1):
        db.execute("UPDATE record SET n = ? WHERE id = ?", (number, row))
        reseal(db, row)
    return list(every(db, host(db)))


def former_hosts(db: apsw.Connection) -> list[str]:
    """Return the names that this file, or one that it is a copy of, had before."""
    return [name for (name,) in db.execute("SELECT name FROM host WHERE ours ORDER BY id")]


def append(db: apsw.Connection, at: int, act: str, memory: str, kind: str, body: str) -> Record:
    """Add what is decided here and now; it stands behind all records that this store has."""
    name = host(db)
    n, before = db.execute("SELECT n + 1, at FROM host WHERE id = ?", (OURS,)).get
    record = Record(name, n, max(at, before, newest_of_others(db) + 1), act, memory, kind, body)
    add(db, [record])
    return record


def newest_of_others(db: apsw.Connection) -> int:
    """Return when other machines last did something that is known here, 0 where nothing is."""
    return db.execute("SELECT max(at) FROM host WHERE id <> ?", (OURS,)).get or 0


def add(db: apsw.Connection, records: Iterable[Record]) -> list[Record]:
    """Add records of any machine, and return those that were missing; what is no machine's becomes ours."""
    ours = host(db)  # the first that a file names
    new: list[Record] = []
    for one in records:
        if not one.host:
            one = one._replace(host=ours, n=known(db)[ours] + 1)  # noqa: PLW2901
        db.execute("INSERT INTO host(name) VALUES (?) ON CONFLICT DO NOTHING", (one.host,))
        db.execute(
            "INSERT INTO record(host, n, at, act, memory, kind, body, author, visibility, sum)"
            " SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM host WHERE name = ? ON CONFLICT (host, n) DO UPDATE"
            " SET at = excluded.at, act = excluded.act, memory = excluded.memory, kind = excluded.kind,"
            " body = excluded.body, author = excluded.author, sum = excluded.sum"
            " WHERE memory = '' AND excluded.memory <> ''",  # it was not for us to see until now
            (*one[1:], one.sum, one.host),
        )
        if db.changes():
            new.append(one)
            sql = "UPDATE host SET n = max(n, ?), at = max(at, ?) WHERE name = ?"
            db.execute(sql, (one.n, one.at, one.host))
    _empty_purged(db, new)
    return new


def _empty_purged(db: apsw.Connection, new: Iterable[Record]) -> None:
    """Take out what new records say of what is purged by now, whichever of them came first."""
    purged = {memory for (memory,) in db.execute("SELECT memory FROM record WHERE kind = 'purged'")}
    if not purged:
        return
    news = {one.memory for one in new if one.kind == "purged"}
    late = {one.memory for one in new if one.memory in purged and one.kind != "purged"}
    telling = [one.body for one in new if '"why"' in one.body or f'"{EDGE} [' in one.body]
    quoted = {uid for body in telling for uid in purged if uid in body}
    if gone := news | late | quoted:
        empty(db, sorted(gone))


def of_each(db: apsw.Connection, uids: Collection[str]) -> dict[str, list[Record]]:
    """Return the records of some memories, rules and notes, by their uid, in the order in which they count."""
    found: dict[str, list[Record]] = {uid: [] for uid in uids}
    sql = f"{_FROM_MEMORY} WHERE r.memory {LISTED} ORDER BY r.at, h.name, r.n"
    for one in (Record(*row) for row in db.execute(sql, (json.dumps([*uids]),))):
        found[one.memory].append(one)
    return found


def of_acts(db: apsw.Connection, acts: Collection[str]) -> list[Record]:
    """Return the records of some acts, in the order in which they count."""
    sql = f"{_FROM_ACT} WHERE r.act {LISTED} ORDER BY r.at, h.name, r.n"
    return [Record(*row) for row in db.execute(sql, (json.dumps([*acts]),))]


def undos(db: apsw.Connection, acts: Iterable[str]) -> list[Record]:
    """Return the lines of undos that take back one of some acts, or such an undo."""
    found = f"bearing CROSS JOIN {_OF_HOST} WHERE r.id = bearing.id"
    sql = f"{_UNDOS} SELECT {_COLUMNS} FROM {found}"
    return [Record(*row) for row in db.execute(sql, (json.dumps([*acts]),))]


def taken_back(db: apsw.Connection, found: Iterable[Record]) -> list[Record]:
    """Return the records of acts that undos among these take back, of undos among those likewise."""
    back: list[Record] = []
    done: set[str] = set()
    while acts := {act for one in found if one.kind == "undone" for act in one.said.get("acts", ())} - done:
        found = [*of_acts(db, acts), *compared(db, acts)]
        back += found
        done |= acts
    return back


def compared(db: apsw.Connection, acts: Collection[str]) -> list[Record]:
    """Return the records of comparisons that hang on one of some acts."""
    hangs = "EXISTS (SELECT 1 FROM json_each(r.body, '$.of') WHERE value IN (SELECT value FROM json_each(?)))"
    rows = db.execute(f"{_FROM} WHERE r.act GLOB '{PAIR}*' AND r.body <> '' AND {hangs}", (json.dumps([*acts]),))
    return [Record(*row) for row in rows]


def learned_by(db: apsw.Connection, uid: str) -> list[str]:
    """Return the acts that learned a memory."""
    sql = "SELECT DISTINCT act FROM record WHERE memory = ? AND kind = 'learned' ORDER BY act"
    return [act for (act,) in db.execute(sql, (uid,))]


def every(db: apsw.Connection, host: str = "", after: int = 0, limit: int = -1) -> Iterator[Record]:
    """Yield the records of all machines, or those of one beyond its number `after`."""
    sql = f"SELECT {_COLUMNS} FROM {_BY_HOST} WHERE (?1 = '' OR h.name = ?1) AND r.n > ?2 ORDER BY h.name, r.n LIMIT ?3"
    return (Record(*row) for row in db.execute(sql, (host, after, limit)))


def sound(db: apsw.Connection, host: str, after: int, limit: int) -> Iterator[Record]:
    """Yield what `every` does, to be told to others. Raises DamagedFile rather than hand on a damaged record."""
    sql = f"SELECT {_COLUMNS}, r.sum FROM {_BY_HOST} WHERE h.name = ? AND r.n > ?"
    for *said, total in db.execute(f"{sql} ORDER BY r.n LIMIT ?", (host, after, limit)):
        one = Record(*said)
        if one.body and one.sum != total:
            raise DamagedFile(f"record {one.n} of host {host} is damaged: `memman repair` rebuilds the store")
        yield one


def memories(db: apsw.Connection) -> Iterator[str]:
    """Yield the uid of all that records are about, each once, the oldest first."""
    sql = "SELECT memory FROM record WHERE memory <> '' GROUP BY memory ORDER BY min(at), min(id)"
    return (uid for (uid,) in db.execute(sql))


def newest(db: apsw.Connection) -> int:
    """Return the number of the record that came last: it grows with every change."""
    return db.execute("SELECT max(id) FROM record").get or 0


def known(db: apsw.Connection) -> dict[str, int]:
    """Return the number of the newest record of each machine."""
    return dict(db.execute("SELECT name, n FROM host"))


def doubled(db: apsw.Connection, acts: Iterable[str]) -> list[str]:
    """Return those acts that two machines did both."""
    sql = f"SELECT act FROM record INDEXED BY record_act WHERE act {LISTED} GROUP BY act HAVING min(host) < max(host)"
    return [act for (act,) in db.execute(sql, (json.dumps(sorted({*acts})),))]


def complete(db: apsw.Connection) -> dict[str, int]:
    """Return of each machine the number up to which none of its records is missing."""
    sql = "SELECT h.name, h.n, count(r.n), h.id FROM host h LEFT JOIN record r ON r.host = h.id GROUP BY h.id"
    rows: list[Any] = db.execute(sql).fetchall()
    return {name: n if n == count else _before_gap(db, number) for name, n, count, number in rows}


def missing(db: apsw.Connection, found: Iterable[Record]) -> list[Record]:
    """Return the records of acts that a store has not, as nobody's: the store that takes them tells others of them.

    Of two machines' accounts of one act the first counts.
    """
    known = {act for (act,) in db.execute("SELECT DISTINCT act FROM record")}
    told = dict[str, str]()
    ordered = sorted(found, key=lambda one: one.order)
    fresh = [one for one in ordered if one.act not in known and told.setdefault(one.act, one.host) == one.host]
    return [one._replace(host="", n=0) for one in fresh]


def fill_gaps(db: apsw.Connection, *hosts: str) -> None:
    """Have each number that was given and whose record is missing stand for a lost record; of all or of `hosts`.

    Otherwise other machines would wait for it for ever. It gives way as soon as somebody has the record.
    """
    ends, newest = complete(db), known(db)
    for name in hosts or newest:
        if ends[name] < (n := newest[name]):
            there = {one.n for one in every(db, name)}
            add(db, [lost_one(name, number) for number in range(1, n + 1) if number not in there])


def lost(db: apsw.Connection) -> list[tuple[str, int]]:
    """Return host and number of the records of which nobody here knows what they said."""
    sql = f"SELECT h.name, r.n FROM {_OF_HOST} WHERE r.at = 0 AND r.memory = '' ORDER BY 1, 2"
    return [(name, n) for name, n in db.execute(sql)]


def _before_gap(db: apsw.Connection, number: int) -> int:
    sql = "SELECT n FROM (SELECT n, row_number() OVER (ORDER BY n) AS at FROM record WHERE host = ?) WHERE n = at"
    return max((n for (n,) in db.execute(sql, (number,))), default=0)


def sums(db: apsw.Connection, host: str) -> list[int]:
    """Return the checksums of a machine's records in a row from the first on, 0 of one emptied and -1 of one lost."""
    sql = (
        "SELECT r.n, CASE WHEN r.at = 0 AND r.memory = '' THEN -1 WHEN r.body = '' THEN 0 ELSE max(r.sum, 1) END"
        f" FROM {_BY_HOST} WHERE h.name = ? ORDER BY r.n"
    )
    return [one for at, (n, one) in enumerate(db.execute(sql, (host,)), 1) if n == at]


def set_back(db: apsw.Connection, latest: int) -> list[Record]:
    """Have no record be later than a moment; return those that were: the index has to follow."""
    if (db.execute("SELECT max(at) FROM host").get or 0) <= latest:
        return []
    late: list[Any] = db.execute("SELECT id FROM record WHERE at > ?", (latest,)).fetchall()
    db.execute("UPDATE host SET at = min(at, ?)", (latest,))
    for (number,) in late:
        db.execute("UPDATE record SET at = ? WHERE id = ?", (latest, number))
        reseal(db, number)
    return [_at(db, number) for (number,) in late]


def withhold(db: apsw.Connection, uids: Collection[str]) -> list[Record]:
    """Forget what records say of memories and rules, and what others say of them; return those: the index must follow.

    They are not for us to see any more, and their numbers stay.
    """
    listed = json.dumps([*uids])
    naming = "EXISTS (SELECT 1 FROM json_each(?1) WHERE instr(body, value))"
    sql = f"SELECT id FROM record WHERE memory {LISTED.replace('?', '?1')} OR ({naming} AND kind <> 'noted')"
    found: list[Any] = db.execute(sql, (listed,)).fetchall()
    before = [_at(db, number) for (number,) in found]
    empty = "UPDATE record SET act = '', memory = '', kind = '', body = '', author = '', sum = 0 WHERE id = ?"
    db.executemany(empty, found)
    return before


def winners(db: apsw.Connection, records: Iterable[Record]) -> dict[str, str]:
    """Return, for the acts of some records that two machines did both, the one that counts: who did it first.

    Of two that compared a pair of memories, who let both stand.
    """
    twice = doubled(db, (one.act for one in records))
    first = (
        f"SELECT h.name FROM {_OF_HOST} WHERE act = ?1 GROUP BY h.id"
        f" ORDER BY ?1 GLOB '{PAIR}*' AND max(body GLOB '{ENDS}*'), min(r.at), h.name LIMIT 1"
    )
    return {act: db.execute(first, (act,)).get for act in twice}


def damaged(db: apsw.Connection, most: int = -1) -> list[tuple[str, int]]:
    """Return host and number of the records, among the newest, that do not say what was once written."""
    newest = f"SELECT {_COLUMNS}, r.sum FROM {_OF_HOST} ORDER BY r.id DESC LIMIT ?"
    rows = db.execute(newest, (most,))
    return [(row[0], row[1]) for row in rows if row[6] and Record(*row[:-1]).sum != row[-1]]


def empty(db: apsw.Connection, uids: Sequence[str]) -> None:
    """Take out what records say of some memories, and why others were changed for the sake of these.

    A checksum goes, too: with it a short text could be guessed.
    """
    listed = json.dumps([*uids])
    db.execute(f"UPDATE record SET body = '', sum = 0 WHERE memory {LISTED} AND kind <> 'purged'", (listed,))
    sql = (
        "SELECT id FROM record WHERE EXISTS (SELECT 1 FROM json_each(?) WHERE instr(body, value)) AND kind <> 'purged'"
    )
    numbers: list[Any] = db.execute(sql, (listed,)).fetchall()
    for (number,) in numbers:
        rewrite(db, number, _without(_at(db, number), uids))


def _without(one: Record, uids: Sequence[str]) -> str:
    """Write the body of a record without why, and without the parts that are about certain memories."""
    said = one.said
    for side in (said, said.get("now", {})):
        side.pop("why", None)
    if sets := {name: value for name, value in said.get("set", {}).items() if not any(uid in name for uid in uids)}:
        said["set"] = sets
    else:
        said.pop("set", None)
    return written(**said)


def rewrite(db: apsw.Connection, number: int, body: str) -> None:
    """Give a record of this database another body: without a secret, or without what was purged."""
    db.execute("UPDATE record SET body = ? WHERE id = ?", (body, number))
    reseal(db, number)


def rewritten(db: apsw.Connection) -> list[Record]:
    """Return the records that were given another body, and of which the server of the store has not heard."""
    keys: list[Any] = db.execute("SELECT key FROM meta WHERE key GLOB ?", (REWRITTEN + "*",)).fetchall()
    return [_at(db, int(key.removeprefix(REWRITTEN))) for (key,) in keys]


def reseal(db: apsw.Connection, number: int) -> None:
    """Give a record that was changed the checksum of what it says now, and have the server of the store hear of it."""
    db.execute("UPDATE record SET sum = ? WHERE id = ?", (_at(db, number).sum, number))
    sql = "INSERT OR IGNORE INTO meta SELECT ?, '' WHERE EXISTS (SELECT 1 FROM meta WHERE key = ?)"
    db.execute(sql, (f"{REWRITTEN}{number}", CONNECTED))


def _at(db: apsw.Connection, number: int) -> Record:
    row: Any = db.execute(f"{_FROM} WHERE r.id = ?", (number,)).fetchone()
    return Record(*row)
