"""`log --since last`: what changed since somebody was here, by how long ago that is."""

import json

from memman.commands.log import room_for

HOUR = 3_600_000
OLD, NEW = "Deploys of the shop start at five.", "Deploys of the shop start at seven."


def since_last(box):
    """Return what changed, as JSON."""
    done = box.memman("log", "--since", "last", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def go_back(box, hours):
    """Have all that was done so far be so many hours longer ago."""
    for table, column in (("record", "at"), ("receipt", "at"), ("shown", "at"), ("memory", "recorded_at")):
        box.alter(f"UPDATE {table} SET {column} = {column} - ?", hours * HOUR)


def test_what_was_replaced_comes_first_and_what_it_was_is_said(box):
    """A sitting ends with a pause of six hours; what was before it is not told, the last sitting is."""
    box.remember(OLD)
    box.remember("The lift is inspected in May.")
    box.drain()
    go_back(box, 20)
    box.remember("Invoices are archived for ten years.")
    box.memman("replace", box.store("SELECT uid FROM memory WHERE text = ?", OLD)[0], NEW)
    box.drain()
    go_back(box, 50)
    found = since_last(box)
    assert [one["text"] for one in found["changes"]] == [NEW, "Invoices are archived for ten years."]
    assert (found["changes"][0]["replaced"], found["left"]) == (OLD, 0)
    assert abs(found["away_ms"] - 50 * HOUR) < HOUR
    said = box.memman("log", "--since", "last").stdout.splitlines()
    assert said[0].startswith("away for 2 days; 2 changed since ")
    assert said[1].endswith(f'{NEW} (before: "{OLD}")')


def test_an_hour_is_three_lines_and_a_month_a_page(box):
    """The rest is counted, with the command that lists it; nobody was ever here is one line too."""
    assert [room_for(hours * HOUR) for hours in (0, 1, 24, 720, 9000)] == [3, 3, 21, 40, 40]
    assert box.memman("log", "--since", "last").stdout == "nobody was here yet\n"
    for bird in ("heron", "stork", "crane", "eagle"):
        box.remember(f"The {bird} is the mascot of the {bird} team.")
    box.drain()
    said = box.memman("log", "--since", "last").stdout.splitlines()
    assert len(said) == 3
    assert said[2].startswith("and 3 more: memman log diff --since ")
    go_back(box, 720)
    assert len(box.memman("log", "--since", "last").stdout.splitlines()) == 5
