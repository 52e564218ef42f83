"""Who sees and changes which rows of a server: asked by SQL as each role, not by memman."""

from contextlib import closing, contextmanager

import psycopg
import pytest
from psycopg import errors

from memman.model.records import Draft, Edge, Fact, Fingerprint, Note, Provenance, Scope
from memman.store.postgres.schema import PARTS, PEOPLE, ROWS
from memman.store.replica.store import ReplicaStore
from tests.support.postgres import pooler

# Rows of a memory, by the column that names it.
OF_MEMORY = {
    **dict.fromkeys(("scoped", "mention", "alias", "freshness", "file", "evidence", "shown", "vector"), "memory"),
    "authorship": "memory",
    "memory": "id",
    "link": "src",
}
TELLING = (*OF_MEMORY, "receipt", "meta", "log", "rule")
PRIVATE, SHARED = "alices", "everyones"


@pytest.fixture(scope="module")
def team(cluster, tmp_path_factory):
    """Give a server with a store of alice's, that bob writes to and carol reads; dave is no member."""
    with cluster.memman() as database:
        for role in ("alice", "bob", "carol", "dave"):
            database.role(role, "memman_reader" if role == "carol" else "memman_writer")
        database.number = number(database, "alice", str(tmp_path_factory.mktemp("alice")))
        for role, may in (("bob", "write"), ("carol", "read")):
            values = (database.number, database.called(role), may)
            database.sql("INSERT INTO memman.member VALUES (%s, %s, %s)", *values, role="alice")
        # Rows of tests' own have numbers up to here.
        given = """UPDATE memman.store SET numbers = numbers || '{"memory": 999, "log": 999, "rule": 999}'"""
        database.sql(given, role="alice")
        yield database


def number(database, role, data):
    """Fill a store as a role with a private and a shared memory and all that is said of each; return its number."""
    with closing(ReplicaStore.connected(data, "team", database.dsn(role))) as store:
        store.connect("team", make=True)
        for uid, scope in ((PRIVATE, ""), (SHARED, "repository"), (PRIVATE + "2", ""), (SHARED + "2", "repository")):
            with store.unit() as unit:
                unit.embedder(Fingerprint("scripted", "model", 1))
                note = Note(f"note-{uid}", "team", "said", 1, provenance=Provenance(cwd=f"/home/{uid}"))
                unit.receipt(note, 1, "stored", 1, "drain", "{}")
                fact = Fact(f"The secret of {uid}", entities=(uid,))
                memory = unit.add(Draft(uid, note.uid, fact, "user", "@", 1, ((1, 0, b"\0'\\", 3),), Scope(scope)), 1)
                unit.put_aliases(memory, [(uid, f"known {uid}")])
                unit.expire(memory, 99, 1)
                unit.tie(memory, {f"src/{uid}": "blob"})
                unit.bear_out(memory, "said", uid, 1)
                unit.set_meta(f"protected:{uid}", uid)
                store.db.execute("INSERT INTO shown(memory, way, at) VALUES (?, 'recall', 1)", (memory,))
                store.db.execute(
                    "INSERT INTO rule(uid, text, scope, made_at) SELECT ?, ?, scope, 1 FROM scoped WHERE memory = ?",
                    (f"rule-{uid}", uid, memory),
                )
                if memory > 2:
                    unit.link([Edge("semantic", memory, memory - 2, 0.5, uid)])
                unit.index([memory])
        return store.number


def counted(database, role, table, store=None):
    """Count the rows of a table that a role sees."""
    return database.sql(f"SELECT count(*) FROM memman.{table}", role=role, store=store or database.number)[0]


def seen(database, role):
    """Return all that a role sees of the tables with rows of memories, as text."""
    told = {
        name: database.sql(f"SELECT t::text FROM memman.{name} t", role=role, store=database.number) for name in ROWS
    }
    return {name: " ".join(map(str, rows)) for name, rows in told.items()}


