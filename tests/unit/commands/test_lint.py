"""What lint finds in memory, and the command that it names for each."""

import json

import pytest

LONG = "The release is made by hand on the first Monday of each month, after " + "the changelog was read again, " * 10
TEXTS = (
    "Billing is deployed to Fly.io.",
    "It only works with the flag set.",
    LONG,
    "The heron is the mascot of the team.",
    "Invoices are archived for ten years.",
)


@pytest.fixture(name="flawed")
def _flawed(box):
    """Return a box with a contradiction, and with what is vague and over-long."""
    for text in TEXTS:
        box.remember(text)
        box.drain()
    box.alter("UPDATE memory SET text = 'Billing is deployed to Render.' WHERE id = 4")
    box.alter("INSERT INTO link VALUES (4, 3, 1, 9000, '') ON CONFLICT DO NOTHING")
    return box


def linted(box, *more):
    """Return what lint finds, as JSON."""
    done = box.memman("lint", "--json", *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_finding_names_the_command_that_mends_it(flawed):
    """With the memory's own id; nothing is changed, and --only looks for one kind."""
    before = flawed.store("SELECT * FROM memory"), flawed.store("SELECT * FROM record")
    found = {one["kind"]: one for one in linted(flawed)["findings"]}
    assert {kind: found[kind]["text"] for kind in ("contradictory", "vague", "over-long")} == {
        "contradictory": TEXTS[0],
        "vague": TEXTS[1],
        "over-long": LONG.strip(),
    }
    uid = found["over-long"]["uid"][:8]
    assert found["over-long"]["mend"] == f'memman replace {uid} "…"'
    assert flawed.memman("replace", uid, "Releases are made by hand on first Mondays.").returncode == 0
    assert linted(flawed, "--only", "vague")["counts"] == {"vague": 1}
    said = flawed.memman("lint").stdout
    assert f"memman forget {found['contradictory']['uid'][:8]}" in said
    assert "Billing is deployed to Render." in said
    assert (flawed.store("SELECT * FROM memory"), flawed.store("SELECT * FROM record")) == before


def test_a_limit_says_how_many_more_there_are_and_a_sound_store_has_nothing_to_mend(flawed, box):
    """The rest can be asked for by the command that is printed; a kind that there is not is one line."""
    for n in range(2):
        box.remember(f"They moved the lift of house {n} to the yard.")
        box.drain()
    assert "and 2 more: memman lint --only vague --limit 3" in flawed.memman("lint", "--limit", "1").stdout
    box.memman("store", "create", "empty")
    assert box.memman("lint", "--store", "empty").stdout.endswith("nothing to mend\n")
    done = box.memman("lint", "--only", "ugly")
    assert (done.returncode > 0, done.stderr.count("\n")) == (True, 1)
