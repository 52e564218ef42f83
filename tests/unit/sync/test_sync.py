"""One memory on two machines by a folder alone: what each says, takes in and refuses."""

import json
import os
import random
import shutil
import sys
from contextlib import nullcontext

import pyrage
import pytest

from memman.commands.place import Place
from memman.commands.sync import begin
from memman.sync.folder import Header, Key, Name, Unreadable, packed, unpacked
from tests.support.machines import apart, carry, current, differing, done, host, machine, pair, states, told


def test_what_one_eachlearns_the_other_knows_after_a_round_each(box):
    """Memories, forgets, scopes, protection and rules come over; exports are equal."""
    one, other, _ = pair(box)
    told(one, "We deploy billing to Fly.io from the main branch.", repository="example.org/shop")
    told(other, "The heron is the mascot of the team.")
    done(one, "sync")
    done(other, "sync")
    assert other.recall("where is billing deployed") == ["We deploy billing to Fly.io from the main branch."]
    done(one, "sync")
    assert (
        current(one)
        == current(other)
        == [
            "The heron is the mascot of the team.",
            "We deploy billing to Fly.io from the main branch.",
        ]
    )
    assert differing(one, other) == []
    uid = one.store("SELECT uid FROM memory WHERE text LIKE '%heron%'")[0]
    done(one, "forget", uid)
    done(other, "insights", "protect", other.store("SELECT uid FROM memory WHERE text LIKE 'We deploy%'")[0])
    done(other, "sync")
    done(one, "sync")
    done(other, "sync")
    assert current(one) == current(other) == ["We deploy billing to Fly.io from the main branch."]
    assert differing(one, other) == []
    assert done(one, "sync") == "0 records written, 0 taken in\n"


def both(one, other):
    """Make a round on each machine."""
    for box in (one, other):
        done(box, "sync")


def test_facts_learned_apart_end_in_one_chain(box):
    """The newer one, by when it was said, takes the place of the older, on both alike, in one round each."""
    one, other, _ = pair(box)
    told(one, "The staging database runs on port 5432.", queued_at=1_700_000_000_000)
    told(other, "The staging database runs on port 6543 now.", queued_at=1_700_000_100_000)
    both(one, other)
    done(one, "sync")
    sql = "SELECT m.text, n.text, m.valid_to, m.retired_at FROM memory m JOIN memory n ON n.id = m.superseded_by"
    assert one.store(sql) == other.store(sql)
    assert [row[:2] for row in one.store(sql)] == [
        ("The staging database runs on port 5432.", "The staging database runs on port 6543 now.")
    ]
    assert differing(one, other) == []


AGENT = {"source": "agent", "agent": "claude-code", "session": "s"}
BEFORE, AFTER = "The staging database runs on port 5432.", "The staging database runs on port 6543 now."


def standing(box):
    """Return the statuses of a machine's memories, and what it says of contradictions."""
    sql = "SELECT n.uid, o.uid, sure FROM claim JOIN memory n ON n.id = claim.memory JOIN memory o ON o.id = against"
    return dict(box.store("SELECT text, status FROM memory")), box.store(sql)


@pytest.mark.parametrize("apart", [False, True])
def test_what_an_agent_contradicts_is_told_and_made_good_on_both(box, apart):
    """Noted beside the user's word or on another machine, it is against that on both; borne out on one, it holds."""
    one, other, _ = pair(box)
    told(one, BEFORE, queued_at=1_700_000_000_000)
    if not apart:
        both(one, other)
    told(other, AFTER, queued_at=1_700_000_100_000, **AGENT)
    for _ in range(2):
        both(one, other)
    assert standing(one) == standing(other)
    statuses, claims = standing(one)
    assert set(statuses.values()) == {"current"}
    assert len(claims) == 1
    assert "unconfirmed, against" in done(one, "recall", "port of the staging database")
    told(one, AFTER)
    for _ in range(2):
        both(one, other)
    assert standing(one) == standing(other) == ({BEFORE: "superseded", AFTER: "current"}, [])
    assert differing(one, other) == []


