"""What was learned since a moment, and what memory holds now that it did not then."""

import json

OLD, NEW, GONE = "We deploy billing to Fly.io.", "We deploy billing to Render.", "The heron is the mascot of the team."


def told(box, *call):
    """Return the JSON that a verb prints."""
    done = box.memman(*call, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_is_new_is_told_by_day_and_repository(box):
    """Each repository has its memories and their count; what was forgotten is left out, what is older too."""
    box.remember(OLD, repository="acme/shop", scope="repository")
    box.remember(GONE)
    box.drain()
    box.memman("forget", box.store("SELECT uid FROM memory WHERE text = ?", GONE)[0])
    (group,) = told(box, "learned")
    assert (group["scope"], [one["text"] for one in group["memories"]]) == ("shop", [OLD])
    assert "shop  1 memory\n" in box.memman("learned", "--since", "12h").stdout
    box.alter("UPDATE memory SET recorded_at = 0")
    assert told(box, "learned") == []


def test_a_diff_tells_what_came_what_went_and_what_changed(box):
    """A replacement is + and -, a move is ~, and what came and went meanwhile is nothing."""
    for text in (OLD, GONE):
        box.remember(text)
    box.drain()
    old, moved = box.store("SELECT uid FROM memory ORDER BY id")
    box.alter("UPDATE record SET at = 0")
    assert told(box, "diff") == []
    box.memman("replace", old, NEW)
    box.remember("The lift is inspected in May.")
    box.drain()
    box.memman("forget", box.store("SELECT uid FROM memory WHERE text LIKE 'The lift%'")[0])
    assert box.memman("insights", "protect", moved).returncode == 0
    changes = told(box, "diff", "--since", "12h")
    assert [(one["sign"], one["text"]) for one in changes] == [("+", NEW), ("-", OLD), ("~", GONE)]
    assert f"~ {moved[:8]}  user  {GONE}  (protect)" in box.memman("diff").stdout


def test_a_limit_keeps_the_newest_and_counts_all(box):
    """With --limit 1 one memory is told, and the count is that of the day; a diff keeps the newest change."""
    for bird in ("heron", "stork", "crane"):
        box.remember(f"The {bird} is the mascot of the {bird} team.")
        box.drain()
    said = box.memman("learned", "--limit", "1").stdout
    assert "3 memories" in said
    assert [bird for bird in ("heron", "stork", "crane") if bird in said] == ["crane"]
    said = box.memman("diff", "--limit", "1").stdout
    assert [bird for bird in ("heron", "stork", "crane") if bird in said] == ["crane"]
