"""What older versions stored is looked through once: recall masks it until then, and loads no rules after."""

import hashlib
import subprocess
import sys
from pathlib import Path

import memman.model
from memman.drain import screen
from memman.model.secret_words import SCREEN

TOKEN = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
RULES = "memman.model.secret_rules"
MARK = "SELECT value FROM meta WHERE key = 'screened'"


def loads_rules(box, *args):
    """Run a verb and return whether it loaded the rules."""
    ended = subprocess.run(
        (sys.executable, "-X", "importtime", "-m", "memman", *args),
        env=box.environ, cwd=box.data.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return RULES in ended.stderr


def test_a_drain_marks_the_store_and_recall_loads_no_rules(box):
    """What this version stored, with telling words and values, is shown without the rules; unmarked, with them."""
    box.remember("The login token service auth-service-2 is at https://git.example.org/shop/pull/12.")
    box.drain()
    assert box.store(MARK) == [SCREEN]
    assert not loads_rules(box, "recall", "where is the login token service")
    box.store("UPDATE meta SET value = 'older' WHERE key = 'screened'")
    assert loads_rules(box, "recall", "where is the login token service")


def test_what_an_older_version_stored_is_masked_until_it_is_taken_out(box):
    """A store with a secret by today's rules is never marked; once it is taken out, it is."""
    box.remember("Deploys push with a token to the mirror.")
    box.drain()
    box.alter("UPDATE memory SET text = ?", f"Deploys push with {TOKEN} to the mirror.")
    box.store("UPDATE meta SET value = 'older' WHERE key = 'screened'")
    for _ in range(2):
        assert "[redacted:github-token]" in box.recall("what do deploys push with")[0]
        box.remember("The mirror is in Oslo.")
        box.drain()
    assert box.store(MARK) == [f"{SCREEN} leaky"]
    assert box.memman("scan", "--fix").returncode == 0
    assert box.store(MARK) == [SCREEN]
    assert "[redacted:github-token]" in box.recall("what do deploys push with")[0]


def test_a_large_store_is_looked_through_in_parts(box):
    """Each drain goes on where the last one ended, from row to row."""
    box.remember("The heron nests at the river.")
    box.drain()
    columns = (
        "note, text, category, importance, entities, keywords, summary, source, origin, valid_from, recorded_at, status"
    )
    more = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        f" INSERT INTO memory(uid, {columns}) SELECT uid || i, {columns} FROM memory, n"
    )
    box.alter(more, screen.AT_ONCE + 10)
    box.store("UPDATE meta SET value = 'older' WHERE key = 'screened'")
    box.remember("The egret nests there too.")
    box.drain()
    assert box.store(MARK) == [f"{SCREEN} {screen.AT_ONCE}"]
    box.remember("So does the ibis.")
    box.drain()
    assert box.store(MARK) == [SCREEN]


def test_the_mark_changes_with_the_rules():
    """A change of a rule, a word or what counts as likely has every store looked through again."""
    folder = Path(memman.model.__file__).parent
    paths = sorted([*folder.glob("secret*.py"), folder / "likely.py"])
    lines = [line for path in paths for line in path.read_bytes().splitlines() if not line.startswith(b"SCREEN")]
    assert hashlib.sha256(b"\n".join(lines)).hexdigest()[:12] == SCREEN
