"""Machines that hold the same records know the same, in whatever order and in whatever parts these came."""

import asyncio
import random
import shutil
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest

from memman.config import synced
from memman.config.env import Settings
from memman.drain.failpoint import reach
from memman.drain.stores import Stores
from memman.model.records import Draft, Edge, Fact, Note, Provenance, Scope
from memman.model.uid import memory_uid
from memman.model.vocabulary import STATUSES
from memman.store.sqlite import index, purge, record_log, rules, undo, words
from memman.sync.folder import Key
from memman.sync.turn import turn_by_folder

BEGAN = 1_700_000_000_000
ROWS = (
    (
        "SELECT m.uid, text, entities, status, valid_to, retired_at,"
        " (SELECT uid FROM memory n WHERE n.id = m.superseded_by), repository, path, ends_at, verified_at"
        " FROM memory m LEFT JOIN scoped s ON s.memory = m.id LEFT JOIN scope c ON c.id = s.scope"
        " LEFT JOIN freshness f ON f.memory = m.id ORDER BY 1"
    ),
    (
        "SELECT uid, text, action, repository, path, ends_at, snoozed_until FROM rule"
        " JOIN scope ON scope.id = rule.scope ORDER BY 1"
    ),
    "SELECT note, outcome, facts, models FROM receipt ORDER BY 1",
    "SELECT uid, kind, session, at FROM evidence JOIN memory ON id = memory ORDER BY 1, 2, 3",
    (
        "SELECT s.uid, kind, d.uid, weight, detail FROM link JOIN memory s ON s.id = src JOIN memory d ON d.id = dst"
        f" WHERE {index.DECIDED} ORDER BY 1, 2, 3"
    ),
    (
        "SELECT m.uid, protected, n.uid FROM mark JOIN memory m ON m.id = memory LEFT JOIN memory n ON n.id = maybe"
        " ORDER BY 1"
    ),
    (
        "SELECT n.uid, o.uid, sure FROM claim JOIN memory n ON n.id = claim.memory JOIN memory o ON o.id = against"
        " ORDER BY 1, 2"
    ),
    "SELECT hex(digest), at FROM rejected ORDER BY 1",
    "SELECT uid FROM memory WHERE id IN (SELECT rowid FROM fts WHERE fts MATCH 'text: fact') ORDER BY 1",
)


@pytest.fixture(autouse=True)
def _uncompared(monkeypatch):
    """Leave out what the judge would find of what has come."""

    async def nothing(*_):
        return 0

    monkeypatch.setattr("memman.sync.turn.reconcile", nothing)


