"""What older versions stored is looked through once: recall masks it until then, and loads no rules after."""

import subprocess
import sys

from memman.secrets import SCREEN
from memman.upkeep import screen

TOKEN = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
RULES = "memman.secrets.rules"
MARK = "SELECT value FROM meta WHERE key = 'screened'"


def loads_rules(box, *args):
    """Run a verb and return whether it loaded the rules."""
    ended = subprocess.run(
        (sys.executable, "-X", "importtime", "-m", "memman", *args),
        env=box.environ, cwd=box.data.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return RULES in ended.stderr


def older(box, *stores):
    """Let stores and queue say that they were looked through by the rules of an older version."""
    for store in stores or ("default",):
        box.store("INSERT OR REPLACE INTO meta VALUES ('screened', 'older')", name=store)
    box.queue("UPDATE meta SET value = 'older' WHERE key = 'screened'")


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


def test_a_drain_marks_the_store_and_recall_loads_no_rules(box):
    """What this version stored, with telling words and values, is shown without the rules; unmarked, with them."""
    box.remember("The login token service auth-service-2 is at https://git.example.org/shop/pull/12.")
    box.drain()
    assert box.store(MARK) == [SCREEN]
    assert not loads_rules(box, "recall", "where is the login token service")
    older(box)
    assert loads_rules(box, "recall", "where is the login token service")


def test_recall_of_an_unmarked_store_looks_at_what_it_shows_alone(box):
    """Before a drain has looked through it, a store's other memories cost no rules, however telling they are."""
    box.remember("The heron of the login service nests at the river.")
    box.remember("The login token service auth-service-2 is at https://git.example.org/shop/pull/12.")
    box.drain()
    older(box)
    assert not loads_rules(box, "recall", "--limit", "1", "where does the heron of the login service nest")
    assert loads_rules(box, "recall", "where is the login token service")


def test_ticks_of_the_scheduler_finish_the_look_without_a_note(box):
    """After an upgrade drains look through all stores in parts, though no note waits; then they are idle again."""
    box.configure(JUDGE="off")  # or it would read the copies, too
    for store in ("default", "work"):
        box.remember("The login token service auth-service-2 is at https://git.example.org/shop/pull/12.", store=store)
    box.drain()
    assert not tick(box)
    multiplied(box, screen.AT_ONCE + 10)
    older(box, "default", "work")
    assert loads_rules(box, "recall", "where is the login token service")
    assert tick(box)
    assert box.store(MARK) == [f"{SCREEN} {screen.AT_ONCE}"]
    assert tick(box)
    assert box.store(MARK) == box.store(MARK, name="work") == [SCREEN]
    assert not tick(box)
    assert not loads_rules(box, "recall", "where is the login token service")


def test_what_an_older_version_stored_is_masked_until_it_is_taken_out(box):
    """A secret by today's rules is never shown: before the look, after it, nor once it is taken out."""
    question = "what do deploys push with"
    box.remember("Deploys push with a token to the mirror.")
    box.drain()
    box.alter("UPDATE memory SET text = ?", f"Deploys push with {TOKEN} to the mirror.")
    older(box)
    assert "[redacted:github-token]" in box.recall(question)[0]
    for _ in range(2):
        box.remember("The mirror is in Oslo.")
        box.drain()
        assert "[redacted:github-token]" in box.recall(question)[0]
    assert box.store(MARK) == [f"{SCREEN} leaky"]
    assert box.memman("scan", "--fix").returncode == 0
    assert box.store(MARK) == [SCREEN]
    assert not box.store("SELECT key FROM meta WHERE key LIKE 'leak:%'")
    assert "[redacted:github-token]" in box.recall(question)[0]


def test_one_secret_costs_the_other_memories_of_a_store_nothing(box):
    """Once all is seen, only what holds a secret is masked: recall of anything else loads no rules."""
    box.remember("Deploys push with a token to the mirror.")
    box.remember("The login token service auth-service-2 is at https://git.example.org/shop/pull/12.")
    box.drain()
    box.alter("UPDATE memory SET text = ? WHERE text LIKE 'Deploys%'", f"Deploys push with {TOKEN} to the mirror.")
    older(box)
    assert tick(box)
    assert not loads_rules(box, "recall", "--limit", "1", "where is the login token service")
    assert "[redacted:github-token]" in box.recall("what do deploys push with")[0]


def test_a_damaged_store_keeps_no_other_from_being_looked_through(box):
    """What cannot be read is passed over, and left as it was."""
    for store in ("bad", "work"):
        box.remember("The heron nests at the river.", store=store)
    box.drain()
    older(box, "bad", "work")
    box.store_path("bad").write_bytes(b"damaged " * 1024)
    assert tick(box)
    assert box.store(MARK, name="work") == [SCREEN]
    assert box.store_path("bad").read_bytes() == b"damaged " * 1024
