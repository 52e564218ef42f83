"""What a store and its server tell each other: our records there, those of others here, a page a transaction.

A store that is shared is an ordinary one; which it is on which server its own file says. Whatever ends an exchange, the
next one goes on: both sides know by host and number what they have.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from memman.clock import now_ms
from memman.model.errors import ServerRefused, UsageError
from memman.model.vocabulary import CONNECTED, REWRITTEN
from memman.sqlite import TranslatedErrors
from memman.store import reach
from memman.store.postgres.server import Server
from memman.store.records import RULE, VISIBILITY, Record, wrong
from memman.store.sqlite import record_log, scopes
from memman.store.sqlite.index import row_of
from memman.store.sqlite.store import SqliteStore

# Records a message, and the milliseconds by which a clock may be ahead of the server's.
PAGE = 500
AHEAD_MS = 300_000
Take = Callable[[Sequence[Record], Mapping[str, int]], list[Record]]
_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_MAY = "SELECT may FROM memman.member WHERE store = %s AND role = session_user"
# What changes who sees what it is about.
_SHOWING = ("shared", "rule")
_LOST = """SELECT host, n, at, act, memory, kind, body, author, true FROM memman.record
    JOIN json_array_elements(%s) lost ON host = lost ->> 0 AND n = (lost ->> 1)::bigint WHERE store = %s AND at > 0"""
_AGAIN = "SELECT host, n, at, act, memory, kind, body, author, true FROM memman.again(%s, %s)"


class Connection(NamedTuple):
    """Which store this is, of which server; our role there, and what we may do."""

    server: str
    number: int
    role: str
    may: str


def connection(db: apsw.Connection) -> Connection | None:
    """Return what a store is connected to, None where nobody shares it."""
    said = db.execute("SELECT value FROM meta WHERE key = ?", (CONNECTED,)).get
    return Connection(*json.loads(said)) if said else None


def connect(store: SqliteStore, server: Server, number: int) -> None:
    """Have a store be one of a server from now on."""
    with store.unit() as unit:
        unit.set_meta(CONNECTED, json.dumps(Connection(server.id(), number, server.known.role, _may(server, number))))


def disconnect(store: SqliteStore) -> None:
    """Have a store be shared with nobody."""
    with store.unit() as unit:
        unit.set_meta(CONNECTED, None)
    reach.forget(store.path)


def checked(store: SqliteStore, server: Server) -> Connection:
    """Return what a store is connected to. Raises ServerRefused where that is not this server, and as it does."""
    server.check()
    found = connection(store.db)
    if found is None:
        raise UsageError(f"{store.path} was never connected to the server {server}: `memman team connect` does that")
    if found.server != server.id() or found.role != server.known.role:
        raise ServerRefused(f"{server} is not the server that {store.path} is on, or {server.known.role} not our role")
    return found


def exchange(store: SqliteStore, server: Server, take: Take) -> int:
    """Tell the server what we did and bring in what others did; return how much came. Raises NoServer, ServerRefused.

    Who may only read tells nothing. `take` is given what came, and up to which of our records its sender had seen, by
    memory.
    """
    ours = checked(store, server)
    may, seen = _may(server, ours.number), record_log.known(store.db).get(record_log.host(store.db), 0)
    if may != ours.may:
        with store.unit() as unit:
            unit.set_meta(CONNECTED, json.dumps(ours._replace(may=may)))
    if may != "read":
        seen = push(store, server)
    came = _pull(store, server, ours, take, seen)
    reach.reached(store.path, now_ms(), may)
    return came


def _may(server: Server, number: int) -> str:
    for (may,) in server.rows(_MAY, number):
        return str(may)
    us = server.known.role
    raise ServerRefused(f"the server {server} has no such store any more, or {us} is no member of it")


def push(store: SqliteStore, server: Server) -> int:
    """Send what the server has not got of this machine's records; return up to which it had them."""
    number = checked(store, server).number
    _set_back(store, server)
    name, there = _ours(store, server, number)
    _send(store, server, number, name, there)
    if changed := record_log.rewritten(store.db):
        for one in changed:
            server.rows("SELECT memman.redact(%s, %s, %s, %s)", number, one.host, one.n, one.body)
        with store.transaction():
            store.db.execute("DELETE FROM meta WHERE key GLOB ?", (REWRITTEN + "*",))
    return there


def push_all(store: SqliteStore, server: Server, number: int) -> None:
    """Send the records of all machines."""
    _set_back(store, server)
    with store.transaction():
        record_log.fill_gaps(store.db)
    there = _there(server, number)
    for host in record_log.known(store.db):
        _send(store, server, number, host, there.get(host, 0))


def strange(store: SqliteStore, server: Server, number: int) -> bool:
    """Whether a store of the server has records of machines that have none here."""
    return bool(_there(server, number).keys() - record_log.known(store.db).keys())


def _send(store: SqliteStore, server: Server, number: int, host: str, after: int) -> None:
    """Send the records of a machine beyond a number, a page at a time."""
    with TranslatedErrors(store.path):
        while page := list(record_log.sound(store.db, host, after, PAGE)):
            said = json.dumps([_told(store.db, one) for one in page])
            server.rows("SELECT memman.push(%s, %s, %s)", number, host, said)
            after = page[-1].n