class Machine:
    """A data folder, its store and the folder by which it is synced."""

    def __init__(self, place: Path, name: str, key: Key, chance: random.Random) -> None:
        self.name, self.data, self.key, self.chance = name, str(place / name), key, chance
        self.folder = place / f"shared-{name}"
        self.folder.mkdir(exist_ok=True)
        (place / name).mkdir(mode=0o700, exist_ok=True)
        synced.choose(self.data, "default", str(self.folder))
        key.keep(self.data)
        self.stores = Stores.of(self.data, Settings.load(self.data, "default"))
        self.store, self.tools = self.stores.equipped("default")
        self.made = 1000 * self.chance.randrange(99)

    @property
    def host(self) -> str:
        """Its name."""
        return record_log.host(self.store.db)

    def sync(self):
        """Make a round."""
        return asyncio.run(turn_by_folder(self.store, self.data, "default", self.tools, reach()))

    def learn(self, unit, note: str, at: int, texts=None) -> None:
        """Store what a note says."""
        texts = texts or [f"Fact {self.made} of {self.name} is {self.chance.randrange(999)}."]
        provenance = Provenance("user", session=f"s{self.chance.randrange(3)}")
        unit.receipt(Note(note, "default", "x", at, provenance=provenance), at, "stored", len(texts))
        for n, text in enumerate(texts):
            fact = Fact(text, "fact", 3, (f"name{self.chance.randrange(5)}",), ("word",), "")
            words.index(unit.db, [unit.add(Draft(memory_uid(note, n), note, fact, "user", provenance.session, at), at)])

    def change(self, at: int) -> None:
        """Do one thing that people and drains do, of any kind."""
        chance, self.made = self.chance, self.made + 1
        with self.store.unit() as unit:
            db = unit.db
            one, two = (
                chance.choice(found) if found else 0
                for found in [[r for (r,) in db.execute("SELECT id FROM memory")]] * 2
            )
            if not one or chance.random() < 0.3:
                self.learn(unit, f"{self.name}{self.made:04d}", at)
                return
            where = Scope("example.org/shop") if chance.random() < 0.5 else Scope()
            known = rules.listed(self.store.reader)
            notes = [note for (note,) in db.execute("SELECT note FROM receipt WHERE outcome = 'stored'")]
            acts = [*undo.listed(db)]
            session = f"s{chance.randrange(3)}"
            doing = [
                lambda: unit.forget(one, at),
                lambda: unit.restore(one, at),
                lambda: unit.supersede(one, two, at, at, "says otherwise"),
                lambda: unit.reinstate(one, at),
                lambda: unit.doubt(one, two, at, "maybe"),
                lambda: unit.keep(one, at),
                lambda: unit.contradict(one, two, at, "no", sure=chance.random() < 0.5),
                lambda: unit.accord(one, two, at),
                lambda: unit.move(one, where, at),
                lambda: unit.expire(one, at + chance.randrange(99), at),
                lambda: unit.verify(one, {"a.py": session}, session, at),
                lambda: unit.report(one, chance.choice(("helpful", "stale")), session, at),
                lambda: unit.bear_out(one, "said", session, at),
                lambda: unit.protect(one, at, wanted=chance.random() < 0.5),
                lambda: unit.refuse(f"Refused {chance.randrange(9)}", at),
                lambda: one != two and unit.link_by_hand(Edge("causal", one, two, 0.5, f"manual: {session}"), at),
                lambda: one != two and unit.link([Edge("causal", one, two, chance.random(), "because")], at),
                lambda: self.rule(unit, known, where, at),
                lambda: self.rule(unit, known, where, at),
                lambda: notes and self.taken_back(unit, [chance.choice(notes)], at),
                lambda: notes and self.undone(unit, [chance.choice(notes)], at),
                lambda: acts and self.undone(unit, [chance.choice(acts)], at),
                lambda: chance.random() < 0.4 and self.purged(unit, one, at),
            ]
            chance.choice(doing)()

    def rule(self, unit, known, where, at):
        """Make, move, snooze, remove or purge a rule."""
        if not known or self.chance.random() < 0.4:
            rule = {"uid": f"rule{self.name}{self.made}", "text": f"Rule {self.made}", "tool": "", "pattern": "",
                    "action": "ask", "memory": "", "ends_at": None, "repository": "", "path": ""}  # fmt: skip
            return rules.add(unit, rule, at)
        one = self.chance.choice(known)
        return self.chance.choice(
            (
                lambda: rules.move(unit, one["uid"], Scope(one["repository"], one["path"]), where, at),
                lambda: rules.snooze(unit, one, at + 5, at),
                lambda: rules.remove(unit, one, at),
                lambda: rules.purge(unit, [one["uid"]], at),
            )
        )()

    def taken_back(self, unit, acts, at):
        """Take acts back as an objection does."""
        changed = undo.take_back(unit, acts, at, "no")
        unit.settle([row for one in changed if (row := index.row_of(unit.db, one.uid))])

    def undone(self, unit, acts, at):
        """Undo acts under an id of its own, which can be undone again."""
        self.taken_back(unit, acts, at)
        undo.keep(unit, at, "note", "1 undone", acts=acts)

    def purged(self, unit, memory, at):
        """Purge a memory."""
        unit.forget(memory, at)
        purge.purge(unit, [memory], at)

    def states(self):
        """Return what is known of all that records are about."""
        db = self.store.db
        return {uid: state for uid in record_log.memories(db) if (state := index.state(db, uid))}

    def rows(self):
        """Return what recall reads of that, in an order that machines share."""
        return [list(self.store.db.execute(sql)) for sql in ROWS]


def machines(place, count, chance):
    """Return machines that are synced, each by a folder of its own."""
    key = Key.made()
    return [Machine(place, name, key, chance) for name in "abc"[:count]]


def carry(some, chance=None):
    """Bring files to the other folders as a program does: all, or some of them in any order."""
    for one in some:
        for other in some:
            mine, copy = one.folder / one.host, other.folder / one.host
            if one is other or not mine.exists():
                continue
            if chance is None:
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(mine, copy)
                continue
            copy.mkdir(exist_ok=True)
            for path in mine.iterdir():
                if chance.random() < 0.6:
                    shutil.copy(path, copy / path.name)


