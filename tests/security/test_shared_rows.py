"""Who sees and changes which rows of a server: asked by SQL as each role, not by memman."""

import json
from contextlib import closing

import pytest
from psycopg import errors

from memman.model.errors import MemmanError, ServerRefused
from memman.store.sqlite import rules
from tests.support.postgres import pooler
from tests.support.team import REPOSITORY, Member, members

TABLES = ("version", "server", "store", "member", "host", "subject", "record")
PRIVATE, SHARED = "The heron sleeps in my shed", "The heron of the harbour is called Balthazar"
RULE = "01" * 16


@pytest.fixture
def team(database, tmp_path):
    """Give a store of alice's, that bob writes to and carol reads; dave is no member. Each has met the server."""
    with members(database, tmp_path, ("alice", "bob", "carol"), carol="read") as people:
        alice = people["alice"]
        alice.private, alice.shared = alice.tell(PRIVATE, private=True), alice.tell(SHARED)
        with alice.store.unit() as unit:
            said = {"uid": RULE, "text": "Ask the harbour first", "tool": "", "pattern": "", "action": "inform",
                    "memory": "", "ends_at": None, "repository": REPOSITORY.repository, "path": ""}  # fmt: skip
            rules.add(unit, said, 1)
        for one in people.values():
            one.meet()
        database.role("dave", "memman_writer")
        yield people


def seen(database, role, number):
    """Return all that a role can read by SQL."""
    ways = [f"SELECT t::text FROM memman.{table} t" for table in ("store", "member", "host", "subject", "record")]
    ways += [f"SELECT r::text FROM memman.pull({number}, '{{}}', 100) r"]
    ways += [f"SELECT r::text FROM memman.again({number}, (SELECT array_agg(uid) FROM memman.subject)) r"]
    return "\n".join(str(row) for way in ways for row in database.sql(way, role=role))


def test_everybody_sees_what_is_shared_and_their_own(team, database):
    """Of a private memory others see no word, id or receipt, by no way; who is no member sees nothing at all."""
    alice = team["alice"]
    told = {role: seen(database, role, alice.number) for role in ("alice", "bob", "carol", "dave")}
    for words in (PRIVATE, alice.private):
        assert [role for role, said in told.items() if words in said] == ["alice"]
    for words in (SHARED, alice.shared, "Ask the harbour first"):
        assert [role for role, said in told.items() if words in said] == ["alice", "bob", "carol"]
    assert told["dave"].strip() == ""


@pytest.mark.parametrize("role", ["alice", "bob", "carol", "dave"])
def test_nobody_writes_to_a_table(team, database, role):
    """There is no right to, whatever one may do in the store."""
    for table in TABLES:
        for statement in (f"UPDATE memman.{table} SET ctid = ctid", f"DELETE FROM memman.{table}",
                          f"INSERT INTO memman.{table} SELECT * FROM memman.{table}"):  # fmt: skip
            with pytest.raises((errors.InsufficientPrivilege, errors.GeneratedAlways)):
                database.sql(statement.replace("ctid = ctid", COLUMN[table]), role=role)
    assert database.sql("SELECT count(*) FROM memman.record WHERE body <> ''")[0] == len(
        team["alice"].store.db.execute("SELECT 1 FROM record").fetchall()
    )


COLUMN = {
    "version": "number = 1", "server": "id = ''", "store": "name = ''", "member": "may = 'own'",
    "host": "n = 1", "subject": "visibility = 'shared'", "record": "body = ''",
}  # fmt: skip


def test_only_who_may_write_sends_records(team, database):
    """A reader and who is no member are refused, and may not make or fill a store of others either."""
    alice, carol = team["alice"], team["carol"]
    with pytest.raises(ServerRefused):
        carol.push({"memory": "a" * 20})
    for call in ("push({0}, 'x', '[]')", "admit({0}, 'dave', 'own')"):
        with pytest.raises(errors.InsufficientPrivilege):
            database.sql("SELECT memman." + call.format(alice.number), role="dave")


NUMBERS = {
    "the last number": ({"n": 2**63 - 1}, "one after the other"),
    "another's number": ({}, "another member"),
    "the far future": ({"at": 2**62}, "the clock"),
    "before all time": ({"at": -1}, "cannot store"),
    "no JSON": ({"body": "{"}, "cannot store"),
    "half a sign": ({"body": r'{"how":"\ud800"}'}, "cannot store"),
    "too much": ({"body": json.dumps({"how": "x" * 2**22})}, "cannot store"),
}


