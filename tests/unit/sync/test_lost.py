"""Records that a store has lost: they come back from who has them, and nobody waits for those that nobody has."""

import json

import pytest

from tests.support.machines import current, differing, done, host, machine, pair, told

PORT, LATER = "The billing service listens on port 9110.", "The billing service listens on port 9220."
HERON, IBIS = "The heron is the mascot of the team.", "The ibis nests in rack 4."


def lose(box, where):
    """Spoil records of a machine's own log, and have it repaired."""
    box.store(f"UPDATE record SET sum = sum + 1 WHERE {where}")
    done(box, "repair")


def both(*boxes):
    """Make a round on each machine."""
    for box in boxes:
        done(box, "sync")


@pytest.mark.parametrize("which", [f"kind = 'learned' AND body LIKE '%{LATER}%'", "n = (SELECT max(n) FROM record)"])
def test_a_record_that_others_have_comes_back(box, which):
    """It keeps host and number; no act is done twice, and nothing ends that held."""
    one, other, _ = pair(box)
    told(one, PORT)
    told(one, LATER)
    both(one, other)
    name, before = host(one), current(other)
    lose(one, which)
    said = one.memman("sync")
    assert said.stderr == ""
    assert said.stdout.endswith(", 1 taken in\n")
    assert host(one) == name
    both(other, one)
    assert current(one) == current(other) == before
    assert differing(one, other) == []
    assert other.store("SELECT count(*) FROM host") == [1 + 1]


def test_a_damaged_record_goes_nowhere(box):
    """Until it is repaired a round tells nobody of it, and what the folder has stays as it is."""
    one, other, folder = pair(box)
    told(one, PORT)
    both(one, other)
    one.store("UPDATE record SET sum = sum + 1, body = replace(body, '9110', '9119') WHERE kind = 'learned'")
    ran = one.memman("sync")
    assert ran.returncode == 12
    assert "record 2 of host" in ran.stderr
    done(one, "repair")
    both(one, other)
    third = machine(box, "third")
    key = (one.data / "sync" / "key").read_text()
    done(third, "sync", "--folder", str(folder), "--key", "-", input=key)
    assert current(third) == current(one) == current(other) == [PORT]
    assert differing(one, third) == differing(one, other) == []


def test_what_stands_behind_a_lost_record_reaches_others(box):
    """All but what was lost comes over, what only lost records said apart, and both say how much that is."""
    one, other, folder = machine(box, "one"), machine(box, "other"), box.data.parent / "shared"
    folder.mkdir()
    for text in (HERON, IBIS):
        told(one, text)
    lose(one, "n IN (1, 2)")
    assert current(one) == [IBIS]
    done(one, "sync", "--folder", str(folder))
    key = (one.data / "sync" / "key").read_text()
    assert "lost on every machine: 2 records" in done(other, "sync", "--folder", str(folder), "--key", "-", input=key)
    assert current(other) == [IBIS]
    assert "lost on every machine: 2 records" in done(one, "sync", "--status")
    told(one, PORT)
    both(one, other)
    assert current(other) == current(one)
    assert differing(one, other) == []
    assert done(one, "sync").endswith("0 records written, 0 taken in\n")


def test_a_gap_in_what_was_imported_ends_nothing(box):
    """A host of which an import had only what came later is told like any other."""
    early, one, other, folder = *(machine(box, name) for name in ("early", "one", "other")), box.data.parent / "shared"
    folder.mkdir()
    told(early, IBIS)
    told(early, HERON)
    head, *lines = done(early, "export").splitlines()
    later = [line for line in lines if json.loads(line).get("n", 0) > 2]
    (box.data.parent / "later").write_text("\n".join([json.dumps(json.loads(head) | {"records": len(later)}), *later]))
    told(one, PORT)
    done(one, "import", str(box.data.parent / "later"))
    done(one, "sync", "--folder", str(folder))
    done(other, "sync", "--folder", str(folder), "--key", "-", input=(one.data / "sync" / "key").read_text())
    assert current(other) == sorted([HERON, PORT])
    assert done(one, "sync").endswith("0 records written, 0 taken in\n")
    (box.data.parent / "all").write_text("\n".join([head, *lines]))
    done(one, "import", str(box.data.parent / "all"))
    both(one, other)
    assert current(other) == sorted([HERON, IBIS, PORT])
    assert differing(one, other) == []


def test_who_writes_behind_a_lost_end_takes_another_name(box):
    """Where even the last numbers are lost, what is said next is no other record than what others know."""
    one, other, _ = pair(box)
    told(one, HERON)
    told(one, IBIS)
    both(one, other)
    one.store(f"DELETE FROM record WHERE body LIKE '%{IBIS}%'")
    one.store("UPDATE host SET n = (SELECT max(n) FROM record WHERE host = 1) WHERE id = 1")
    told(one, PORT)
    one.memman("sync")
    both(other, one)
    assert current(one) == current(other) == sorted([HERON, IBIS, PORT])
    assert differing(one, other) == []
