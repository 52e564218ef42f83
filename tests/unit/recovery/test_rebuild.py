"""A store made anew from its log: whatever page was changed, recall answers as before."""

import random
from contextlib import closing

import apsw
import pytest

from memman.hot.recall import found
from memman.model.records import Draft, Fact
from memman.recovery.backup import take
from memman.recovery.check import troubles
from memman.recovery.purge import purge
from memman.recovery.repair import repair
from memman.store.filters import Filters
from memman.store.sqlite.schema import STEPS
from memman.store.sqlite.store import SqliteStore

PAGE = 4096
KINDS = (
    "Service {n} listens on port {p}.",
    "Redis caches the invoices of customer {n} on host cache-{r}.",
    "Maria keeps the deploys of team {n} in the handbook, chapter {r}.",
    "The queue {n} was slow because its worker {r} ran out of memory.",
)
ASKED = (
    "Which port does service {n} listen on?",
    "What caches the invoices of customer {n}?",
    "Who keeps the deploys of team {n}?",
    "Why was queue {n} slow?",
)
STATES = (
    "SELECT uid, note, text, status, retired_at, entities FROM memory ORDER BY uid",
    "SELECT o.uid, n.uid FROM memory o JOIN memory n ON n.id = o.superseded_by ORDER BY 1",
    "SELECT note, at, outcome FROM receipt ORDER BY note",
    "SELECT uid, text FROM rule ORDER BY uid",
    "SELECT m.uid, s.session FROM shown s JOIN memory m ON m.id = s.memory ORDER BY 1",
)


@pytest.fixture
def sound(box):
    """Give a box whose store has 200 memories in its one file, and that file's bytes."""
    for n in range(200):
        text = KINDS[n % 4].format(n=n, p=8000 + n, r=n % 7)
        box.remember(text, session=f"session-{n // 6}", repository="example.org/shop" if n % 3 else "")
    box.drain()
    uids = box.store("SELECT uid FROM memory ORDER BY id")
    assert box.memman("forget", uids[4], uids[9]).returncode == 0
    assert box.memman("rule", "add", "Never push to main.").returncode == 0
    box.store("INSERT INTO shown(memory, session, way, agent, at) VALUES (7, 's', 'prompt', 'a', 5)")
    with closing(SqliteStore(str(box.store_path()))) as store:
        store.unit()
        with store.unit() as unit:
            unit.supersede(20, 24, 10**12, 10**12, "test")
    assert box.memman("graph", "rebuild").returncode == 0
    return box, box.store_path().read_bytes()


def answers(box):
    """Ask 50 questions; return what is shown of each."""
    asked = [ASKED[n % 4].format(n=n) for n in range(0, 200, 4)]
    return [[hit.row.uid for hit in found(str(box.data), "default", one, Filters(), 3, None)] for one in asked]


def states(box):
    """Return what the index says."""
    return [box.store(sql) for sql in STATES]


def spoil(path, content, page):
    """Give a store this content but for some bytes of one page, and no log beside it."""
    for one in path.parent.glob(path.name + "*"):
        one.unlink()
    at = page * PAGE + 3000
    path.write_bytes(content[:at] + bytes(byte ^ 0x5A for byte in content[at : at + 64]) + content[at + 64 :])
    path.chmod(0o600)


def owners(path):
    """Return the table or index that each page belongs to."""
    with closing(apsw.Connection(str(path))) as db:
        return {page - 1: name for page, name in db.execute("SELECT pageno, name FROM dbstat")}


