"""What upkeep changes in a store reaches all machines: cells, bounds, rows of another store."""

import pytest

from memman.store.filters import Filters
from memman.store.postgres import turn
from memman.store.replica import position
from memman.store.replica.store import ReplicaStore
from memman.store.sqlite import dump, load
from memman.store.sqlite.partition import Grain
from memman.store.sqlite.store import SqliteStore
from tests.support.scripted import day, told_to
from tests.support.stores import LOCAL

GRAIN = Grain(least=8, rows=2)
CELLS = (
    "SELECT embedder, memory, cell FROM vector ORDER BY 1, 2",
    "SELECT embedder, memory, cell, code FROM code ORDER BY 1, 2",
    "SELECT * FROM cell ORDER BY 1, 2",
    "SELECT * FROM beacon ORDER BY 1, 2",
)


def cells(store):
    """Return where a machine keeps its vectors."""
    return [list(store.db.execute(sql)) for sql in CELLS]


def without_authors(db):
    """Return all memories, but for what a server adds to them: who wrote them."""
    return [
        {name: value for name, value in one.items() if name != "authorship"} for one in dump.memories(db, vectors=True)
    ]


def test_a_partition_is_the_same_on_every_machine(fresh):
    """One machine divides the store, the other stores more: both have every vector in the same cell."""
    store = fresh("postgres")
    told_to(store)
    one, other = store.stores
    one.pull()
    one.maintain(GRAIN)
    other.pull()
    assert len(cells(one)[2]) > 5
    assert cells(one) == cells(other)
    for n in range(8):
        store.note(f"note-{n + 30:08d}", [f"Worker {n} of the queue retries {n * 3} times."], day(30 + n))
    first, *others = store.wholes()
    assert others == [first]
    assert cells(one) == cells(other)
    late = store.joined("late")
    assert cells(late) == cells(one)


@pytest.mark.parametrize("page", [1, 2, 3, 7, 50])
def test_a_machine_fills_up_page_by_page(fresh, page, monkeypatch):
    """However few changes it takes at a time, opened anew after each, a new machine ends with the same as the others.

    So does one that has some of it already, also where what it has was purged, moved and forgotten meanwhile.
    """
    store = fresh("postgres")
    told_to(store)
    half = store.joined("half")
    data = str(store.folder / "host0")
    late = ReplicaStore(data, f"{data}/late.db", half.server)
    late.connect(store.name, make=False)
    store.purge([3, 7], day(30))
    store.moved("forget", [9, 5], day(31))
    store.note("note-00000070", ["Kestrel's port is 7070.", "Kestrel is slow."], day(32), session="s1")
    monkeypatch.setattr(turn, "PAGE", page)
    for one in (half, late):
        more = True
        while more:
            with one.server.transaction() as db:
                feed = turn.look(one.server, db, store.number, position.position(one.db))
            one._bring_in(feed)
            more = feed.more
        store.stores.append(one)
    first, *others = store.wholes()
    assert others == [first] * 3
    sql = "SELECT embedder, cell, memory, code FROM code ORDER BY 1, 2, 3"
    index = (
        "SELECT rowid, bm25(fts, 1.0, 0.5, 0.35) FROM fts WHERE fts MATCH 'kestrel OR port OR web OR shop' ORDER BY 1"
    )
    names = "SELECT name, count FROM entity ORDER BY 1"
    for made in (sql, index, names):
        assert [list(one.db.execute(made)) for one in store.stores[1:]] == [list(store.stores[0].db.execute(made))] * 3
    late.close()


def test_the_number_of_a_purged_memory_is_never_given_again(fresh):
    """Nor by a machine that came after the purge and has never seen it."""
    store = fresh("postgres")
    rows = told_to(store)
    store.purge(rows[-2:], day(30))
    store.stores = [store.joined("late")]
    assert store.note("note-00000070", ["Kestrel is slow."], day(31)) == [rows[-1] + 1]


def test_machines_that_divide_at_once_divide_once(fresh):
    """What one machine has divided meanwhile is not divided again by another that saw it grow, too."""
    store = fresh("postgres")
    told_to(store)
    one, other = store.stores
    one.pull()
    other.pull()
    one.maintain(GRAIN)
    other.maintain(GRAIN)
    one.pull()
    assert cells(one) == cells(other)


def test_upkeep_of_a_small_store_asks_the_server_for_nothing(fresh):
    """Where nothing is due, upkeep takes no turn: a server out of reach does not hold it up."""
    store = fresh("postgres")
    told_to(store)
    (before,) = store.on_server("SELECT seq FROM memman.store WHERE id = %s", store.number)
    for one in store.stores:
        one.pull()
        one.server.close()
        one.server.parameters = {"host": "/nowhere"}
        one.maintain()
    assert store.on_server("SELECT seq FROM memman.store WHERE id = %s", store.number) == [before]


def test_a_store_moves_into_a_shared_one(fresh):
    """Carried over row by row, it is on every machine what it was."""
    old, shared = fresh("sqlite"), fresh("postgres")
    told_to(old)
    path = old.stores[0].path
    old.close()
    old.stores = [SqliteStore(path)]
    records = without_authors(old.writer.db)
    with shared.unit() as unit:
        rows: dict[str, int] = {}
        load.put(unit.db, "receipt", dump.receipts(old.writer.db))
        new = load.add(unit, records, rows, in_place=True, at=day(50))
        load.link(unit, records, rows, frozenset(new))
        load.put_vectors(unit, records, rows)
        unit.index(unit.touched(new))
    with shared.unit() as unit:
        number = unit.embedder(LOCAL.fingerprint)
        made = old.reader.planes(old.reader.embedder_id(LOCAL.fingerprint), range(1, 30))
        unit.put_vectors(number, [(memory, 0, *planes) for memory, *planes in made])
    for one in shared.stores:
        one.pull()
        assert without_authors(one.db) == records
        assert list(dump.receipts(one.db)) == list(dump.receipts(old.writer.db))
    for query in ("web shop", "Kestrel's port", "数据库端口"):
        for how in (Filters(every=True), Filters(history=True), *(Filters(as_of=day(n)) for n in range(12))):
            one, other = ([hit[:4] for hit in store.recall(query, how)] for store in (old, shared))
            assert one == other
