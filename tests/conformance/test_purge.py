"""What is purged on one machine is nowhere afterwards: on no machine, and in no table of the server."""

import os
from dataclasses import replace

import pytest
from psycopg import sql

from memman.model.records import Edge, Fact
from memman.store.filters import Filters
from memman.store.postgres.server import Server
from memman.store.sqlite import typed
from tests.support.box import rows
from tests.support.scripted import day, told_to

CANARY = "xkrvqzwpt"
AT = day(40)


def sown(store):
    """Store a memory of which all that is kept has a word that nothing else has; return its row."""

    def also(unit, new):
        unit.link([Edge("entity", 6, new[0], 0.5, f"by {CANARY}"), Edge("causal", new[0], 7, 0.5, f"{CANARY} did")])
        unit.tie(new[0], {f"src/{CANARY}.py": "aa"})
        unit.put_aliases(new[0], [(CANARY, "other")])
        unit.bear_out(new[0], "said", f"session-{CANARY}", AT)
        unit.supersede(5, new[0], AT, AT, f"because of {CANARY}")
        unit.doubt(6, new[0], AT, f"perhaps {CANARY}")
        typed.keep(unit.db, new, f"I typed {CANARY}.")

    fact = Fact(f"The {CANARY} runs on Fly.", "fact", 4, (CANARY, "Fly"), (CANARY,), f"about {CANARY}")
    (row,) = store.note("note-00000077", (), AT, facts=[fact], session="s1", also=also)
    with store.unit() as unit:
        unit.link_by_hand(Edge("semantic", row, 9, 0.5, f"manual: {CANARY}"), AT)
        unit.expire(row, 10**13, AT, f"till {CANARY}")
        unit.protect(row, AT, wanted=True)
    store.note("note-00000078", [f"The {CANARY} is slow."], AT, session="s1")
    return row


def holds(values):
    """Whether any value has the canary, as text or as bytes."""
    return any(CANARY in (value.decode("latin-1") if isinstance(value, bytes) else str(value)) for value in values)


def on_server(dsn):
    """Return the tables of the server that have the canary, in any column of any row."""
    server = Server(dsn)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'memman'"
    found = set()
    for (name,) in server.db.execute(tables).fetchall():
        rows = server.db.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier("memman", name))).fetchall()
        found |= {name.rstrip("_0123456789")} if any(map(holds, rows)) else set()
    server.close()
    return found


def on_machine(store):
    """Return the tables of a machine that have the canary."""
    names = [name for (name,) in store.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    plain = [name for name in names if name != "fts"]
    return {name for name in plain if any(map(holds, store.db.execute(f"SELECT * FROM {name}")))}


def test_a_purged_memory_is_in_no_table(fresh, admin):
    """Stored by one machine, purged by the other: no table of either nor of the server has a word of it."""
    store = fresh("postgres")
    told_to(store)
    row = sown(store)
    store.wholes()
    assert on_server(admin) >= {"memory", "alias", "file", "evidence", "link", "log", "mention", "receipt"} - {
        "receipt"
    }
    assert all(on_machine(one) for one in store.stores)
    assert "typed" in set.union(*map(on_machine, store.stores))
    store.purge([row, row + 1], AT + 1)
    store.wholes()
    assert on_server(admin) == set()
    for one in store.stores:
        assert on_machine(one) == set()
        assert one.reader.matching(f'"{CANARY}"', 9) == 0
    assert not any(CANARY in hit[3] for hit in store.recall(CANARY, Filters(every=True, history=True)))
    store.stores.append(store.joined("late"))
    first, *others = store.wholes()
    assert others == [first] * 2


def test_a_machine_that_was_away_loses_what_was_purged_meanwhile(fresh):
    """However much has happened since, its next pull takes away what was purged, and what it does not know of."""
    store = fresh("postgres")
    told_to(store)
    away = store.joined("away")
    row = sown(store)
    away.pull()
    assert on_machine(away)
    store.purge([row, row + 1], AT + 1)
    for n in range(30):
        store.note(f"note-{n + 100:08d}", [f"Worker {n} retries {n + 2} times."], AT + 2 + n)
    away.pull()
    assert on_machine(away) == set()
    store.stores.append(away)
    first, *others = store.wholes()
    assert others == [first] * 2


@pytest.mark.parametrize("rows", [[1], [2, 3], [5], [6, 7, 8], list(range(1, 19))])
def test_purging_is_the_same_everywhere(fresh, rows):
    """Whoever came after what is purged passes its place on; all else stays as it is."""
    stores = [fresh(kind) for kind in ("memory", "sqlite", "postgres")]
    for store in stores:
        told_to(store)
        store.purge(rows, AT)
        store.note("note-00000060", ["Kestrel's port is 7070."], AT + 1, session="s1")
    first, *others = [whole for store in stores for whole in store.wholes()]
    for other in others:
        assert other == first
    for query in ("web shop", "Kestrel's port"):
        one, two, three = (
            [hit[0] for hit in store.recall(query, Filters(every=True, history=True))] for store in stores
        )
        assert one == two == three


def test_a_purge_on_one_machine_wipes_the_files_of_the_other(box, dsn):
    """By the program itself, with two data folders: after the other's next drain none of its files has a byte of it."""
    other = replace(box, data=box.data.parent / "other")
    other = replace(other, environ=box.environ | {"MEMMAN_DATA_DIR": str(other.data)})
    team = f"team{os.getpid()}"
    for one, more in ((box, ["--create"]), (other, [])):
        assert one.memman("store", "connect", team, "--dsn", "-", *more, input=dsn).returncode == 0
    for text in (
        "The gateway listens on port 8443.",
        f"The {CANARY} service caches invoices.",
        "Vite builds the shop.",
    ):
        assert box.memman("--store", team, "remember", text).returncode == 0
    for one in (box, other):
        assert one.memman("scheduler", "drain").returncode == 0
    assert files(other.data)
    (uid,) = rows(other.store_path(team), "SELECT uid FROM memory WHERE text LIKE ?", (f"%{CANARY}%",))
    assert box.memman("purge", uid, "--store", team).returncode == 0
    assert other.memman("scheduler", "drain").returncode == 0
    assert files(other.data) == []
    assert files(box.data) == []
    assert "8443" in other.memman("--store", team, "recall", "gateway port").stdout


def files(folder):
    """Return the files below a folder that have the canary."""
    return [path for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
