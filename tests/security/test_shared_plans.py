"""How the server finds the rows that a turn and a pull ask for: by index, whatever it knows of its tables, and no more.

A store of 10,000 memories, with as many rows in every other table, among twenty small ones: enough that reading a whole
table is dearer than looking up a page of it, and that a large store is not what the planner takes for the usual one.
"""

from contextlib import closing

import pytest

from memman.store.postgres import turn
from memman.store.postgres.schema import PEOPLE, TYPES
from memman.store.postgres.server import Server
from memman.store.tables import TABLES
from tests.support.plans import recorded

LARGE, SMALL, OTHERS = 10_000, 200, 20
# What columns are filled with that are not numbered like their row.
SAID = {"status": "'current'", "visibility": "'shared'", "author": "''", "planes": "'\\x0011'::bytea"}
TURNS = {name: number for number, name in enumerate(TABLES, 1)}
KEPT, GONE = 3, 3


def column(name, table):
    """Write what a column of a table is filled with."""
    kinds = {"bigint": "g", "text": "'x' || g", "bytea": "'\\x00'::bytea"}
    group = table.group == name and not table.numbered
    return SAID.get(name) or ("'x' || g" if group else kinds[TYPES[table.name, name]])


def filled(database, store, rows):
    """Fill every table of a store with so many rows, each table in a turn of its own."""
    for name, table in TABLES.items():
        columns = [*table.columns, *table.sent]
        values = ", ".join(column(one, table) for one in columns)
        listed = ", ".join(f'"{one}"' for one in columns)
        numbers = f"FROM generate_series(1, {rows}) g"
        database.sql(f"INSERT INTO memman.{name}(store, {listed}) SELECT {store}, {values} {numbers}")
        group = column(table.group, table)
        database.sql(f"INSERT INTO memman.change SELECT {store}, '{name}', {group}, {TURNS[name]} {numbers}")
    database.sql("UPDATE memman.store SET seq = %s WHERE id = %s", len(TABLES), store)


@pytest.fixture(scope="module")
def team(cluster):
    """Give a server with a large store of alice's that bob reads, and small ones."""
    with cluster.memman() as database:
        with closing(Server(database.role("alice", "memman_writer"))) as server:
            database.number = server.store("team", make=True)
            others = [server.store(f"other{n}", make=True) for n in range(OTHERS)]
        database.role("bob", "memman_writer")
        member = "INSERT INTO memman.member VALUES (%s, %s, 'write')"
        database.sql(member, database.number, database.called("bob"), role="alice")
        filled(database, database.number, LARGE)
        for other in others:
            filled(database, other, SMALL)
        yield database


def pulled(team):
    """Return the plans of a page of each table, as bob's machine asks for them."""
    with closing(Server(team.dsn("bob"))) as server, recorded() as plans:
        for number in TURNS.values():
            with server.transaction() as db:
                feed = turn.look(server, db, team.number, (number - 1, "~", ""))
                assert len(feed.changes) == 1
                db.execute("COMMIT")
    return plans


def turned(team, first):
    """Return the plans of a turn of alice's in which rows of each table come or change, and go, from number `first`."""
    changed = {}
    for name, table in TABLES.items():
        listed = ", ".join(f'"{one}"' for one in (*table.columns, *table.sent))
        groups = [n if table.numbered else f"x{n}" for n in range(first, first + KEPT + GONE)]
        query = f"SELECT {listed} FROM memman.{name} WHERE store = {team.number} AND {table.group} = ANY(%s)"
        changed[name] = groups, [*map(tuple, team.sql(query, groups[:KEPT]))]
    with closing(Server(team.dsn("alice"))) as server, server.transaction() as db, recorded() as plans:
        held = turn.begin(server, db, team.number, (2**63 - 1, "", ""))
        numbers = dict.fromkeys(("memory", "rule", "log"), LARGE)
        turn.push(db, team.number, held.seq + 1, changed, numbers, numbers)
    return plans


@pytest.mark.parametrize("known", [False, True], ids=["before the server looked at its tables", "after"])
def test_what_a_turn_and_a_pull_ask_is_found_by_index(team, known):
    """Each statement looks at the rows that it gives and at who may see them, in the store's own part of one table."""
    if known:
        team.sql("ANALYZE")
    for plans, least in ((pulled(team), 2 * len(TABLES)), (turned(team, 100 + 100 * known), 2 * len(TABLES) + 4)):
        assert len(plans) >= least
        for plan in plans:
            told = plan.statement[:100], plan.given, plan.read, plan.scanned, plan.indexes
            assert not plan.wasteful, told
            assert {*plan.scanned} <= {*PEOPLE}, told
            assert not plan.compiled, told
            assert not [node for node in plan.nodes if node["Node Type"] == "Append"], told