def test_a_member_sees_what_is_shared_and_nothing_of_what_another_keeps(team):
    """The private memories of alice are in no table that bob or carol reads; hers is all of it."""
    mine = seen(team, "alice")
    assert all(PRIVATE in mine[name] for name in ("memory", "receipt", "meta", "log", "rule", "alias"))
    for role in ("bob", "carol"):
        theirs = seen(team, role)
        assert not [name for name in TELLING if PRIVATE in theirs[name]]
        for name, column in OF_MEMORY.items():
            ids = team.sql(f"SELECT {column} FROM memman.{name}", role=role, store=team.number)
            assert set(ids) <= {2, 4}, name
            assert ids, name
        assert all(SHARED in theirs[name] for name in ("memory", "receipt", "meta", "log", "rule", "alias", "file"))


@pytest.mark.parametrize("role", ["dave", "owner"])
def test_who_is_no_member_sees_no_row(team, role):
    """Neither somebody with the same rights nor the owner of the tables sees a row of a store they are no member of."""
    address = team.role("owner", "memman_owner") if role == "owner" else team.dsn("dave")
    with closing(psycopg.connect(address, autocommit=True)) as db:
        if role == "owner":
            db.execute("SET ROLE memman_owner")
        for name in ROWS:
            db.execute("SELECT set_config('memman.store', %s, false)", (str(team.number),))
            assert db.execute(f"SELECT count(*) FROM memman.{name}").fetchone() == (0,), name
    if role == "dave":
        assert counted(team, "dave", "store") == counted(team, "dave", "member") == 0


def test_a_connection_whose_transaction_ended_sees_no_row(team):
    """What a pooler hands on has no store: not after a commit, a rollback, or where none was ever named."""
    with closing(team.connect("alice")) as db:
        for ending in ("COMMIT", "ROLLBACK", ""):
            if ending:
                db.execute("BEGIN")
                db.execute("SELECT set_config('memman.store', %s, true)", (str(team.number),))
                assert db.execute("SELECT count(*) FROM memman.memory").fetchone() == (4,)
                db.execute(ending)
            for name in ROWS:
                assert db.execute(f"SELECT count(*) FROM memman.{name}").fetchone() == (0,), name


def test_no_part_of_a_table_shows_what_the_table_does_not(team):
    """Asked by its own name a part refuses, and shows nothing to the owner of the tables either."""
    for role in ("alice", "bob", "dave"):
        for part in range(PARTS):
            with pytest.raises(errors.InsufficientPrivilege):
                team.sql(f"SELECT * FROM memman.memory_{part}", role=role, store=team.number)
    with closing(psycopg.connect(team.role("owner", "memman_owner"), autocommit=True)) as db:
        db.execute("SET ROLE memman_owner")
        shown = [db.execute(f"SELECT count(*) FROM memman.memory_{part}").fetchone() for part in range(PARTS)]
    assert shown == [(0,)] * PARTS


@pytest.mark.parametrize("table", ROWS)
def test_a_reader_changes_nothing(team, table):
    """Neither a role that may only read nor a writer's in a store where it may only read changes a row."""
    team.role("erin", "memman_writer")
    team.sql("DELETE FROM memman.member WHERE role = %s", team.called("erin"), role="alice")
    team.sql("INSERT INTO memman.member VALUES (%s, %s, 'read')", team.number, team.called("erin"), role="alice")
    with pytest.raises(errors.InsufficientPrivilege):
        team.sql(f"DELETE FROM memman.{table}", role="carol", store=team.number)
    before = counted(team, "alice", table)
    team.sql(f"DELETE FROM memman.{table}", role="erin", store=team.number)
    assert counted(team, "alice", table) == before
    assert team.sql("SELECT 1 FROM memman.store WHERE id = %s FOR UPDATE", team.number, role="erin") == []


@contextmanager
def refused():
    """Expect that a policy, or a right, bars a statement."""
    with pytest.raises((errors.InsufficientPrivilege, errors.CheckViolation)):
        yield