def test_what_holds_in_one_place_ends_nothing_that_holds_everywhere(box):
    """Learned apart it may, as it would beside the other."""
    one, other, _ = pair(box)
    told(one, BEFORE, queued_at=1_700_000_000_000, scope="personal", repository="example.org/shop")
    told(other, AFTER, queued_at=1_700_000_100_000, scope="repository", repository="example.org/shop")
    for _ in range(2):
        both(one, other)
    assert standing(one) == standing(other) == ({BEFORE: "current", AFTER: "current"}, [])
    assert len(one.store("SELECT maybe FROM mark WHERE maybe")) == 1
    assert differing(one, other) == []


def test_nobody_has_to_see_the_other_first(box):
    """Both write before either reads: each settles it alone, and both come to the same."""
    one, other = apart(box)
    told(one[0], "The staging database runs on port 5432.", queued_at=1_700_000_000_000)
    told(other[0], "The staging database runs on port 6543 now.", queued_at=1_700_000_100_000)
    both(one[0], other[0])
    carry(one, other)
    both(one[0], other[0])
    assert differing(one[0], other[0]) == []
    assert one[0].store("SELECT count(*) FROM memory WHERE status = 'superseded'") == [1]
    carry(one, other)
    both(one[0], other[0])
    assert differing(one[0], other[0]) == []


