"""One host's turn at a store of the server: nobody else writes to it until the turn is over.

What is asked at one time goes in one message: between machines a way there and back is what takes time.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psycopg import ClientCursor, sql
from psycopg.errors import InsufficientPrivilege

from memman.model.errors import ServerRefused
from memman.model.vocabulary import OWN
from memman.store.postgres.schema import TYPES
from memman.store.postgres.server import Connection, Server, check_version
from memman.store.tables import TABLES, Row, Table

Position = tuple[int, str, str]
# Changes fetched at a time.
PAGE = 2_000
# Milliseconds that a host waits for the turn of another, and after which the server ends that of one that fell silent.
WAIT_MS = 30_000
SILENT_MS = 60_000

# Rows are found by their keys, and the feed in the order of its index, whatever the server knows of its tables: a full
# one counts as small until it has looked, and all of the feed would be collected and sorted for each page. Many short
# looks make a page of edges dear enough to be compiled, by a server that can, which takes longer than it saves.
_BY_INDEX = {"enable_bitmapscan": "off", "enable_seqscan": "off", "jit": "off"}
# What groups are called that are of one memory.
_OF_MEMORY = ("memory", "src")

_MAY = """
SELECT (SELECT max(number) FROM memman.version), CASE
    WHEN pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean THEN 'copy'
    ELSE coalesce(may, 'own')
END FROM memman.store
LEFT JOIN memman.member ON member.store = store.id AND role = current_user WHERE id = %s
"""

Statement = tuple[sql.SQL | sql.Composed, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Feed:
    """What changed after a position: groups by table, each with the rows it has now; where that ends; if more waits.

    `may` is what we may do in the store: read, write or own it, or copy where the server itself is only a copy.
    """

    changes: dict[str, Any]
    to: Position
    more: bool
    may: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn that has begun: the number of the last one, the last numbers that rows were given, what came before."""

    seq: int
    numbers: dict[str, int]
    feed: Feed


def begin(server: Server, db: Connection, store: int, after: Position) -> Turn:
    """Wait for the turn. Raises Busy, NewerSchema, and ServerRefused where the store is not ours to write to."""
    try:
        told = batch(
            db,
            _said("BEGIN"),
            _choose(store, lock_timeout=WAIT_MS, idle_in_transaction_session_timeout=SILENT_MS),
            _said("SELECT (SELECT max(number) FROM memman.version)"),
            _said("SELECT seq, numbers FROM memman.store WHERE id = %s FOR UPDATE", store),
            _feed(store, after),
            waits_s=WAIT_MS / 1000,
        )
    except InsufficientPrivilege as error:
        raise ServerRefused(_only_read(server)) from error
    check_version(server, told[1][0][0])
    if not told[2]:
        there = db.execute("SELECT 1 FROM memman.store WHERE id = %s", (store,)).fetchone()
        raise ServerRefused(_only_read(server) if there else _gone(server))
    seq, numbers = told[2][0]
    return Turn(int(seq), numbers, _read(db, store, after, told[3]))