def test_nobody_writes_in_the_name_of_another(team):
    """The author of a row is who stores it, whatever it says, and nobody changes that."""
    row = "(store, id, uid, text, tool, pattern, action, repository, path, memory, made_at, hits, author, visibility)"
    values = "VALUES (%s, 900, 'r900', 'Obey', '', '', 'inform', '', '', '', 1, 0, %s, 'private')"
    with refused():
        team.sql(
            f"INSERT INTO memman.rule {row} {values}", team.number, team.called("alice"), role="bob", store=team.number
        )
    claim = "INSERT INTO memman.authorship VALUES (%s, 901, %s, 'shared', '')"
    team.sql(claim, team.number, team.called("alice"), role="bob", store=team.number)
    who = "SELECT author FROM memman.authorship WHERE memory = 901"
    assert team.sql(who, role="bob", store=team.number) == [team.called("bob")]
    team.sql("UPDATE memman.authorship SET author = %s, retired_by = %s WHERE memory = 901",
             team.called("alice"), team.called("alice"), role="bob", store=team.number)  # fmt: skip
    told = "SELECT author, retired_by FROM memman.authorship WHERE memory = 901"
    assert team.sql(told, role="bob", store=team.number) == [(team.called("bob"),) * 2]
    team.sql("DELETE FROM memman.authorship WHERE memory = 901", role="bob", store=team.number)


MEMORY = "SELECT text, status FROM memman.memory WHERE uid = %s"
BARRED = {
    "a text": "UPDATE memman.memory SET text = 'Obey', digest = 1 WHERE id = 2",
    "words by a marker": "UPDATE memman.memory SET text = replace(text, 'secret', '[redacted:github-token]')"
    " WHERE id = 2",
    "a rule's text": f"UPDATE memman.rule SET text = 'Obey' WHERE uid = 'rule-{SHARED}'",
    "what a rule does": f"UPDATE memman.rule SET action = 'deny', pattern = '.' WHERE uid = 'rule-{SHARED}'",
    "a source": "UPDATE memman.memory SET source = 'agent' WHERE id = 2",
    "a memory under her name": "DELETE FROM memman.memory WHERE id = 2;"
    " INSERT INTO memman.memory SELECT store, 2, 'x', note, 'Obey', category, importance, entities, keywords, summary,"
    " source, origin, valid_from, valid_to, recorded_at, retired_at, status, superseded_by, uses, digest, screened"
    " FROM memman.memory WHERE id = 4",
    "the last turn": f"UPDATE memman.store SET seq = {2**63 - 1}",
    "an earlier turn": "UPDATE memman.store SET seq = seq - 1",
    "the last row": f"""UPDATE memman.store SET numbers = numbers || '{{"memory": {2**63 - 1}}}'""",
    "no row": "UPDATE memman.store SET numbers = numbers - 'memory'",
    "no number": """UPDATE memman.store SET numbers = numbers || '{"memory": "x"}'""",
    "a change in the last turn": f"UPDATE memman.change SET seq = {2**63 - 1} WHERE name = 'memory'",
    "the next memory": "INSERT INTO memman.authorship SELECT id, 1000, '', 'private', '' FROM memman.store",
    "a setting of all": "INSERT INTO memman.meta(store, key, value, visibility)"
    " SELECT id, 'spread:x', '1', 'private' FROM memman.store",
    "a mark of hers": "INSERT INTO memman.meta(store, key, value, visibility)"
    f" SELECT id, 'maybe:{SHARED}', '1', 'private' FROM memman.store",
    "the number of a line": "INSERT INTO memman.log(store, id, at, verb, memory, note, visibility)"
    f" SELECT id, {2**63 - 1}, 1, 'x', '', '', 'shared' FROM memman.store",
}


@pytest.mark.parametrize("what", BARRED)
def test_a_writers_sql_changes_nobodys_text_and_ends_nobodys_turns(team, what):
    """Bob may retire what alice shared; what it says he cannot change, nor take what she needs to go on."""
    before = team.sql(MEMORY, SHARED, role="alice", store=team.number)
    with refused():
        team.sql(BARRED[what], role="bob", store=team.number)
    assert team.sql(MEMORY, SHARED, role="alice", store=team.number) == before


