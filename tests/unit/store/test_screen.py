"""Each memory says by which rules it was screened: what others wrote is hidden until drains have looked at it, once."""

import subprocess
import sys

import pytest

from memman.config.scope import Here
from memman.hot.prime import block
from memman.model.records import Draft, Fact
from memman.secrets import SCREEN
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.upkeep import screen

TOKEN = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
RULES = "memman.secrets.rules"
BY = "SELECT DISTINCT screened FROM memory ORDER BY 1"
SERVICE = "The login token service auth-service-2 is at https://git.example.org/shop/pull/12."
WHERE = "where is the login token service"
# What an older version stored was screened by its own rules, or by no one knows which; some of it had a secret.
OLDER = (SCREEN - 1, 0, 1 - SCREEN)
# What a newer version marks.
NEWER = 2 * SCREEN


def loads_rules(box, *args):
    """Run a verb and return whether it loaded the rules."""
    ended = subprocess.run(
        (sys.executable, "-X", "importtime", "-m", "memman", *args),
        env=box.environ, cwd=box.data.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return RULES in ended.stderr


def older(box, *stores):
    """Let the memories of stores say that they were screened by the rules of other versions."""
    for store in stores or ("default",):
        said = f"CASE id % 3 {' '.join(f'WHEN {n} THEN {by}' for n, by in enumerate(OLDER))} END"
        box.store(f"UPDATE memory SET screened = {said}", name=store)


def tick(box):
    """Run what the scheduler runs at each tick; say whether there was anything to do."""
    before = box.queue("SELECT value FROM meta WHERE key = 'last_drain'")
    assert box.memman("scheduler", "drain", "--wait").returncode == 0
    return box.queue("SELECT value FROM meta WHERE key = 'last_drain'") != before


def multiplied(box, memories):
    """Copy the only memory of the store so many times."""
    columns = (
        "note, text, category, importance, entities, keywords, summary, source, origin, valid_from, recorded_at, status"
    )
    more = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        f" INSERT INTO memory(uid, {columns}) SELECT uid || i, {columns} FROM memory, n"
    )
    box.alter(more, memories)


def test_a_memory_is_screened_when_it_is_written(tmp_path):
    """Whatever is handed to a store to write is stored without secrets, and says so; the store is due for no look."""
    store = SqliteStore(str(tmp_path / "data/one/memman.db"))
    fact = Fact(
        f"Use {TOKEN}.", entities=("Deploys", TOKEN), keywords=(TOKEN, f"Is {TOKEN} it?"), summary=f"{TOKEN} it is"
    )
    with store.unit() as unit:
        unit.add(Draft("uid", "note", fact, "user", f"/home/{TOKEN}", 1), 1)
    assert store.db.execute("SELECT screened FROM memory").get == SCREEN
    tables = ("memory", "log")
    said = [str(store.db.execute(f"SELECT * FROM {table}").fetchall()) for table in tables]
    store.close()
    assert not [text for text in said if TOKEN.lower() in text.lower()]
    assert "[redacted:github-token]" in said[0]
    assert not screen.screened.due(store.path)


def test_what_this_version_stored_is_recalled_without_the_rules(box):
    """With telling words and values it is shown as it is; by other rules, it is looked at first."""
    box.remember(SERVICE)
    box.drain()
    assert box.store(BY) == [SCREEN]
    assert not loads_rules(box, "recall", WHERE)
    for by in OLDER:
        box.store(f"UPDATE memory SET screened = {by}")
        assert loads_rules(box, "recall", WHERE)


def test_recall_looks_at_nothing_but_what_it_shows(box):
    """A store's other memories cost no rules, however telling they are, and whoever screened them."""
    box.remember("The heron of the login service nests at the river.")
    box.remember(SERVICE)
    box.drain()
    older(box)
    assert not loads_rules(box, "recall", "--limit", "1", "where does the heron of the login service nest")
    assert loads_rules(box, "recall", WHERE)


@pytest.mark.slow
def test_idle_drains_finish_an_upgrade(box):
    """Though no note waits they look at all memories of all stores in bounded parts; recall then looks at none."""
    for store in ("default", "work"):
        box.remember(SERVICE, store=store)
    box.drain()
    assert not tick(box)
    multiplied(box, 2 * screen.AT_ONCE + 10)
    older(box, "default", "work")
    left = f"SELECT count(*) FROM memory WHERE screened <> {SCREEN}"
    total = 2 * screen.AT_ONCE + 11
    assert loads_rules(box, "recall", WHERE)
    for done in (screen.AT_ONCE, 2 * screen.AT_ONCE):
        assert tick(box)
        assert box.store(left) == [total - done]
    assert tick(box)
    assert box.store(BY) == box.store(BY, name="work") == [SCREEN]
    while tick(box):  # the copies are embedded, too
        pass
    assert not loads_rules(box, "recall", WHERE)