@pytest.mark.slow
@pytest.mark.promise("R15")
def test_whatever_page_is_changed_recall_answers_as_before(sound, rounds, kept):
    """A page of each table and index in turn, and pages by chance: with a backup everything is as it was."""
    box, content = sound
    right, before = answers(box), states(box)
    take(str(box.data))
    pages, chance = owners(box.store_path()), random.Random(33)
    one_each = sorted({name: page for page, name in pages.items()}.values())
    chosen = chance.sample(one_each, min(len(one_each), rounds(6, 100))) + chance.sample(sorted(pages), rounds(2, 100))
    same = 0
    for page in chosen:
        spoil(box.store_path(), content, page)
        done = repair(str(box.data), "default")
        assert done.wrong, pages[page]
        assert done.damaged == done.replaced, pages[page]
        assert troubles(str(box.store_path()), STEPS) == ""
        assert states(box)[:4] == before[:4], pages[page]
        box.drain()  # vectors that lay on the page are made anew
        now = answers(box)
        assert [one[0] for one in now] == [one[0] for one in right], pages[page]
        same += sum(one == other for one, other in zip(now, right, strict=True))
    assert same >= 0.9 * 50 * len(chosen)
    kept(f"{len(chosen)} damaged pages: {same} of {50 * len(chosen)} answers as before, no record lost")


def test_an_index_that_is_gone_is_made_again(sound):
    """Without a backup, and without any row of the index, the log alone brings back what was known."""
    box, _ = sound
    right, before = answers(box), states(box)
    with closing(SqliteStore(str(box.store_path()))) as store:
        for table in ("memory", "fts", "vector", "link", "receipt", "rule"):
            store.db.execute(f"PRAGMA foreign_keys = OFF; DELETE FROM {table}")
        store.db.execute("DROP TABLE evidence")
    said = box.memman("repair")
    assert said.returncode == 0
    assert "it lacks evidence" in said.stdout
    assert "of the log could not be read" not in said.stdout
    assert states(box)[:4] == before[:4]
    box.drain()
    assert [one[0] for one in answers(box)] == [one[0] for one in right]


def test_what_a_lost_page_of_the_log_had_is_named(sound):
    """Without a backup what that page had is lost, and said; all else is as it was."""
    box, content = sound
    before = dict(box.store("SELECT uid, text FROM memory"))
    (page,) = [number for number, name in owners(box.store_path()).items() if name == "record"][9:10]
    spoil(box.store_path(), content, page)
    said = box.memman("repair")
    assert said.returncode == 0
    assert "of the log could not be read: 0 came from the last backup, " in said.stdout
    after = dict(box.store("SELECT uid, text FROM memory"))
    assert after.items() < before.items()
    assert f"lost {len(before) - len(after)}: " in said.stdout
    assert len(after) > 190
    assert box.memman("repair").stdout == "nothing is wrong with store 'default'\n"


def test_what_no_record_has_is_named(sound):
    """A memory whose records are lost is named, and none that was forgotten or purged comes back."""
    box, _ = sound
    away, gone, ended = (box.store(f"SELECT uid FROM memory WHERE id = {row}")[0] for row in (30, 31, 5))
    purge(str(box.data), "default", [gone])
    broken = f"memory IN ('{away}', '{gone}') OR memory = '{ended}' AND kind = 'retired'"
    box.store(f"UPDATE record SET sum = sum + 1 WHERE {broken}")
    assert repair(str(box.data), "default").lost == (away,)
    assert box.store(f"SELECT uid, status FROM memory WHERE uid IN ('{away}', '{gone}', '{ended}')") == [
        (ended, "forgotten")
    ]


def test_a_damaged_name_of_a_host_is_that_of_the_backup(box):
    """Though its first records, which a purge has emptied, have no checksum that could tell."""
    with closing(SqliteStore(str(box.store_path()))) as store, store.unit() as unit:
        unit.add(Draft("f" * 20, "e" * 32, Fact("The heron nests."), "user", "one", 1), 1)
    box.remember("Vite builds the frontend.")
    box.drain()
    purge(str(box.data), "default", box.store("SELECT uid FROM memory WHERE id = 1"))
    take(str(box.data))
    before = states(box)
    (name,) = box.store("SELECT name FROM host WHERE id = 1")
    (page,) = [number for number, owner in owners(box.store_path()).items() if owner == "host"]
    content = box.store_path().read_bytes()
    at = content.index(name.encode(), page * PAGE)
    spoil(box.store_path(), content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :], len(content) // PAGE + 1)
    done = repair(str(box.data), "default")
    assert done.wrong
    assert done.damaged == done.replaced
    assert (states(box), box.store("SELECT name FROM host WHERE id = 1")) == (before, [name])