def test_after_all_that_both_go_on(team, tmp_path):
    """Bob's own turn retires alice's memory, and hers changes what she wrote."""
    for role in ("bob", "alice"):
        with closing(ReplicaStore.connected(str(tmp_path / role), "team", team.dsn(role))) as store:
            store.connect("team", make=False)
            store.pull()
            with store.unit() as unit:
                memory = unit.db.execute("SELECT id FROM memory WHERE uid = ?", (SHARED + "2",)).get
                unit.forget(memory, 5) if role == "bob" else unit.restore(memory, 6)
    assert team.sql(MEMORY, SHARED + "2", role="bob", store=team.number) == [(f"The secret of {SHARED}2", "current")]
    team.sql("UPDATE memman.memory SET text = text WHERE id = 2", role="alice", store=team.number)
    for role, change in (("bob", "snoozed_until = 5, hits = 1"), ("alice", "text = 'Ask first'")):
        told = team.sql(f"UPDATE memman.rule SET {change} WHERE uid = 'rule-{SHARED}' RETURNING hits",
                        role=role, store=team.number)  # fmt: skip
        assert told == [1]


ABOUT_ANOTHERS = {
    "mention": "(store, memory, name) VALUES (%s, 1, 'x')",
    "alias": "(store, name, means, memory) VALUES (%s, 'x', 'y', 1)",
    "evidence": "(store, memory, kind, session, at) VALUES (%s, 1, 'wrong', 's', 1)",
    "link": "(store, src, kind, dst, weight, detail) VALUES (%s, 2, 0, 1, 1, '')",
    "log": "(store, id, at, verb, memory, note, about, visibility) VALUES (%s, 900, 1, 'x', 'x', '', 1, 'shared')",
    "meta": "(store, key, value, about, visibility) VALUES (%s, 'protected:x', '1', 1, 'shared')",
}


@pytest.mark.parametrize("table", ABOUT_ANOTHERS)
def test_nobody_says_anything_of_what_they_do_not_see(team, table):
    """A row about another's private memory is refused."""
    with refused():
        team.sql(f"INSERT INTO memman.{table} {ABOUT_ANOTHERS[table]}", team.number, role="bob", store=team.number)


def test_only_the_author_decides_who_sees_a_memory(team):
    """Bob can retire what is shared, but neither take it out of sight nor into it."""
    with refused():
        team.sql("UPDATE memman.authorship SET visibility = 'private' WHERE memory = 2", role="bob", store=team.number)
    team.sql("UPDATE memman.authorship SET visibility = 'shared' WHERE memory = 1", role="bob", store=team.number)
    assert counted(team, "bob", "memory") == 2


SAID_OF = {
    "log": "(store, id, at, verb, memory, note, about, visibility) VALUES (%s, 910, 1, 'x', 'x', '', 4, 'shared')",
    "meta": "(store, key, value, about, visibility) VALUES (%s, 'maybe:everyones2', 'y', 4, 'shared')",
}


@pytest.mark.parametrize("table", SAID_OF)
def test_what_is_said_of_a_memory_is_for_whom_it_is(team, table):
    """A row of bob's about a memory is alice's alone while that is, whatever it says itself, and hers to change."""
    key = "key = 'maybe:everyones2'" if table == "meta" else "id = 910"
    team.sql(f"INSERT INTO memman.{table} {SAID_OF[table]}", team.number, role="bob", store=team.number)
    ask = f"SELECT visibility FROM memman.{table} WHERE {key}"
    for visibility, theirs in (("private", []), ("shared", ["private"])):
        team.sql(f"UPDATE memman.authorship SET visibility = '{visibility}' WHERE memory = 4",
                 role="alice", store=team.number)  # fmt: skip
        assert team.sql(ask, role="bob", store=team.number) == theirs
        team.sql(f"UPDATE memman.{table} SET visibility = 'private' WHERE {key}", role="alice", store=team.number)
        assert team.sql(ask, role="alice", store=team.number) == ["private"]
    author = team.sql(f"SELECT author FROM memman.{table} WHERE {key}", role="alice", store=team.number)
    assert author == [team.called("bob")]
    team.sql(f"DELETE FROM memman.{table} WHERE {key}", role="alice", store=team.number)


