"""A store's log: what it knows is the fold of its records, whatever the order in which they came."""

import random

import pytest

from memman.model.records import Draft, Edge, Fact, Note, Scope
from memman.model.vocabulary import EDGE_KINDS
from memman.store import records
from memman.store.records import Record, state_of
from memman.store.sqlite import index, purge, record_log, rules, undo
from memman.store.sqlite.schema import UNIT_WEIGHT
from memman.store.sqlite.store import SqliteStore

# The tables that are made of records alone, by what of them other machines have, too.
_MADE = (
    (
        "SELECT m.uid, m.note, m.text, m.category, m.status, m.valid_to, m.retired_at, h.uid FROM memory m"
        " LEFT JOIN memory h ON h.id = m.superseded_by"
    ),
    "SELECT m.uid, repository, path FROM scoped JOIN scope s ON s.id = scope JOIN memory m ON m.id = memory",
    "SELECT m.uid, ends_at, verified_at FROM freshness JOIN memory m ON m.id = memory",
    "SELECT m.uid, kind, session, at FROM evidence JOIN memory m ON m.id = memory",
    "SELECT m.uid, path, blob FROM file JOIN memory m ON m.id = memory",
    (
        "SELECT a.uid, kind, b.uid, weight, link.detail FROM link JOIN memory a ON a.id = src"
        f" JOIN memory b ON b.id = dst WHERE {index.DECIDED}"
    ),
    "SELECT uid, text, pattern, action, snoozed_until FROM rule",
    "SELECT note, at, outcome, facts FROM receipt",
    "SELECT hex(digest), at FROM rejected",
    "SELECT m.uid, protected, held, n.uid FROM mark JOIN memory m ON m.id = memory LEFT JOIN memory n ON n.id = maybe",
    "SELECT n.uid, o.uid, sure FROM claim JOIN memory n ON n.id = claim.memory JOIN memory o ON o.id = against",
)


def said(store):
    """Return all that a store's index says that came of records."""
    return [sorted(map(repr, store.db.execute(sql))) for sql in _MADE]


