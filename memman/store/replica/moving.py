"""A store taken to a server in bounded turns that can be gone on with, and a replica made a store by itself again."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from typing import Any

from memman.clock import now_ms
from memman.model.errors import ServerRefused, StoreError
from memman.sqlite import Transaction, TranslatedErrors, open_reader
from memman.store.postgres import turn, whole
from memman.store.postgres.server import Connection
from memman.store.postgres.turn import Turn
from memman.store.replica import authorship, position, reach
from memman.store.replica.position import Move
from memman.store.replica.store import ReplicaStore
from memman.store.tables import TABLES, Row, Table

# Rows a turn, or the rows of one group where those are more.
_ROWS = 5_000
Progress = Callable[[int, int], None]
# Who made vectors goes up before them: recall on other machines searches what is there of them.
_ORDER = sorted(TABLES, key=lambda name: name not in {"embedder", "cell", "beacon"})


def begin(store: ReplicaStore, name: str, move: Move) -> None:
    """Have the server keep a store for us, and nothing be written to ours meanwhile. Raises ServerRefused."""
    number = store.server.store(name, make=True)
    if number is None:
        raise ServerRefused(f"the server {store.server} keeps the name {name!r} for others")
    with store.server.transaction() as db:
        held = _turn(store, db, number)
        by = whole.filling(db, number)
        if by != move.token and (by or held.seq):
            raise ServerRefused(
                f"the server {store.server} has a store {name!r} already: to join it, export this one,"
                f" `memman store remove {name}`, connect and import the export"
            )
        with TranslatedErrors(store.path), Transaction(store.db):
            position.keep_moving(store.db, move)
            position.connect(store.db, store.server.id(), number, store.server.known.role)
            authorship.sign_all(store.db, store.server.known.role)
        whole.mark(db, number, whole.marked(held.numbers, move.token))
        db.execute("COMMIT")


def upload(store: ReplicaStore, progress: Progress) -> None:
    """Bring up what the server has not got yet of a store that is on its way, and see that it is all there."""
    move, number = _way(store)
    if not move.seq:
        move = _uploaded(store, move, number, progress)
        with store.server.transaction() as db:
            turn.look(store.server, db, number, position.END)
            _compare(store, whole.counts(db, number))
            move = replace(move, seq=whole.state(db, number)[0])
        _keep(store, move)
    with store.server.transaction() as db:
        may = turn.look(store.server, db, number, position.END).may
        db.execute("COMMIT")
        _turn(store, db, number)
        whole.unmark(db, number)
        db.execute("COMMIT")
    with TranslatedErrors(store.path), Transaction(store.db):
        position.arrive(store.db, move.seq)
    reach.reached(store.path, now_ms(), may)


def give_up(store: ReplicaStore) -> None:
    """Have the server drop what it has got of a store that is on its way. Raises NoServer."""
    known, move = position.store(store.db), position.moving(store.db)
    if known is None or move is None or known[0] != store.server.id():
        return
    with store.server.transaction() as db:
        if whole.filling(db, known[1]) == move.token:
            _turn(store, db, known[1])
            whole.remove(db, known[1])
            db.execute("COMMIT")


def follow_to_the_end(store: ReplicaStore, progress: Progress) -> None:
    """Bring a replica to where its server is, see that it has all of it, and take over how rows are numbered."""
    number = store.number
    while True:
        store.pull(progress)
        with store.server.transaction() as db:
            if turn.look(store.server, db, number, position.position(store.db)).changes:
                continue  # somebody wrote meanwhile
            _compare(store, whole.counts(db, number))
            numbers = whole.state(db, number)[1]
        with TranslatedErrors(store.path), Transaction(store.db):
            store.number_rows(numbers)
            position.leave(store.db)
        return


def remove(store: ReplicaStore) -> None:
    """Delete the store on its server, where it still is. Raises ServerRefused where others are members of it."""
    number = store.number
    with store.server.transaction() as db:
        if not whole.there(db, number):  # a former call was killed once it was deleted
            return
        if others := whole.others(db, number):
            raise ServerRefused(f"{others} others are members of the store on {store.server}: it stays there")
        _turn(store, db, number)
        whole.remove(db, number)
        db.execute("COMMIT")


def let_go(store: ReplicaStore) -> None:
    """Have a store be a replica of nothing."""
    with TranslatedErrors(store.path), Transaction(store.db):
        authorship.unsign_ours(store.db)
        position.forget(store.db)
    reach.forget(store.path)


def rows(store: ReplicaStore) -> dict[str, int]:
    """Count the rows of each table that hosts share."""
    with TranslatedErrors(store.path):
        return {name: table.count(store.db) for name, table in TABLES.items()}


def _turn(store: ReplicaStore, db: Connection, number: int) -> Turn:
    """Wait for our turn at a store of which nothing is brought in."""
    return turn.begin(store.server, db, number, position.END)


def _way(store: ReplicaStore) -> tuple[Move, int]:
    move, known = position.moving(store.db), position.store(store.db)
    if move is None or known is None:
        raise ServerRefused(f"{store.path} is not on its way to a server")
    if known[0] != store.server.id():
        raise ServerRefused(f"{store.server} is not the server that {store.path} is on its way to")
    return move, known[1]


def _uploaded(store: ReplicaStore, move: Move, number: int, progress: Progress) -> Move:
    there = rows(store)
    total, names = sum(there.values()), _ORDER
    began = names.index(move.table) if move.table else 0
    done = sum(there[name] for name in names[:began])
    if move.table:
        done += TABLES[move.table].count(store.db, move.group)
    numbers: dict[str, int] = dict(store.db.execute("SELECT name, seq FROM sqlite_sequence"))
    kept = whole.marked(numbers, move.token)
    with TranslatedErrors(store.path), closing(open_reader(store.path)) as local:
        for name in names[began:]:
            after = move.group if name == move.table else None
            for groups, part in _parts(TABLES[name], TABLES[name].beyond(local, after)):
                with store.server.transaction() as db:
                    held = _turn(store, db, number)
                    if whole.filling(db, number) != move.token:
                        raise ServerRefused(f"the store on {store.server} is not being filled from here any more")
                    turn.push(db, number, held.seq + 1, {name: (groups, part)}, kept, held.numbers)
                move = replace(move, table=name, group=groups[-1])
                _keep(store, move)
                done += len(part)
                progress(done, total)
    return move


def _parts(table: Table, found: Iterator[Row]) -> Iterator[tuple[list[Any], list[Row]]]:
    """Put whole groups together to about _ROWS rows."""
    place = table.columns.index(table.group)
    groups: list[Any] = []
    part: list[Row] = []
    for group, some in groupby(found, key=lambda row: row[place]):
        groups.append(group)
        part += some
        if len(part) >= _ROWS:
            yield groups, part
            groups, part = [], []
    if groups:
        yield groups, part


def _keep(store: ReplicaStore, move: Move) -> None:
    with TranslatedErrors(store.path), Transaction(store.db):
        position.keep_moving(store.db, move)


def _compare(store: ReplicaStore, there: dict[str, int]) -> None:
    """Raise StoreError where a table has not as many rows on the server as here."""
    for name, here in rows(store).items():
        if here != there[name]:
            raise StoreError(
                f"{store.path} has {here} rows of {name} and its server {there[name]}: nothing was changed; see"
                " `memman doctor`"
            )