def test_a_line_of_a_memory_that_is_gone_stays_for_whom_it_was(team):
    """Bob cannot take a line of alice's out of her sight by saying that it is of nothing, nor bring one into his."""
    line = "UPDATE memman.log SET about = NULL, visibility = %s, before = NULL, after = NULL WHERE memory = %s"
    told = "SELECT author, visibility FROM memman.log WHERE memory = %s"
    shared = team.sql(told, SHARED, role="alice", store=team.number)
    team.sql(line, "private", SHARED, role="bob", store=team.number)
    assert team.sql(told, SHARED, role="alice", store=team.number) == shared
    assert {visibility for _, visibility in shared} == {"shared"}
    team.sql(line, "shared", PRIVATE, role="bob", store=team.number)
    team.sql(line, "shared", PRIVATE, role="alice", store=team.number)
    assert team.sql(told, PRIVATE, role="bob", store=team.number) == []
    assert team.sql(told, PRIVATE, role="alice", store=team.number)


def test_nobody_takes_the_receipt_of_another_out_of_sight(team):
    """Bob may change what alice's shared receipt says, but not for whom it is, or whose."""
    changed = (
        "UPDATE memman.receipt SET outcome = 'purged', visibility = 'private', author = current_user WHERE note = %s"
    )
    team.sql(changed, f"note-{SHARED}", role="bob", store=team.number)
    said = "SELECT outcome, visibility, author FROM memman.receipt WHERE note = %s"
    for role in ("alice", "bob"):
        told = team.sql(said, f"note-{SHARED}", role=role, store=team.number)
        assert told == [("purged", "shared", team.called("alice"))]


def test_edges_go_with_the_memory_whoever_made_them(team):
    """An edge of alice's private memory, which bob does not see, goes when he deletes the memory at its other end."""
    team.sql("INSERT INTO memman.authorship VALUES (%s, 920, '', 'shared', '')", team.number,
             role="alice", store=team.number)  # fmt: skip
    edge = "INSERT INTO memman.link(store, src, kind, dst, weight, detail) VALUES (%s, 1, 3, 920, 1, 'telling')"
    team.sql(edge, team.number, role="alice", store=team.number)
    assert team.sql("SELECT 1 FROM memman.link WHERE dst = 920", role="bob", store=team.number) == []
    team.sql("DELETE FROM memman.authorship WHERE memory = 920", role="bob", store=team.number)
    assert team.sql("SELECT 1 FROM memman.link WHERE detail = 'telling'") == []


def test_functions_act_for_nobody_else(team):
    """Naming another role to a function of the server's gives nothing of what that role may."""
    alice = team.called("alice")
    with closing(team.connect("dave")) as db, db.transaction():
        db.execute("SELECT set_config('memman.store', %s, true)", (str(team.number),))
        assert db.execute("SELECT memman.chosen(%s, '{own}')", (alice,)).fetchone() == (None,)
        assert db.execute("SELECT memman.is_member(%s, %s, '{own}')", (alice, team.number)).fetchone() == (False,)
        assert db.execute("SELECT memman.make_store(%s, 'hers')", (alice,)).fetchone() == (None,)
    with refused():
        team.sql("SELECT memman.make_store(%s, 'his')", team.called("carol"), role="carol")
    paths = team.sql(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'memman'::regnamespace"
        " AND coalesce(array_to_string(proconfig, ' '), '') NOT LIKE '%search_path=pg_catalog, pg_temp%'"
    )
    assert paths == []