class Life:
    """A store that lives through changes taken by lot, each at a moment of its own."""

    def __init__(self, path, seed, first=1_000):
        self.store, self.chance, self.now, self.notes = SqliteStore(str(path)), random.Random(seed), first, 0
        self.acts = []

    def step(self):
        """Change something."""
        self.now += self.chance.randrange(3)
        uids = [uid for (uid,) in self.store.db.execute("SELECT uid FROM memory ORDER BY uid")]
        act = self.chance.choice(self._LEARNING if len(uids) < 3 else self._ALL)
        with self.store.unit() as unit:
            act(self, unit, uids)
            if unit.act:
                self.acts.append(unit.act)

    def _row(self, uids):
        return index.row_of(self.store.db, self.chance.choice(uids))

    def learn(self, unit, uids):
        """Store what a note says, perhaps in the place of something else."""
        self.notes += 1
        # Some notes are drained on other machines, too.
        note = f"{self.notes:032x}" if self.chance.random() < 0.3 else f"{record_log.host(unit.db)}{self.notes:016x}"
        if not unit.receipt(Note(note, "default", "", self.now), self.now, "stored", 1):
            return
        scope = Scope("repo", "src") if self.chance.random() < 0.5 else Scope()
        source = self.chance.choice(("user", "agent"))
        draft = Draft(note[::-1], note, Fact(f"fact {self.now}", "fact"), source, "o", self.now, scope=scope)
        new = unit.add(draft, self.now, held=self.chance.random() < 0.1)
        if uids and self.chance.random() < 0.6:
            unit.supersede(self._row(uids), new, self.now, self.now, "why")

    def doubt(self, unit, uids):
        """Mark one as maybe replaced by another, or as contradicted by it."""
        one, other = self._row(uids), self._row(uids)
        if self.chance.random() < 0.5:
            unit.doubt(one, other, self.now, "why")
        else:
            unit.contradict(other, one, self.now, "why", sure=True)

    def compare(self, unit, uids):
        """Find, of two memories, what another machine may find otherwise."""
        one, other = self._row(uids), self._row(uids)
        unit.act = records.pair(unit.uid(one), unit.uid(other))
        if not record_log.of_acts(unit.db, [unit.act]):
            if self.chance.random() < 0.5:
                unit.supersede(one, other, self.now, self.now, "why")
            else:
                unit.doubt(one, other, self.now, "why")

    def judge(self, unit, uids):
        """Do one of the things that a person does with a memory."""
        row, now = self._row(uids), self.now
        self.chance.choice(
            (
                lambda: unit.forget(row, now),
                lambda: unit.restore(row, now),
                lambda: unit.reinstate(row, now),
                lambda: unit.approve(row, now),
                lambda: unit.protect(row, now, wanted=self.chance.random() < 0.5),
                lambda: unit.expire(row, now + 5, now),
                lambda: unit.verify(row, {"a.py": "b1"}, "s", now),
                lambda: unit.report(row, "useful", "s1", now),
                lambda: unit.bear_out(row, "said", f"s{now}", now),
                lambda: unit.move(row, Scope("other"), now),
                lambda: unit.tie(row, {"c.py": "b2"}, now),
                lambda: unit.keep(row, now),
                lambda: unit.refuse("a text", now),
                lambda: unit.link([Edge("causal", row, self._row(uids), 0.5, "why")], now),
            )
        )()

    def rule(self, unit, _):
        """Make a rule, or remove one."""
        there = rules.listed(self.store.reader)
        if there and self.chance.random() < 0.5:
            rules.remove(unit, there[0], self.now)
        else:
            said = {"uid": f"r{record_log.host(unit.db)}{self.now}", "text": "no", "tool": "", "pattern": "rm"}
            said |= {"action": "deny", "memory": "", "ends_at": None, "repository": "", "path": ""}
            if said["uid"] not in {one["uid"] for one in there}:
                rules.add(unit, said, self.now)

    def undo(self, unit, _):
        """Take back something that was done, perhaps an undo."""
        if self.acts:
            acts = [self.chance.choice(self.acts)]
            undo.take_back(unit, acts, self.now, "why")
            undo.keep(unit, self.now, "that", "it", acts=acts)

    def purge(self, unit, uids):
        """Purge a memory."""
        if self.chance.random() < 0.2:
            row = self._row(uids)
            unit.forget(row, self.now)
            purge.purge(unit, [row], self.now)

    _LEARNING = (learn,)
    _ALL = (learn, learn, doubt, compare, judge, judge, judge, judge, rule, undo, purge)


def lived(path, seed, steps=80):
    """Return a store after some steps."""
    life = Life(path, seed)
    for _ in range(steps):
        life.step()
    return life


_PLACES = ("memory", "scope", "freshness", "evidence", "file", "edge", "rule", "note", "refused", "mark", "claim")


def expected(log):
    """Return what an index must say of records, worked out from these alone: as `said` does."""
    states = records.states_of(log)
    there = {uid for uid, parts in states.items() if records.TEXT in parts}
    rows = {name: [] for name in _PLACES}
    for uid, parts in states.items():
        if uid in there:
            _memory(rows, uid, parts, there)
        if rule := parts.get("rule"):
            rows["rule"].append((uid, *(rule[name] for name in ("text", "pattern", "action", "snoozed_until"))))
        if receipt := parts.get("receipt"):
            rows["note"].append((uid, *(receipt[name] for name in ("at", "outcome", "facts"))))
        if "rejected" in parts:
            rows["refused"].append((uid.removeprefix("rejected:").upper(), parts["rejected"]))
    return [sorted(map(repr, found)) for found in rows.values()]


