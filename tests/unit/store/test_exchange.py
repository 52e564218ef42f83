"""Members and machines that do things apart and exchange them in any order: in the end each knows what it may."""

import random
import shutil

import pytest

from memman.model.records import Edge
from memman.model.vocabulary import CONNECTED
from memman.store.sqlite import index, record_log, rules, scopes
from tests.support.team import REPOSITORY, Member, members


def visible(*machines):
    """Return what each knows of what all see, but for what has to do with what somebody keeps to themselves."""
    kept = {uid for one in machines for uid, state in one.states().items() if "text" in state and not shared(one, uid)}
    told = {(one.memory, uid) for each in machines for one in record_log.every(each.store.db)
            for uid in kept if uid in one.body}  # fmt: skip
    aside = kept | {memory for memory, _ in told}
    return [
        {uid: state for uid, state in one.states().items() if "text" in state and uid not in aside} for one in machines
    ]


def shared(one, uid):
    """Whether all see a memory."""
    row = one.row(uid)
    return one.store.reader.authorship([row])[row].visibility == "shared"


def act(one, chance, at):
    """Do something at random, as a person or a drain does."""
    rows = dict(one.store.db.execute("SELECT uid, id FROM memory WHERE status = 'current'"))
    ours = [uid for uid in rows if one.store.reader.authorship([rows[uid]])[rows[uid]].author == one.server.known.role]
    what = chance.choice(
        ("tell", "keep", "forget", "supersede", "doubt", "link", "share", "unshare", "protect", "rule")
    )
    if what in {"tell", "keep"} or len(rows) < 3 or not ours:
        one.tell(f"{one.server.known.role} {at}", private=what == "keep", at=at)
        return
    (first, second), mine = chance.sample(sorted(rows), 2), chance.choice(sorted(ours))
    with one.store.unit() as unit:
        match what:
            case "forget":
                unit.forget(rows[mine], at)
            case "supersede":
                unit.supersede(rows[first], rows[second], at, at, "newer")
            case "doubt":
                unit.doubt(rows[first], rows[second], at, "maybe")
            case "link":
                unit.link_by_hand(Edge("causal", rows[first], rows[second], 1.0, "manual: so"), at)
            case "share" | "unshare":
                if not scopes.replaced_for_all(one.store.db, rows[mine]):
                    unit.show_to(rows[mine], "shared" if what == "share" else "private", at)
            case "protect":
                unit.protect(rows[first], at, wanted=True)
            case "rule":
                said = dict.fromkeys(("tool", "pattern", "memory", "path"), "") | {
                    "uid": f"{chance.getrandbits(128):032x}", "text": f"Ask {at}", "action": "inform", "ends_at": None,
                    "repository": chance.choice(("", REPOSITORY.repository)),
                }  # fmt: skip
                rules.add(unit, said, at)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_was_done_apart_all_know_the_same_of_what_they_see(database, tmp_path, seed):
    """Three people, one of them on two machines: what is shared is the same for all, and all is for one person."""
    chance = random.Random(seed)
    with members(database, tmp_path, ("alice", "bob", "carol")) as people:
        (tmp_path / "second").mkdir()
        everybody = [*people.values(), second := Member(database, "alice", tmp_path / "second")]
        for at in range(1, 80):
            one = chance.choice(everybody)
            act(one, chance, at)
            if not chance.randrange(4):
                chance.choice(everybody).meet()
        for _ in range(3):
            for one in everybody:
                one.meet()
        known = visible(*everybody)
        assert len(known[0]) > 1
        for other in known[1:]:
            assert other == known[0]
        assert people["alice"].states() == second.states()
        second.close()


def test_what_comes_back_in_pieces_comes_whole(database, tmp_path, monkeypatch):
    """However small the pages, and with a writer between them, nothing is missing, and rows are written once."""
    monkeypatch.setattr("memman.store.postgres.exchange.PAGE", 3)
    with members(database, tmp_path, ("alice", "bob")) as people:
        alice, bob = people.values()
        for at in range(1, 12):
            alice.tell(f"heron {at}", at=at)
        alice.meet()
        assert bob.meet() == 22
        assert bob.meet() == 0
        assert bob.states().keys() == alice.states().keys()
        assert bob.texts() == alice.texts()