def test_what_a_newer_version_has_looked_at_is_left_to_it(box):
    """Two versions on one store would look through it in turn, at every tick: it is shown as that one found it."""
    for said in (SERVICE, "Deploys push with a token to the mirror."):
        box.remember(said)
    box.drain()
    box.store(f"UPDATE memory SET screened = CASE id WHEN 1 THEN {NEWER} ELSE -{NEWER} END")
    assert not tick(box)
    box.remember("The mirror is in Oslo.")
    assert tick(box)
    assert box.store(BY) == [-NEWER, SCREEN, NEWER]
    assert not loads_rules(box, "recall", "--limit", "1", WHERE)


def test_a_store_that_somebody_puts_there_is_looked_through(box):
    """A tick finds a store that came from elsewhere, though every other was done with long ago."""
    box.remember(SERVICE)
    box.drain()
    assert not tick(box)
    there = box.store_path("brought")
    there.parent.mkdir(mode=0o700)
    there.write_bytes(box.store_path().read_bytes())
    there.chmod(0o600)
    older(box, "brought")
    assert tick(box)
    assert box.store(BY, name="brought") == [SCREEN]
    assert not tick(box)


def test_what_an_older_version_stored_is_hidden_until_it_is_taken_out(box):
    """A secret by today's rules is never shown: before the look, after it, nor once it is taken out."""
    question = "what do deploys push with"
    box.remember("Deploys push with a token to the mirror.")
    box.drain()
    box.alter("UPDATE memory SET text = ?", f"Deploys push with {TOKEN} to the mirror.")
    box.store("UPDATE record SET body = replace(body, 'with a token', ?)", f"with {TOKEN}")
    older(box)
    assert "[redacted:github-token]" in box.recall(question)[0]
    for _ in range(2):
        box.remember("The mirror is in Oslo.")
        box.drain()
        assert "[redacted:github-token]" in box.recall(question)[0]
    assert box.store(BY) == [-SCREEN, SCREEN]
    assert not tick(box)
    assert box.memman("scan", "--fix").returncode == 0
    assert box.store(BY) == [SCREEN]
    assert "[redacted:github-token]" in box.recall(question)[0]


@pytest.mark.parametrize("looked", [False, True])
def test_a_session_begins_without_what_an_older_version_stored(box, looked):
    """The block of preferences and decisions hides a secret before drains have looked, and after."""
    box.remember("I prefer to push to the mirror with a token.", category="preference")
    box.drain()
    box.alter("UPDATE memory SET text = ?", f"I prefer to push with {TOKEN} to the mirror.")
    older(box)
    assert not looked or tick(box)
    text, uids = block(str(box.data), "default", Here())
    assert len(uids) == 1
    assert "[redacted:github-token]" in text
    assert TOKEN not in text


def test_one_secret_costs_the_other_memories_of_a_store_nothing(box):
    """Once all is seen, only what holds a secret is looked at again: recall of anything else loads no rules."""
    box.remember("Deploys push with a token to the mirror.")
    box.remember(SERVICE)
    box.drain()
    box.alter("UPDATE memory SET text = ? WHERE text LIKE 'Deploys%'", f"Deploys push with {TOKEN} to the mirror.")
    older(box)
    assert tick(box)
    assert not loads_rules(box, "recall", "--limit", "1", WHERE)
    assert "[redacted:github-token]" in box.recall("what do deploys push with")[0]


def test_a_damaged_store_keeps_no_other_from_being_looked_through(box):
    """What cannot be read is passed over, and left as it was; ticks do not come back to it."""
    for store in ("bad", "work"):
        box.remember("The heron nests at the river.", store=store)
    box.drain()
    older(box, "work")
    box.store_path("bad").write_bytes(b"damaged " * 1024)
    assert tick(box)
    assert box.store(BY, name="work") == [SCREEN]
    assert box.store_path("bad").read_bytes() == b"damaged " * 1024
    assert not tick(box)


def test_a_store_that_cannot_be_looked_through_is_left_to_the_hourly_drain(box):
    """Where a look can be begun and not be finished, that is tried once, and not at every tick."""
    box.remember("The heron nests at the river.")
    box.drain()
    older(box)
    box.store("CREATE TRIGGER kept BEFORE UPDATE ON memory BEGIN SELECT RAISE(ABORT, 'no'); END")
    assert tick(box)
    assert box.store(BY) != [SCREEN]
    assert not tick(box)
    box.queue("UPDATE meta SET value = json_set(value, '$.at', 0) WHERE key = 'last_drain'")
    box.store("DROP TRIGGER kept")
    assert tick(box)
    assert box.store(BY) == [SCREEN]


def test_the_look_for_what_is_due_reads_no_table(box):
    """Whether a store is due is told by an index, so that every tick may ask every store."""
    box.remember("The heron nests at the river.")
    box.drain()
    reader = SqliteReader.open(str(box.store_path()))
    plan = str(reader.db.execute(f"EXPLAIN QUERY PLAN {screen.screened.NEXT}", (1,)).fetchall())
    reader.close()
    assert plan.count("SEARCH memory USING INDEX memory_screened") == 1
    assert "SCAN" not in plan