def _memory(rows, uid, parts, there):
    text, status, scope = parts[records.TEXT], parts[records.STATUS], parts.get(records.SCOPE, {})
    heir = status["superseded_by"] if status["superseded_by"] in there else None
    stands = status["status"], status["valid_to"], status["retired_at"]
    rows["memory"].append((uid, text["note"], text["text"], text["category"], *stands, heir))
    rows["scope"].append((uid, scope.get("repository", ""), scope.get("path", "")))
    if (times := (parts.get(records.UNTIL), parts.get(records.VERIFIED))) != (None, None):
        rows["freshness"].append((uid, *times))
    maybe = parts.get("maybe") if parts.get("maybe") in there else None
    if (marks := (parts.get("protected"), parts.get("held"), maybe)) != (None, None, None):
        rows["mark"].append((uid, *marks))
    claims = parts.get("claims", {}).items()
    rows["claim"] += [(uid, other, int(sure == "surely")) for other, sure in claims if other in there]
    for name, value in parts.items():
        match records.split(name):
            case ["evidence", [kind, session]]:
                rows["evidence"].append((uid, kind, session, value))
            case ["file", [path]]:
                rows["file"].append((uid, path, value))
            case ["edge", [kind, other]] if other in there:
                weight = round(value["weight"] * UNIT_WEIGHT)
                rows["edge"].append((uid, EDGE_KINDS.index(kind), other, weight, value["detail"]))


def log(store):
    """Return the records of a store, by where they stand in it."""
    return {(one.host, one.n): one for one in record_log.every(store.db)}


@pytest.mark.promise("M1")
def test_machines_that_hold_the_same_records_say_the_same(tmp_path, rounds, kept):
    """Three machines live, and take in what others have, in any order and part; each says what its records say.

    Some notes are drained on several of them. In the end all have everything, and say the same. No record ever changes,
    but for what is purged.
    """
    runs, steps = rounds(5, 200), 150
    for seed in range(runs):
        chance = random.Random(seed)
        lives = [Life(tmp_path / f"{seed}-{n}.db", seed * 3 + n) for n in range(3)]
        logs = [{} for _ in lives]
        for _ in range(steps):
            n = chance.randrange(3)
            life = lives[n]
            if chance.random() < 0.8:
                life.step()
            else:
                theirs = [*log(chance.choice(lives).store).values()]
                with life.store.unit() as unit:
                    unit.follow(record_log.add(unit.db, chance.sample(theirs, chance.randrange(len(theirs) + 1))))
            now = log(life.store)
            assert logs[n].keys() <= now.keys()
            purged = {one.memory for one in now.values() if one.kind == "purged"}
            changed = [one for key, one in logs[n].items() if one != now[key]]
            assert all(one.memory in purged or any(uid in one.body for uid in purged) for one in changed)
            logs[n] = now
            assert said(life.store) == expected(now.values())
        for life in lives:
            for other in lives:
                theirs = [*log(other.store).values()]
                chance.shuffle(theirs)
                with life.store.unit() as unit:
                    unit.follow(record_log.add(unit.db, theirs))
                    assert unit.follow(record_log.add(unit.db, theirs)) == []
        first, *others = (said(life.store) for life in lives)
        assert others == [first, first]
        assert first == expected(log(lives[0].store).values())
        for life in lives:
            life.store.close()
    kept(f"{runs} runs of 3 machines and {steps} steps: 0 differences")


@pytest.mark.parametrize("seed", range(6))
def test_what_is_undone_is_as_if_it_had_not_been(tmp_path, seed):
    """An undo brings back what a store said before, and the undo of the undo what it said afterwards."""
    life = lived(tmp_path / "a.db", seed, 25)
    for _ in range(12):
        before, acts = said(life.store), len(life.acts)
        uids = [uid for (uid,) in life.store.db.execute("SELECT uid FROM memory ORDER BY uid")]
        life.now += 1
        with life.store.unit() as unit:
            life.judge(unit, uids)
            act = unit.act
        if not act:
            continue
        after = said(life.store)
        for expected in (before, after):
            life.now += 1
            with life.store.unit() as unit:
                undo.take_back(unit, [act], life.now, "why")
                undo.keep(unit, life.now, "that", "it", acts=[act])
                act = unit.act
            assert said(life.store) == expected
        assert len(life.acts) == acts