def _told(db: apsw.Connection, one: Record) -> dict[str, Any]:
    if wrong(one):
        one = _unseen(one)
    return one._asdict() | {"visibility": _visibility(db, one)}


def _visibility(db: apsw.Connection, one: Record) -> str:
    """Return who is to see what a record is about, '' where it does not say."""
    said = one.said.get("set", {})
    match one.kind:
        case "learned":
            row = row_of(db, one.memory)
            return scopes.visibility(db, row) if row else "private"
        case "shared":
            return str(said.get(VISIBILITY, ""))
        case "rule" if rule := said.get(RULE):
            return "shared" if rule["repository"] else "private"
        case "noted":
            rows = db.execute(
                "SELECT id FROM memory WHERE substr(note, -8) = substr(?1, -8) AND note = ?1", (one.memory,)
            )
            return "shared" if any(scopes.visibility(db, row) == "shared" for (row,) in rows) else "private"
        case "refused":
            return "shared"
    return ""


def _there(server: Server, number: int) -> dict[str, int]:
    rows = server.rows("SELECT name, n FROM memman.host WHERE store = %s", number)
    return {str(name): int(n) for name, n in rows}


def _ours(store: SqliteStore, server: Server, number: int) -> tuple[str, int]:
    """Return our name and up to which number the server has our records; another name where it has others of that."""
    with store.transaction():
        name = record_log.host(store.db)
        record_log.fill_gaps(store.db, name)
        there, here = _there(server, number).get(name, 0), record_log.known(store.db)[name]
        upto = min(there, here)
        if there <= here and _agree(store.db, name, _told_there(server, number, name, upto)):
            return name, there
        told = _told_there(server, number, name)
        same = (
            next((n for n in range(1, upto + 1) if n in told and not _agree(store.db, name, {n: told[n]})), upto + 1)
            - 1
        )
        acts = {one.n: one.act for one in record_log.every(store.db, name, 0, same + 1)}
        while same and acts.get(same) == acts.get(same + 1):  # an act is never torn apart
            same -= 1
    with store.unit() as unit:
        unit.follow(record_log.renew_host(unit.db, same))
    return record_log.host(store.db), 0


def _told_there(server: Server, number: int, host: str, n: int | None = None) -> dict[int, tuple[Any, ...]]:
    """Return moment, act, memory and kind of a host's records, as far as we may see them."""
    sql = "SELECT n, at, act, memory, kind FROM memman.record WHERE store = %s AND host = %s AND n = coalesce(%s, n)"
    return {row[0]: row[1:] for row in server.rows(sql, number, host, n)}


def _agree(db: apsw.Connection, host: str, told: dict[int, tuple[Any, ...]]) -> bool:
    """Whether these are our records, or one of the two sides may not see them."""
    ours = {n: one[2:6] for n in told for one in record_log.every(db, host, n - 1, 1)}
    return all("" in {said[1], ours[n][1]} or said == ours[n] for n, said in told.items())


def _set_back(store: SqliteStore, server: Server) -> None:
    """Have no record be from a time that the server does not know yet: a clock was wrong."""
    latest = _now(server) + AHEAD_MS
    with store.unit() as unit:
        unit.follow(record_log.set_back(unit.db, latest))


def _now(server: Server) -> int:
    """Return what time it is by the server's clock."""
    ((now,),) = server.rows(_NOW)
    return int(now)


def _pull(store: SqliteStore, server: Server, ours: Connection, take: Take, seen: int) -> int:
    """Bring in what others said, and forget what is not for us to see any more; return how many records came."""
    came, now = 0, _now(server)

    def taken(rows: Iterable[Any]) -> None:
        records = [*_records(rows, ours.role, now)]
        take(records, dict.fromkeys((one.memory for one in records), seen))

    if lost := record_log.lost(store.db):
        taken(server.rows(_LOST, json.dumps(lost), ours.number))
    while True:
        known = json.dumps(record_log.complete(store.db))
        page = server.rows("SELECT * FROM memman.pull(%s, %s, %s)", ours.number, known, PAGE)
        shown = [row[4] for row in page if row[8] and row[5] in _SHOWING]
        again = server.rows(_AGAIN, ours.number, shown) if shown else []
        if not page:
            return came
        if gone := [row[4] for row in page if not row[8] and row[4]]:
            with store.unit() as unit:
                unit.follow(record_log.withhold(unit.db, gone))
        taken([*page, *again])
        store.reader.forget_partitions()
        came += len(page)


def _records(rows: Iterable[Any], role: str, now: int) -> Iterator[Record]:
    """Make records of a server's rows; what we wrote has no author here.

    Of what is not for us to see, or has no shape of ours, only the number is kept, and a moment that is not to come.
    """
    for host, n, at, act, memory, kind, body, author, sees in rows:
        one = Record(host, n, at, act, memory, kind, body, "" if author == role else author)
        yield one if sees and not wrong(one, now) else _unseen(one)._replace(at=min(at, now + AHEAD_MS))


def _unseen(one: Record) -> Record:
    return one._replace(act="", memory="", kind="", body="", author="")