def merge(some):
    """Bring all files of all hosts to all folders, as a program does that takes the machines for writers of each."""
    for one, other in permutations(some, 2):
        for path in one.folder.glob("*/0*"):
            (other.folder / path.parent.name).mkdir(exist_ok=True)
            shutil.copy(path, other.folder / path.parent.name / path.name)


def agree(some):
    """Whether all know the same, and the rows that recall reads say it."""
    for _ in range(2):
        carry(some)
        for one in some:
            one.sync()
    carry(some)
    first, *others = some
    for other in others:
        mine, theirs = first.states(), other.states()
        assert [
            (uid, mine.get(uid), theirs.get(uid)) for uid in mine | theirs if mine.get(uid) != theirs.get(uid)
        ] == []
        assert first.rows() == other.rows()
    for one in some:
        assert [one.sync().said, one.sync().taken] == [0, 0]
        assert record_log.damaged(one.store.db) == []
        assert one.store.db.execute("PRAGMA integrity_check").get == "ok"


@pytest.mark.promise("R24")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("count", [2, 3])
def test_machines_that_were_apart_end_equal(tmp_path, rounds, kept, count, seed):
    """After changes of every kind, with purges and undos, in rounds of which some files came and others not."""
    chance = random.Random(seed * 10 + count)
    changes, some = rounds(200, 500), machines(tmp_path, count, chance)
    for n in range(changes):
        for one in some:
            one.change(BEGAN + 1000 * n + chance.randrange(5000))
        if chance.random() < 0.05:
            carry(some, chance)
            chance.choice(some).sync()
    agree(some)
    known = some[0].states()
    statuses = [state["status"]["status"] for state in known.values() if "status" in state]
    assert {*statuses} >= {*STATUSES} - {"review"}
    kept(f"{count} machines, {changes} changes each: {len(known)} states equal")
    for one in some:
        asyncio.run(one.stores.close())


@pytest.mark.parametrize("seed", range(4))
def test_one_note_on_two_machines_takes_effect_once(tmp_path, seed):
    """Its models answer differently: the first to do it counts whole, on all machines, in any order of arrival."""
    chance = random.Random(seed)
    some = machines(tmp_path, 3, chance)
    for n, (one, texts) in enumerate(
        zip(some, (["One.", "Two."], ["Three."], ["Four.", "Five.", "Six."]), strict=True)
    ):
        with one.store.unit() as unit:
            one.learn(unit, "note", BEGAN + (7 - n) * 10, texts)
    chance.shuffle(some)
    for one in some:
        one.sync()
        carry(some, chance)
    agree(some)
    texts = [row[1] for row in some[0].rows()[0]]
    assert texts == sorted(["Four.", "Five.", "Six."], key=texts.index)
    with closing(some[0].store):
        assert len(list(record_log.every(some[0].store.db))) >= 9


@pytest.mark.parametrize("seen", [False, True])
def test_copies_of_a_data_folder_lose_nothing_and_end_equal(tmp_path, seen):
    """Both have written under one name, before either has `seen` it of the other: each goes on under its own."""
    chance = random.Random(7)
    one, third = machines(tmp_path, 2, chance)
    for n in range(30):
        one.change(BEGAN + n)
    one.sync()
    one.change(BEGAN + 40)
    asyncio.run(one.stores.close())
    shutil.copytree(one.data, tmp_path / "copy")
    one, copy = (Machine(tmp_path, name, one.key, chance) for name in ("a", "copy"))
    for n, each in enumerate((one, copy) * 30):
        each.change(BEGAN + 50 + n)
    if not seen:
        one.sync()
    copy.sync()
    learned = {uid for each in (one, copy) for uid in record_log.memories(each.store.db)}
    for _ in range(4):
        merge((one, copy, third))
        for each in (third, copy, one):
            each.sync()
    assert len({each.host for each in (one, copy, third)}) == 3
    assert {*record_log.memories(third.store.db)} >= learned
    states = [each.states() for each in (one, copy, third)]
    assert states[0] == states[1] == states[2]
    assert one.rows() == copy.rows() == third.rows()