def look(server: Server, db: Connection, store: int, after: Position) -> Feed:
    """Begin a transaction that sees a store as it is at one moment, and return what changed after a position."""
    told = batch(
        db,
        _said("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
        _choose(store),
        _said(_MAY, store),
        _feed(store, after),
    )
    if not told[1]:
        raise ServerRefused(_gone(server))
    check_version(server, told[1][0][0])
    return replace(_read(db, store, after, told[2]), may=told[1][0][1])


def pending(db: Connection, store: int, after: Position) -> int:
    """Count the changes after a position."""
    found = db.execute(
        "SELECT count(*) FROM memman.change WHERE store = %s AND (seq, name, part) > (%s, %s, %s)", (store, *after)
    ).fetchone()
    return int(found[0]) if found else 0


def more(db: Connection, store: int, after: Position) -> Feed:
    """Return what changed after a position, amid a transaction."""
    return _read(db, store, after, batch(db, _feed(store, after))[0])


def push(
    db: Connection,
    store: int,
    seq: int,
    changed: Mapping[str, tuple[Sequence[Any], Sequence[Row]]],
    numbers: Mapping[str, int],
    before: Mapping[str, int],
) -> None:
    """Write what the groups of each table are now, and that they changed in the turn `seq`; and end the turn.

    `before` has the last numbers that rows were given before it, `numbers` now. Who wrote a memory goes last: as long
    as that is there, who changes what is left of it may see it.
    """
    last = before.get("memory", 0)
    *removed, unsigned = (_remove(store, TABLES[name], *changed.get(name, ((), ())), last) for name in reversed(TABLES))
    stored = (_put(store, TABLES[name], changed[name][1]) for name in TABLES if name in changed and changed[name][1])
    feed = [(name, str(group)) for name, (groups, _) in changed.items() for group in groups]
    batch(
        db,
        _said("UPDATE memman.store SET numbers = %s WHERE id = %s", json.dumps(numbers), store),
        *filter(None, removed),
        *stored,
        *filter(None, (unsigned,)),
        _said(
            "INSERT INTO memman.change(store, seq, name, part) SELECT %s, %s, * FROM unnest(%s::text[], %s::text[])"
            " ON CONFLICT (store, name, part) DO UPDATE SET seq = excluded.seq",
            store,
            seq,
            *map(list, zip(*feed, strict=True)),
        ),
        _said("UPDATE memman.store SET seq = %s WHERE id = %s", seq, store),
        _said("COMMIT"),
    )


def batch(db: Connection, *statements: Statement, waits_s: float = 0) -> list[list[Any]]:
    """Send statements in one message, and return the rows of those that have any to give.

    They may have to wait for others for `waits_s` seconds.
    """
    with ClientCursor(db) as cursor:
        message = ";\n".join(cursor.mogrify(query, values) for query, values in statements).encode()
        with db.bearing(len(message), waits_s):
            cursor.execute(message)
        found = []
        while True:
            if cursor.description:
                found.append(cursor.fetchall())
            if not cursor.nextset():
                return found


def _said(text: str, *values: Any) -> Statement:
    return sql.SQL(text), values


def _choose(store: int, **settings: int) -> Statement:
    """Work on one store, for the length of the transaction."""
    given = {"memman.store": store} | _BY_INDEX | settings
    chosen = ", ".join("set_config(%s, %s, true)" for _ in given)
    return _said(f"SELECT {chosen}", *(str(part) for pair in given.items() for part in pair))


def _feed(store: int, after: Position) -> Statement:
    return _said(
        "SELECT seq, name, part FROM memman.change WHERE store = %s AND (seq, name, part) > (%s, %s, %s)"
        f" ORDER BY seq, name, part LIMIT {PAGE}",
        store,
        *after,
    )


def _read(db: Connection, store: int, after: Position, rows: Sequence[Position]) -> Feed:
    """Return the changed groups as the server has them now; a line that names none a member's SQL has written."""
    groups: dict[str, list[Any]] = {}
    for _, name, part in rows:
        numbered = name in TABLES and TABLES[name].numbered
        if name in TABLES and (part.isdecimal() if numbered else not part.startswith(OWN)):
            groups.setdefault(name, []).append(int(part) if numbered else part)
    asked = [name for name in TABLES if name in groups]
    found = batch(db, *(_rows(store, TABLES[name], groups[name]) for name in asked)) if asked else []
    changes = {name: (groups[name], told) for name, told in zip(asked, found, strict=True)}
    return Feed(changes, rows[-1] if rows else after, len(rows) == PAGE)


def _rows(store: int, table: Table, groups: Sequence[Any]) -> Statement:
    query = sql.SQL("SELECT {} FROM {} WHERE store = %s AND {} = ANY(%s) ORDER BY {}").format(
        _listed(table.columns), _named(table), sql.Identifier(table.group), _listed(table.key)
    )
    return query, (store, list(groups))


def _remove(store: int, table: Table, groups: Sequence[Any], rows: Sequence[Row], last: int) -> Statement | None:
    """Delete what is no more: of a table whose groups are single rows those that are gone, else whole groups.

    Of memories after the `last` the server has nothing yet.
    """
    place = table.columns.index(table.group)
    kept = {row[place] for row in rows} if table.single else set()
    gone = [group for group in groups if group not in kept and not (table.group in _OF_MEMORY and group > last)]
    if not gone:
        return None
    query = sql.SQL("DELETE FROM {} WHERE store = %s AND {} = ANY(%s)")
    return query.format(_named(table), sql.Identifier(table.group)), (store, gone)


def _put(store: int, table: Table, rows: Sequence[Row]) -> Statement:
    """Store rows, each in place of the one with its key."""
    names = [*table.columns, *table.sent]
    kept = [name for name in names if name not in table.key]
    query = sql.SQL("INSERT INTO {} (store, {}) SELECT %s, * FROM unnest({}) ON CONFLICT (store, {}) DO {}").format(
        _named(table),
        _listed(names),
        sql.SQL(", ").join(sql.SQL(f"%s::{TYPES[table.name, name]}[]") for name in names),
        _listed(table.key),
        sql.SQL("UPDATE SET {}").format(
            sql.SQL(", ").join(sql.SQL("{0} = excluded.{0}").format(sql.Identifier(name)) for name in kept)
        )
        if kept
        else sql.SQL("NOTHING"),
    )
    return query, (store, *map(list, zip(*rows, strict=True)))


def _named(table: Table) -> sql.Identifier:
    return sql.Identifier("memman", table.name)


def _listed(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _only_read(server: Server) -> str:
    return f"{server.known.role} may only read this store of the server {server}"


def _gone(server: Server) -> str:
    return f"the server {server} has no such store any more, or {server.known.role} is no member of it"