def test_names_that_a_role_puts_before_the_servers_own_change_nothing(team):
    """Tables and functions in a schema of one's own, first on the path, do not come in place of the server's."""
    with closing(team.connect("dave")) as db:
        db.execute("CREATE TEMP TABLE member(store bigint, role text, may text)")
        db.execute("INSERT INTO member VALUES (%s, current_user, 'own')", (team.number,))
        db.execute("SET search_path = pg_temp, memman")
        with db.transaction():
            db.execute("SELECT set_config('memman.store', %s, true)", (str(team.number),))
            assert db.execute("SELECT count(*) FROM memman.memory").fetchone() == (0,)


def test_set_role_counts_as_the_role_that_was_taken(team):
    """Whoever takes another role is who that is, and may take only a role that is theirs to take."""
    team.role("frank", "memman_writer", team.called("dave"))
    with closing(team.connect("frank")) as db:
        with pytest.raises(errors.InsufficientPrivilege):
            db.execute(f"SET ROLE {team.called('alice')}")
        db.execute(f"SET ROLE {team.called('dave')}")
        made = db.execute("SELECT memman.make_store(current_user, 'of dave')").fetchone()
    assert team.sql("SELECT role FROM memman.member WHERE store = %s", *made, role="dave") == [team.called("dave")]
    assert team.sql("SELECT id FROM memman.store WHERE name = 'of dave'", role="frank") == []


def test_only_who_owns_a_store_says_who_its_members_are(team):
    """A writer adds, promotes and removes nobody, but may leave."""
    team.role("gina", "memman_writer")
    with refused():
        team.sql("INSERT INTO memman.member VALUES (%s, %s, 'own')", team.number, team.called("gina"), role="bob")
    team.sql("UPDATE memman.member SET may = 'own'", role="bob")
    team.sql("DELETE FROM memman.member WHERE role <> current_user", role="bob")
    team.sql("INSERT INTO memman.member VALUES (%s, %s, 'write')", team.number, team.called("gina"), role="alice")
    may = dict(team.sql("SELECT role, may FROM memman.member WHERE store = %s", team.number, role="alice"))
    assert may[team.called("bob")] == may[team.called("gina")] == "write"
    team.sql("DELETE FROM memman.member WHERE role = current_user", role="gina")
    assert counted(team, "gina", "memory") == 0


def test_no_role_passes_by_the_policies(team):
    """None of the three roles bypasses row-level security, and every table of rows forces it on its owner."""
    assert (
        team.sql("SELECT rolname FROM pg_roles WHERE rolname LIKE 'memman\\_%er' AND (rolbypassrls OR rolsuper)") == []
    )
    open_ = "SELECT relname FROM pg_class WHERE relnamespace = 'memman'::regnamespace AND relkind IN ('r', 'p')"
    unbound = team.sql(f"{open_} AND NOT (relrowsecurity AND relforcerowsecurity)")
    assert set(unbound) == set(PEOPLE)


def test_a_pooler_in_transaction_mode_mixes_nobody_up(team, tmp_path):
    """Through PgBouncer alice and bob each see what is theirs, and their turns and pulls go through."""
    with pooler(team, "alice", "bob") as pool:
        stores = {}
        for role in ("alice", "bob"):
            stores[role] = ReplicaStore.connected(str(tmp_path / role), "team", team.dsn(role, port=pool.port))
            stores[role].connect("team", make=False)
        for turn in range(10):
            for role, store in stores.items():
                for scope in ("", "repository"):
                    with store.unit() as unit:
                        uid = f"{role}-{scope}-{turn}"
                        unit.add(Draft(uid, uid, Fact(f"Heron {uid}"), "user", "@", 1, (), Scope(scope)), 1)
        for store in stores.values():
            store.pull()
        kept = {role: store.db.execute("SELECT uid FROM memory").fetchall() for role, store in stores.items()}
        for role, other in (("alice", "bob"), ("bob", "alice")):
            uids = {uid for (uid,) in kept[role]}
            assert {f"{role}--{turn}" for turn in range(10)} <= uids
            assert {f"{other}-repository-{turn}" for turn in range(10)} <= uids
            assert not {f"{other}--{turn}" for turn in range(10)} & uids
        for store in stores.values():
            store.close()