@pytest.mark.parametrize("what", NUMBERS)
def test_numbers_and_moments_after_which_nobody_could_go_on_are_refused(team, what):
    """A member gives numbers to their own machines alone, and all others go on."""
    given, says = NUMBERS[what]
    bob, alice = team["bob"], team["alice"]
    host = alice.store.db.execute("SELECT name FROM host WHERE id = 1").get if what == "another's number" else "hostile"
    with pytest.raises(MemmanError, match=says):
        bob.push({"memory": alice.shared} | given, host=host)
    later = alice.tell("The heron eats carp")
    alice.meet()
    bob.meet()
    assert bob.row(later)


def said(how, **sets):
    """Write a body."""
    return json.dumps({"how": how, "set": sets})


TWICE = '{{"how":"add","set":{0},"set":{0}}}'


def foreign(alice):
    """Return what only alice may say, as bob says it."""
    text = json.loads(alice.store.db.execute("SELECT body ->> '$.set.text' FROM record WHERE memory = ?",
                                             (alice.shared,)).get) | {"text": "Obey"}  # fmt: skip
    rule = json.loads(alice.store.db.execute("SELECT body ->> '$.set.rule' FROM record WHERE memory = ?", (RULE,)).get)
    acts = [act for (act,) in alice.store.db.execute("SELECT DISTINCT act FROM record")]
    return {
        "a text": {"memory": alice.shared, "body": said("add", text=text)},
        "a text twice": {"memory": alice.shared, "body": TWICE.format(json.dumps({"text": text}))},
        "an author": {"memory": alice.shared, "body": said("add", author="bob")},
        "who sees it": {"memory": alice.shared, "kind": "shared", "visibility": "private",
                        "body": said("unshare", visibility="private")},
        "who sees it, aside": {"memory": alice.shared, "kind": "scoped", "body": said("move", visibility="private")},
        "what she keeps": {"memory": alice.private, "kind": "shared", "visibility": "shared",
                           "body": said("share", visibility="shared")},
        "a purge": {"memory": alice.shared, "kind": "purged", "body": said("purge")},
        "a redaction": {"memory": alice.shared, "kind": "redacted", "body": said("redact")},
        "a rule": {"memory": RULE, "kind": "rule", "body": said("rule move", rule=rule | {"action": "deny"})},
        **{f"an act of hers {n}": {"at": 0, "act": act, "memory": "c" * 20} for n, act in enumerate(acts)},
    }  # fmt: skip


def test_what_is_not_for_a_member_to_say_nobody_hears(team, database):
    """Of another's memory a writer's SQL changes neither text, author, sight nor rule, and purges nothing."""
    alice, bob, carol = team["alice"], team["bob"], team["carol"]
    before = {role: team[role].states() for role in team}
    rows = "SELECT host, n, body FROM memman.record WHERE author = %s ORDER BY 1, 2"
    there = database.sql(rows, database.called("alice"))
    for host, one in foreign(alice).items():
        bob.push(one | {"author": database.called("alice")}, host=host.replace(" ", "").replace(",", ""))
    bob.server.db.execute("SELECT memman.redact(%s, host, n, 'x') FROM memman.record", (bob.number,))
    for one in team.values():
        one.meet()
    assert database.sql(rows, database.called("alice")) == there
    assert alice.states() == before["alice"]
    assert carol.states() == before["carol"]
    assert database.sql(
        "SELECT count(*) FROM memman.record WHERE author = %s AND NOT void", database.called("bob")
    ) == [0]
    assert PRIVATE not in seen(database, "bob", alice.number)


def test_what_a_member_may_say_of_anothers_memory_all_hear(team):
    """Bob retires what alice shared, snoozes her rule and marks what he doubts; an owner purges what bob wrote."""
    alice, bob, carol = team["alice"], team["bob"], team["carol"]
    mine = bob.tell("The pike of the moat is called Melchior")
    with bob.store.unit() as unit:
        unit.forget(bob.row(alice.shared), 5)
        rule = next(one for one in rules.listed(bob.store.reader) if one["uid"] == RULE)
        rules.snooze(unit, rule, 99, 5)
    for one in (bob, alice, carol):
        one.meet()
    assert alice.states()[alice.shared]["status"]["status"] == "forgotten"
    assert alice.store.reader.authorship([alice.row(alice.shared)])[alice.row(alice.shared)].retired_by.endswith("bob")
    assert carol.store.db.execute("SELECT snoozed_until FROM rule").get == 99
    alice.push({"memory": mine, "kind": "purged", "body": said("purge")}, host="another")
    for one in (bob, carol):
        one.meet()
        assert "Melchior" not in str(one.store.db.execute("SELECT * FROM record").fetchall())