def test_one_note_on_two_machines_takes_effect_once(database, tmp_path):
    """Both have stored it before either told the server: the first counts, on both."""
    with members(database, tmp_path, ("alice",)) as people:
        (tmp_path / "second").mkdir()
        machines = [people["alice"], second := Member(database, "alice", tmp_path / "second")]
        from memman.model.records import Draft, Fact, Note

        for at, one in enumerate(machines, 5):
            with one.store.unit() as unit:
                unit.receipt(Note("01" * 16, "team", "said", 1), at, "stored", at - 4)
                for n in range(at - 4):
                    unit.add(Draft(f"{n:020x}", "01" * 16, Fact(f"told at {at}"), "user", "@", 1), at)
        for one in (*machines, *machines):
            one.meet()
        assert [one.texts() for one in machines] == [["told at 5"]] * 2
        second.close()


def test_a_copy_that_drained_the_same_note_otherwise_tears_no_act_apart(database, tmp_path):
    """Under our numbers the server has another account of the note: ours goes whole under another host's name."""
    with members(database, tmp_path, ("alice",)) as people:
        one = people["alice"]
        (tmp_path / "second").mkdir()
        one.tell("heron", at=1)
        one.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copytree(tmp_path / "alice", tmp_path / "second", dirs_exist_ok=True)
        second = Member(database, "alice", tmp_path / "second")
        from memman.model.records import Draft, Fact, Note

        for at, each in enumerate((one, second), 5):
            with each.store.unit() as unit:
                unit.receipt(Note("01" * 16, "team", "said", 1), at, "stored", 1)
                new = unit.add(Draft(f"{1:020x}", "01" * 16, Fact("ibis"), "user", "@", 1), at)
                if each is second:
                    unit.supersede(1, new, at, at, "newer")
        for each in (one, second) * 3:
            each.meet()
        assert one.states() == second.states()
        assert one.texts() == second.texts() == ["heron", "ibis"]
        second.close()


def test_a_lost_record_ends_nothing_and_comes_back_from_the_server(database, tmp_path):
    """What stands behind it reaches others, and what the server has of it is there again."""
    with members(database, tmp_path, ("alice", "bob")) as people:
        alice, bob = people.values()
        for at in (1, 2):
            alice.tell(f"heron {at}", at=at)
        alice.meet()
        alice.tell("heron 3", at=3)
        with alice.store.unit() as unit:
            unit.db.execute("DELETE FROM record WHERE n IN (1, 2, 5)")  # of a note and what it told, and a note
        for one in (alice, bob):
            one.meet()
        assert record_log.lost(alice.store.db) == record_log.lost(bob.store.db) != []
        assert [n for _, n in record_log.lost(alice.store.db)] == [5]
        assert alice.texts() == bob.texts() == ["heron 1", "heron 2", "heron 3"]


def test_a_clock_that_was_ahead_is_set_back(database, tmp_path):
    """What was recorded in the far future is as late as the server knows, and no later than what follows."""
    with members(database, tmp_path, ("alice", "bob")) as people:
        alice, bob = people.values()
        uid = alice.tell("heron", at=2**45)
        alice.meet()
        bob.meet()
        with bob.store.unit() as unit:
            unit.forget(bob.row(uid), 9)
        bob.meet()
        alice.meet()
        assert alice.texts() == bob.texts() == []
        assert max(one.at for one in record_log.every(alice.store.db)) < 2**44


def test_a_member_who_may_only_read_hears_all_and_tells_nothing(database, tmp_path):
    """What they do by themselves stays with them."""
    with members(database, tmp_path, ("alice", "carol"), carol="read") as people:
        alice, carol = people.values()
        uid = alice.tell("heron")
        alice.meet()
        carol.meet()
        carol.tell("pike")
        carol.meet()
        alice.meet()
        assert index.state(carol.store.db, uid)
        assert alice.texts() == ["heron"]
        assert '"read"' in carol.store.reader.meta(CONNECTED)