def segments(folder, box):
    """Return the segments of a machine, oldest first."""
    return sorted((folder / host(box)).glob("0*.age"))


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "replay"])
def test_a_segment_that_was_changed_is_refused_and_written_again(box, harm):
    """Nothing of it is taken in, what comes later waits, and its host's next round heals it."""
    one, other, folder = pair(box)
    both(one, other)
    for text in ("The ibis nests in rack 4.", "The heron is the mascot of the team.", "We deploy billing to Fly.io."):
        told(one, text)
    first, second = segments(folder, one)[-3:-1]
    content = bytearray(second.read_bytes())
    content[len(content) // 2] ^= 1
    second.write_bytes(
        {"flip": bytes(content), "cut": second.read_bytes()[:-7], "empty": b"", "replay": first.read_bytes()}[harm]
    )
    refused = other.memman("sync")
    assert refused.returncode == 0
    assert refused.stderr.count("\n") == 1
    assert f"segment {int(second.name[:8])} of host {host(one)} is" in refused.stderr
    assert current(other) == ["The ibis nests in rack 4."]
    assert json.loads(done(other, "sync", "--status", "--json"))["troubles"]
    done(one, "sync")
    done(other, "sync")
    assert current(other) == current(one)
    assert differing(one, other) == []
    assert not json.loads(done(other, "sync", "--status", "--json"))["troubles"]


def test_a_file_that_is_too_large_for_a_segment_is_not_read(box):
    """It is named in one line, and its host writes it again; nothing needs the memory."""
    one, other, folder = pair(box)
    told(one, "The heron is the mascot of the team.")
    large = segments(folder, one)[-1]
    os.truncate(large, 6 * 2**30)
    assert (
        f"segment 1 of host {host(one)} is damaged, too large, or has another key; waiting until"
        in other.memman("sync").stderr
    )
    both(one, other)
    assert large.stat().st_size < 2**20
    assert current(other) == current(one) != []


def test_a_segment_is_unpacked_up_to_a_limit():
    """A few bytes may not become as many as there are."""
    key = Key.made()
    for mebibytes, fits in ((63, True), (64, False)):
        name = Name.of(1, [7], key)
        header = Header("default", "0" * 16, 1, 1, name.digest, {})
        sealed = packed(header, ["x" * (mebibytes << 20)], key)
        assert len(sealed) < 1 << 20
        with nullcontext() if fits else pytest.raises(Unreadable):
            assert unpacked(sealed, "0" * 16, name, key)[0] == header


def test_what_is_too_much_for_one_segment_goes_into_several(box, monkeypatch):
    """All of it arrives, in whatever order they do; a folder that was emptied is filled again."""
    one, other, folder = pair(box)
    monkeypatch.setattr("memman.sync.exchange.PART_BYTES", 1500)
    monkeypatch.setenv("MEMMAN_DATA_DIR", str(one.data))
    for n in range(8):
        one.remember(f"The mailer {n} lies in rack {n}.")
    one.drain()
    several = segments(folder, one)
    assert len(several) > 4
    key = Key.load(str(one.data))
    assert all(len(key.open(path.read_bytes())) < 4000 for path in several)
    last = several[-2].rename(folder / "later")
    said = other.memman("sync").stderr
    assert f"record {int(several[-2].name[:8])} of host {host(one)} is missing; waiting for it" in said
    assert 0 < len(current(other)) < 8
    last.rename(several[-2])
    both(other, one)
    assert current(other) == current(one)
    assert differing(one, other) == []
    shutil.rmtree(folder / host(one))
    one.remember("The heron is the mascot of the team.")
    one.drain()
    assert len(segments(folder, one)) > 4
    both(other, one)
    assert current(other) == current(one)
    assert done(other, "sync") == done(one, "sync") == "0 records written, 0 taken in\n"


def test_a_host_that_is_gone_is_written_again_by_who_has_its_records(box):
    """Somebody removes its part of the folder: a machine that comes later gets all of it nevertheless."""
    one, other, folder = pair(box)
    told(one, "The heron is the mascot of the team.")
    done(other, "sync")
    shutil.rmtree(folder / host(one))
    done(other, "sync")
    third = machine(box, "third")
    done(third, "sync", "--folder", str(folder), "--key", "-", input=(one.data / "sync" / "key").read_text())
    assert current(third) == ["The heron is the mascot of the team."]
    assert done(one, "sync") == "0 records written, 0 taken in\n"


def test_the_folder_of_a_host_is_never_a_link(box, tmp_path):
    """What lies behind one is neither read nor written, and each machine says so in one line."""
    one, other, folder = pair(box)
    both(one, other)
    told(one, "The heron is the mascot of the team.")
    done(one, "sync")
    place = folder / host(one)
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    before = sorted(os.listdir(tmp_path / "elsewhere"))
    refused = other.memman("sync")
    assert (refused.returncode, refused.stderr.count("\n")) == (0, 1)
    assert f"{place} is a link, which is not followed" in refused.stderr
    assert current(other) == []
    told(one, "We deploy billing to Fly.io from the main branch.")
    refused = one.memman("sync")
    assert (refused.returncode, refused.stderr.count("\n")) == (74, 1)
    assert f"{place} could not be written" in refused.stderr
    assert sorted(os.listdir(tmp_path / "elsewhere")) == before
    place.unlink()
    both(one, other)
    assert current(other) == current(one) != []


@pytest.mark.slow
def test_what_is_purged_on_one_is_purged_on_the_other(box):
    """No word of it is left in a store or in what the folder says, and it does not come back."""
    one, other, folder = pair(box)
    told(one, "The launch codeword is tanganyika.")
    told(one, "The launch codeword is zanzibar.", replaces=one.store("SELECT uid FROM memory")[0])
    told(one, "The heron is the mascot of the team.")
    both(one, other)
    uid = other.store("SELECT uid FROM memory WHERE text LIKE '%zanzibar%'")[0]
    done(other, "purge", uid)
    lags = f"host {host(one)} still has purged text in the folder, until its next round"
    assert lags in done(other, "sync")
    assert lags in done(other, "sync", "--status")
    done(one, "sync")
    assert lags not in done(other, "sync", "--status")  # it tells of now, not of the last round
    done(other, "insights", "protect", other.store("SELECT uid FROM memory WHERE text LIKE '%heron%'")[0])
    assert ", 1 not written yet" in done(other, "sync", "--status")
    both(one, other)
    assert "not written" not in done(other, "sync", "--status")
    both(one, other)
    assert current(one) == current(other) == ["The heron is the mascot of the team."]
    assert differing(one, other) == []
    key = Key.load(str(one.data))
    for each in (one, other):
        assert b"zanzibar" not in each.store_path().read_bytes()
        assert not [path for path in segments(folder, each) if "zanzibar" in key.open(path.read_bytes())]
        assert "still has purged text" not in done(each, "sync")


@pytest.mark.slow
def test_nothing_can_be_read_without_the_key(box):
    """Neither in the folder's files nor in their names is a word of what is remembered."""
    one, other, folder = pair(box)
    words = [f"canary{n}word" for n in range(50)]
    for n, word in enumerate(words):
        one.remember(f"The service {word} listens on port {7000 + n}.", repository=f"example.org/{word}")
    done(one, "scheduler", "drain")
    both(one, other)
    assert len(current(other)) == 50
    files = [path for path in folder.rglob("*") if path.is_file()]
    said = b"\0".join([path.read_bytes() + str(path.relative_to(folder)).encode() for path in files]).lower()
    assert files
    assert not [word for word in words if word.encode() in said]
    assert (one.data / "sync" / "key").stat().st_mode & 0o777 == 0o600


def test_drains_sync_and_tell_what_is_in_the_way(box):
    """A drain makes a round, and one that cannot still drains; status and doctor say so."""
    one, other, folder = pair(box)
    told(one, "The heron is the mascot of the team.")
    done(other, "scheduler", "drain")
    assert current(other) == ["The heron is the mascot of the team."]
    assert other.recall("which bird stands for us") == one.recall("which bird stands for us") == current(other)
    folder.rename(folder.parent / "elsewhere")
    told(other, "We deploy billing to Fly.io from the main branch.")
    assert len(current(other)) == 2
    assert f"the folder {folder} is not there" in done(other, "status")
    assert f"the folder {folder} is not there" in other.memman("doctor").stdout
    refused = other.memman("sync")
    assert (refused.returncode, refused.stderr.count("\n")) == (74, 1)


def test_a_copied_data_folder_gets_a_host_id_of_its_own(box):
    """Two machines never write under one id."""
    one, other, _ = pair(box)
    told(one, "The heron is the mascot of the team.")
    both(one, other)
    shutil.copytree(one.data, one.data.parent / "copy")
    copy = machine(box, "copy")
    (copy.data / "owner").unlink(missing_ok=True)
    told(one, "The ibis nests in rack 4.")
    copy.remember("We deploy billing to Fly.io from the main branch.")
    assert "a new host id" in copy.memman("sync").stderr
    assert host(copy) != host(one)
    done(copy, "scheduler", "drain")
    for each in (copy, one, other, copy):
        done(each, "sync")
    assert len(current(one)) == 3
    assert current(one) == current(other) == current(copy)
    assert differing(one, other) == differing(one, copy) == []


def test_bad_folders_and_keys_get_one_line(box):
    """What cannot work is refused before anything is changed."""
    one, other = machine(box, "one"), machine(box, "other")
    folder = box.data.parent / "shared"

    def refused(each, *args, **given):
        ran = each.memman("sync", *args, **given)
        assert ran.returncode != 0
        assert ran.stderr.count("\n") == 1, ran.stderr
        return ran.stderr

    assert f"{folder} does not exist: make it" in refused(one, "--folder", str(folder / "memman"))
    assert not folder.exists()
    assert "is not synced" in refused(one)
    folder.write_text("")
    assert f"{folder} is not a folder" in refused(one, "--folder", str(folder))
    folder.unlink()
    assert "this is not a key" in refused(one, "--folder", str(folder), "--key", "-", input="rubbish\n")
    assert not folder.exists()
    done(one, "sync", "--folder", str(folder))
    assert "has records of another machine" in refused(other, "--folder", str(folder))
    assert "this is not a key" in refused(other, "--folder", str(folder), "--key", "-", input="rubbish\n")
    assert "no key on standard input" in refused(other, "--folder", str(folder), "--key", "-", input="")
    assert "no key on a command line" in refused(other, "--folder", str(folder), "--key", "AGE-SECRET-KEY-1X")
    strange = str(pyrage.x25519.Identity.generate())
    assert "another key" in refused(other, "--folder", str(folder), "--key", "-", input=strange)
    assert "contain one another" in refused(other, "--folder", str(box.data.parent))
    folder.chmod(0o500)
    try:
        bound = one.mortal("sync")
    finally:
        folder.chmod(0o700)
    assert bound.returncode == 74
    assert "is not writable" in bound.stderr
    assert done(one, "sync", "--off") == "the store is no longer synced\n"
    assert "is not synced" in done(one, "sync", "--status")


def test_the_folder_is_made_where_its_parent_is_there(box):
    """It is private; one that a store is synced by already is not made anew, for it may be a disk that is away."""
    one = machine(box, "one")
    folder = box.data.parent / "shared" / "memman"
    folder.parent.mkdir()
    done(one, "sync", "--folder", str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / host(one) / "purged.age").exists()
    shutil.rmtree(folder)
    refused = one.memman("sync", "--folder", str(folder))
    assert (refused.returncode, refused.stderr.count("\n")) == (74, 1)
    assert f"the folder {folder} is not there: mount it" in refused.stderr
    assert not folder.exists()


def test_three_machines_agree_whoever_hears_of_what_first(box):
    """What one says of another's memory waits for that memory; a third machine gets all from what is said whole."""
    one, other, folder = pair(box)
    third = machine(box, "third")
    done(third, "sync", "--folder", str(folder), "--key", "-", input=(one.data / "sync" / "key").read_text())
    told(one, "The staging database runs on port 5432.", queued_at=1_700_000_000_000)
    told(other, "The staging database runs on port 6543 now.", queued_at=1_700_000_100_000)
    told(third, "The heron is the mascot of the team.")
    done(third, "forget", *third.store("SELECT uid FROM memory WHERE text LIKE '%heron%'"))
    for _ in range(2):
        for each in (third, other, one):
            done(each, "sync")
    assert differing(one, other) == differing(one, third) == []
    assert one.store("SELECT status, count(*) FROM memory GROUP BY 1 ORDER BY 1") == [
        ("current", 1),
        ("forgotten", 1),
        ("superseded", 1),
    ]


@pytest.mark.slow
def test_an_undo_finds_what_a_note_changed_in_other_rows(box):
    """Rows move when older memories come in between; receipts and undos name the same memories as before."""
    one, other = apart(box)
    told(one[0], "The kestrel service is owned by Anna.", repository="example.org/shop")
    uid = one[0].store("SELECT uid FROM memory")[0]
    both(one[0], other[0])
    carry(one, other)
    both(one[0], other[0])
    for n in range(6):
        told(other[0], f"The mailer {n} lies in rack {n}.", repository="example.org/shop")
    note = told(one[0], "The kestrel service is owned by Bert.", replaces=uid, repository="example.org/shop")
    carry(one, other)
    both(one[0], other[0])
    carry(one, other)
    both(one[0], other[0])
    assert differing(one[0], other[0]) == []
    done(other[0], "undo", note)
    assert other[0].store("SELECT status FROM memory WHERE uid = ?", uid) == ["current"]
    carry(one, other)
    both(one[0], other[0])
    carry(one, other)
    both(one[0], other[0])
    assert differing(one[0], other[0]) == []
    assert len(current(one[0])) == 7


def test_an_undo_brings_back_what_was_replaced_on_two_machines(box):
    """Both replaced one memory and were compared: without the newer one, the older holds again, and that is undone."""
    one, other, _ = pair(box)
    told(one, "The billing service listens on port 9110.", queued_at=1_700_000_000_000)
    both(one, other)
    first = one.store("SELECT uid FROM memory")[0]
    told(one, "The billing service listens on port 9330.", replaces=first, queued_at=1_700_000_100_000)
    note = told(other, "The billing service listens on port 9220.", replaces=first, queued_at=1_700_000_200_000)
    for _ in range(2):
        both(one, other)
    statuses = "SELECT substr(text, -5, 4), status FROM memory ORDER BY valid_from"
    replaced = [("9110", "superseded"), ("9330", "superseded"), ("9220", "current")]
    assert one.store(statuses) == other.store(statuses) == replaced
    report = json.loads(done(one, "undo", note, "--json"))
    assert sorted(one["became"] for one in report["memories"]) == ["current again", "undone"]
    for _ in range(2):
        both(one, other)
    undone = [("9110", "superseded"), ("9330", "current"), ("9220", "forgotten")]
    assert one.store(statuses) == other.store(statuses) == undone
    done(other, "undo", report["id"])
    for _ in range(2):
        both(one, other)
    assert one.store(statuses) == other.store(statuses) == replaced
    assert differing(one, other) == []


def test_an_undo_takes_a_comparison_with_it_that_it_did_not_know_of(box):
    """One machine compared what another undid meanwhile: the older memory holds again, until the undo is undone."""
    one, other = apart(box)
    told(one[0], BEFORE, queued_at=1_700_000_000_000)
    note = told(other[0], AFTER, queued_at=1_700_000_100_000)
    carry(one, other)
    done(one[0], "sync")
    assert current(one[0]) == [AFTER]
    report = json.loads(done(other[0], "undo", note, "--json"))
    undone, redone = ({BEFORE: "current", AFTER: "forgotten"}, []), ({BEFORE: "superseded", AFTER: "current"}, [])
    for expected in (undone, redone):
        for _ in range(2):
            carry(one, other)
            both(one[0], other[0])
        assert standing(one[0]) == standing(other[0]) == expected
        assert differing(one[0], other[0]) == []
        if expected == undone:
            done(one[0], "undo", report["id"])


# A drain whose judge finds that nothing bears on anything.
BLIND = """
import sys
from memman._entry import main
from memman.judge.judge import Judge, Relation
Judge.compared = lambda self, groups, most=None: [[Relation(1, 0, 0, 0, 0)] * len(olds) for _, olds in groups]
sys.argv[1:] = ["scheduler", "drain"]
sys.exit(main())
"""


def test_what_a_machine_did_second_is_in_no_list(box):
    """Of a note that two copies of a data folder drained the first account counts; only it is shown, and purged."""
    one, folder = machine(box, "one"), box.data.parent / "shared"
    told(one, BEFORE, queued_at=1_700_000_000_000)
    one.remember(AFTER, queued_at=1_700_000_100_000)
    shutil.copytree(one.data, one.data.parent / "other")
    other = machine(box, "other")
    (other.data / "owner").unlink(missing_ok=True)
    drain = other.start_drain(BLIND)
    assert drain.communicate()[1] == ""
    done(one, "scheduler", "drain")
    assert (len(current(one)), len(current(other))) == (1, 2)
    uid = one.store("SELECT uid FROM memory WHERE text = ?", AFTER)[0]
    done(one, "purge", uid)
    folder.mkdir()
    done(one, "sync", "--folder", str(folder))
    done(other, "sync", "--folder", str(folder), "--key", "-", input=(one.data / "sync" / "key").read_text())
    for _ in range(2):
        both(one, other)
    assert current(one) == current(other) == [BEFORE]
    assert differing(one, other) == []
    verbs = one.store("SELECT verb FROM log ORDER BY at")
    assert verbs == other.store("SELECT verb FROM log ORDER BY at")
    assert "supersede" not in verbs


def test_the_older_word_gives_way_in_every_part_by_itself(box):
    """What was changed here and there of one memory stands beside one another; of one thing the later holds."""
    one, other = apart(box)
    told(one[0], "The kestrel service is owned by Anna.", repository="example.org/shop")
    both(one[0], other[0])
    carry(one, other)
    both(one[0], other[0])
    (uid,) = one[0].store("SELECT uid FROM memory")
    done(one[0], "scope", "move", uid, "--to", "personal")
    done(one[0], "insights", "feedback", uid, "helpful")
    done(other[0], "insights", "protect", uid)
    done(other[0], "insights", "expire", uid, "--at", "2030-01-01")
    for each in (one[0], other[0]):
        done(each, "insights", "feedback", uid, "stale")
    both(one[0], other[0])
    carry(one, other)
    both(one[0], other[0])
    assert differing(one[0], other[0]) == []
    state = states(one[0])[uid]
    assert ("scope" in state, "protected" in state, state["until"] > 0) == (False, True, True)


def test_a_wrong_clock_loses_nothing(box):
    """What was recorded years ahead counts as of a day ahead, where the next change goes on, so that it stands."""
    one, other, _ = pair(box)
    told(one, "The kestrel service is owned by Anna.")
    done(one, "sync")
    both(other, one)
    (uid,) = one.store("SELECT uid FROM memory")
    one.alter("UPDATE host SET at = 4000000000000 WHERE id = 1")
    done(one, "forget", uid)
    both(one, other)
    assert current(other) == []
    done(other, "forget", "--undo", uid)
    both(other, one)
    assert current(one) == current(other) != []
    assert all(box.store("SELECT max(at) FROM record")[0] < 4_000_000_000_000 for box in (one, other))


def test_a_store_restored_from_a_backup_takes_up_what_was_said_since(box):
    """Its former self's bundles are read like those of others: nothing that was said is lost."""
    one, other, _ = pair(box)
    told(one, "The heron is the mascot of the team.")
    both(one, other)
    done(one, "backup", "create", "before")
    told(one, "We deploy billing to Fly.io from the main branch.")
    both(one, other)
    shutil.rmtree(one.store_path().parent)
    done(one, "backup", "restore", "latest")
    assert len(current(one)) == 1
    both(one, other)
    done(one, "sync")
    assert len(current(one)) == 2
    assert differing(one, other) == []


def test_a_host_begins_anew_after_many_segments(box, monkeypatch):
    """The folder does not grow for ever, and who was away longer misses nothing."""
    one, other, folder = pair(box)
    monkeypatch.setattr("memman.sync.exchange.MOST", 4)
    monkeypatch.setenv("MEMMAN_DATA_DIR", str(one.data))
    for n in range(8):
        one.remember(f"The mailer {n} lies in rack {n}.")
        one.drain()
    assert len(segments(folder, one)) <= 5
    both(other, one)
    assert current(other) == current(one)
    assert len(current(one)) == 8


def test_without_the_package_one_line_says_what_to_install(box):
    """Everything else works."""
    one = machine(box, "one")
    (box.data.parent / "shared").mkdir()
    code = (
        "import sys; sys.modules['pyrage'] = None\n"
        "from memman._entry import main\n"
        f"sys.argv = ['memman', 'sync', '--folder', {str(box.data.parent / 'shared')!r}]\n"
        "sys.exit(main())\n"
    )
    process = one.start_drain(code)
    out, err = process.communicate()
    assert (process.returncode, out, err.count("\n")) == (78, "", 1)
    assert "pip install 'memman[sync]'" in err


def test_the_key_is_shown_at_a_terminal_alone(box):
    """Not to a pipe, and not to an agent."""
    one, _, _ = pair(box)
    key = (one.data / "sync" / "key").read_text().strip()
    hidden = one.memman("sync", "--key")
    assert hidden.returncode == 77
    assert key not in hidden.stdout + hidden.stderr
    seen = one.person("sync", "--key")
    assert key in seen.asked
    assert key not in seen.stdout


def test_what_names_a_memory_of_a_third_eachwaits_for_it(box):
    """A note's receipt that comes before the memory it changed says all it said once that has come, and is not news."""
    one, other, folder = pair(box)
    third = machine(box, "third")
    done(third, "sync", "--folder", str(folder), "--key", "-", input=(one.data / "sync" / "key").read_text())
    told(one, "The heron is the mascot of the team.")
    done(one, "sync")
    done(other, "sync")
    told(other, "The mascot is a kingfisher now.", replaces=one.store("SELECT uid FROM memory")[0])
    late = folder / host(one)
    late.rename(folder.parent / "late")
    done(other, "sync")
    shutil.rmtree(late)  # who had its records has written them
    done(third, "sync")
    (folder.parent / "late").rename(late)
    assert done(third, "sync").startswith("0 records written, ")
    done(one, "sync")
    assert differing(one, other) == differing(one, third) == []
    assert done(third, "sync") == "0 records written, 0 taken in\n"


MEANWHILE = """
import asyncio, subprocess, sys
from memman.config.env import Settings
from memman.drain.stores import Stores
from memman.sync.turn import turn_by_folder
data, point, *command = sys.argv[1:]
def reach(reached, note):
    if reached == point:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
async def main():
    stores = Stores.of(data, Settings.load(data, "default"))
    store, tools = stores.equipped("default")
    await turn_by_folder(store, data, "default", tools, reach)
    await stores.close()
asyncio.run(main())
"""


@pytest.mark.parametrize("point", ["sync:named", "sync:said", "sync:taken", "sync:reconciled"])
def test_what_a_person_does_amid_a_round_is_the_later_word(box, point):
    """A forget that comes between what is said and what is taken in holds, here and on the other machine."""
    one, other = apart(box)
    told(one[0], "The kestrel service is owned by Anna.", repository="example.org/shop")
    told(one[0], "The heron is the mascot of the team.")
    both(one[0], other[0])
    carry(one, other)
    both(one[0], other[0])
    (uid,) = one[0].store("SELECT uid FROM memory WHERE text LIKE '%kestrel%'")
    told(other[0], "The kestrel service is owned by Bert.", replaces=uid, repository="example.org/shop")
    done(other[0], "sync")
    carry(one, other)
    amid = one[0].start(sys.executable, "-c", MEANWHILE, str(one[0].data), point, one[0].script, "forget", uid)
    _, complaint = amid.communicate()
    assert (amid.returncode, complaint) == (0, "")
    assert one[0].store("SELECT text FROM memory WHERE status = 'forgotten'") == [
        "The kestrel service is owned by Anna."
    ]
    for _ in range(2):
        both(one[0], other[0])
        carry(one, other)
    assert other[0].store("SELECT uid FROM memory WHERE status = 'forgotten'") == [uid]
    assert differing(one[0], other[0]) == []


def test_a_long_chain_hides_what_holds_from_neither_machine(box):
    """Of forty ports that took each other's place the last gives way to the other machine's, on both alike."""
    one, other = apart(box)
    chance = random.Random(4)
    for which, many in ((one, 40), (other, 40)):
        for _ in range(many):
            which[0].remember(f"The ledger database runs on port {chance.randrange(3000, 9000)}.")
        done(which[0], "scheduler", "drain")
        done(which[0], "sync")
    for _ in range(2):
        carry(one, other)
        both(one[0], other[0])
    assert differing(one[0], other[0]) == []


def test_a_store_that_is_to_be_synced_is_not_connected_to_a_server(box, tmp_path):
    """Rows come in another order where a folder brings them: one store is shared in one way."""
    folder = tmp_path / "shared"
    folder.mkdir()
    begin(Place(str(box.data), "default", ""), str(folder))
    refused = box.memman("team", "connect", "default", "--dsn", "-", input="postgresql://nobody@127.0.0.1:1/none\n")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "is synced by a folder" in refused.stderr


def test_what_comes_amid_a_round_is_seen_by_the_next_drain(box):
    """A file that a program brings after the folder was read, and a note that is stored after that was written."""
    one, other = apart(box)
    told(one[0], "The heron is the mascot of the team.")
    told(other[0], "We deploy billing to Fly.io from the main branch.")
    script = (
        f"import shutil; shutil.copytree({str(one[1] / host(one[0]))!r}, {str(other[1] / host(one[0]))!r},"
        " dirs_exist_ok=True)"
    )
    amid = other[0].start(
        *(sys.executable, "-c", MEANWHILE, str(other[0].data), "sync:reconciled", sys.executable, "-c", script)
    )
    amid.communicate()
    assert amid.returncode == 0
    assert len(current(other[0])) == 1
    done(other[0], "scheduler", "drain")
    assert len(current(other[0])) == 2