STRANGE = (
    "[1]", "{}", '{"how":"add","set":7}', '{"how":"add","set":{"text":{"text":5}}}', '{"how":"no such verb"}',
    '{"how":"add","set":{"evidence [":1}}', '{"how":"share","set":{}}',
    '{"how":"add","set":{"status":{"status":"x","valid_to":null,"retired_at":null,"superseded_by":null}}}',
)  # fmt: skip


def test_records_that_no_memman_writes_stop_nobody(team):
    """They are left out, and what comes after them is not."""
    bob, alice = team["bob"], team["alice"]
    bob.push(*({"memory": f"{n:020x}", "visibility": "shared", "body": body} for n, body in enumerate(STRANGE)))
    later = bob.tell("The heron eats carp")
    bob.meet()
    alice.meet()
    assert alice.texts() == ["The heron eats carp", SHARED, PRIVATE]
    assert alice.row(later)


def test_functions_act_for_nobody_else_and_by_no_other_names(team, database):
    """Every function has its own path, nobody has one that was not given them, and tables in front change nothing."""
    alice = team["alice"]
    odd = (
        "SELECT proname FROM pg_proc WHERE pronamespace = 'memman'::regnamespace AND"
        " (coalesce(array_to_string(proconfig, ' '), '') NOT LIKE '%search_path=pg_catalog, pg_temp%'"
        " OR has_function_privilege('public', oid, 'EXECUTE'))"
    )
    assert database.sql(odd) == []
    with closing(database.connect("dave")) as db:
        db.execute("CREATE TEMP TABLE member(store bigint, role text, may text)")
        db.execute("INSERT INTO member VALUES (%s, session_user, 'own')", (alice.number,))
        db.execute("SET search_path = pg_temp, memman")
        assert db.execute("SELECT count(*) FROM memman.record").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM memman.pull(%s, '{}', 100)", (alice.number,)).fetchone() == (0,)


def test_only_who_owns_a_store_says_who_its_members_are(team, database):
    """A writer adds, promotes and removes nobody; who is removed sees nothing."""
    alice, bob = team["alice"], team["bob"]
    with pytest.raises(errors.InsufficientPrivilege, match="only its owner"):
        database.sql("SELECT memman.admit(%s, %s, 'own')", bob.number, database.called("bob"), role="bob")
    database.sql("SELECT memman.admit(%s, %s, '')", bob.number, database.called("bob"), role="alice")
    assert seen(database, "bob", alice.number).strip() == ""
    with pytest.raises(ServerRefused, match="no member"):
        bob.meet()


def test_no_role_passes_by_the_policies(database):
    """Neither of the two roles bypasses row-level security, and every table with rows of stores has it."""
    bypassing = "SELECT rolname FROM pg_roles WHERE rolname LIKE 'memman\\_%er' AND (rolbypassrls OR rolsuper)"
    assert database.sql(bypassing) == []
    secured = "SELECT relname FROM pg_class WHERE relnamespace = 'memman'::regnamespace AND relrowsecurity"
    assert {*database.sql(secured)} == {*TABLES} - {"version", "server"}


@pytest.mark.usefixtures("team")
def test_a_pooler_in_transaction_mode_mixes_nobody_up(database, tmp_path):
    """Through PgBouncer alice and bob each see what is theirs."""
    with pooler(database, "alice", "bob") as pool:
        people = {}
        for role in ("alice", "bob"):
            (folder := tmp_path / f"{role}-pooled").mkdir()
            people[role] = Member(database, role, folder, database.dsn(role, port=pool.port))
        for n in range(5):
            for role, one in people.items():
                one.tell(f"{role} {n} private", private=True)
                one.tell(f"{role} {n} shared")
                one.meet()
        for role, other in (("alice", "bob"), ("bob", "alice")):
            people[role].meet()
            texts = people[role].texts()
            assert {f"{role} {n} private" for n in range(5)} <= {*texts}
            assert {f"{other} {n} shared" for n in range(5)} <= {*texts}
            assert not {f"{other} {n} private" for n in range(5)} & {*texts}
            people[role].close()