def test_a_note_that_two_machines_stored_counts_once():
    """Of two acts for one note the one that came first counts whole, in any order of arrival."""

    def learned(host, at, memory, text):
        sets = {records.TEXT: {"text": text}, records.STATUS: index.HOLDS}
        return Record(host, 1, at, "note", memory, "learned", records.body("add", set=sets))

    first, second = learned("bb", 5, "m1", "first"), learned("aa", 6, "m1", "second")
    for order in ([first, second], [second, first]):
        assert state_of(order, {"note": "bb"})[records.TEXT] == {"text": "first"}
        assert state_of(order)[records.TEXT] == {"text": "second"}


def test_a_change_of_a_record_is_seen(tmp_path):
    """A body that was changed by another hand than ours does not fit its sum."""
    store = lived(tmp_path / "a.db", 1, 5).store
    assert record_log.damaged(store.db) == []
    store.db.execute("UPDATE record SET body = replace(body, 'fact', 'fake') WHERE id = 2")
    assert record_log.damaged(store.db) == [(record_log.host(store.db), 2)]


@pytest.mark.parametrize("at", [500, 9_000])
def test_what_comes_late_of_an_undone_act_is_undone_too(tmp_path, at):
    """Another machine drained the same note before or after, into something else: its word is undone, and comes back.

    Whoever hears of all that in any order says the same.
    """
    here, there, third = (SqliteStore(str(tmp_path / f"{name}.db")) for name in "abc")
    note = "f" * 32
    for store, when, texts in ((here, 1_000, ["one"]), (there, at, ["two", "three"])):
        with store.unit() as unit:
            unit.receipt(Note(note, "default", "", when), when, "stored", len(texts))
            for n, text in enumerate(texts):
                unit.add(Draft(f"{n}" * 20, note, Fact(text, "fact"), "user", "o", when), when)
    act = note
    for standing in ("forgotten", "current"):
        with here.unit() as unit:
            undo.take_back(unit, [act], 2_000, "why")
            undo.keep(unit, 2_000, "that", "it", acts=[act])
            act = unit.act
        with here.unit() as unit:
            unit.follow(record_log.add(unit.db, record_log.every(there.db)))
        assert {status for (status,) in here.db.execute("SELECT status FROM memory")} == {standing}
        assert here.reader.has_receipt(note)
        every = [*record_log.every(here.db)]
        for one in every[::-1]:
            with third.unit() as unit:
                unit.follow(record_log.add(unit.db, [one]))
        assert said(third) == said(here) == expected(every)


@pytest.mark.parametrize("first", ["supersede", "doubt"])
def test_of_two_verdicts_about_a_pair_the_one_counts_that_lets_both_stand(tmp_path, first):
    """Whichever came first, in any order of arrival: the older memory stays, marked as maybe replaced."""
    stores = [SqliteStore(str(tmp_path / f"{name}.db")) for name in "abc"]
    here, there, third = stores
    old, new = "a" * 20, "b" * 20
    with here.unit() as unit:
        for uid in (old, new):
            unit.add(Draft(uid, "n", Fact(uid, "fact"), "user", "o", 5), 5)
    with there.unit() as unit:
        unit.follow(record_log.add(unit.db, record_log.every(here.db)))
    for store, how, at in ((here, first, 10), (there, {"supersede": "doubt", "doubt": "supersede"}[first], 20)):
        with store.unit() as unit:
            unit.act = records.pair(new, old)
            rows = [index.row_of(unit.db, uid) for uid in (old, new)]
            assert unit.supersede(*rows, at, at, "why") if how == "supersede" else unit.doubt(*rows, at, "why")
    every = [*record_log.every(here.db), *record_log.every(there.db)]
    for store, order in ((here, every), (there, every), (third, every[::-1])):
        for one in order:
            with store.unit() as unit:
                unit.follow(record_log.add(unit.db, [one]))
        assert said(store) == expected(every)
        assert dict(store.db.execute("SELECT uid, status FROM memory")) == dict.fromkeys((old, new), "current")
        assert store.reader.newer(store.reader.located([old])) == {
            index.row_of(store.db, old): (index.row_of(store.db, new), new)
        }
