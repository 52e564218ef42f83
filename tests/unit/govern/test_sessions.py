"""Sessions: what each gave, and what each was shown."""

import json

TEXT = "We deploy billing to Fly.io from the main branch."


def test_a_session_is_told_with_what_it_gave_and_what_it_was_shown(box):
    """One that left a note and one that asked, each found by the beginning of its id."""
    box.remember(TEXT, agent="codex", session="giver-1", repository="acme/shop")
    box.drain()
    box.environ["MEMMAN_SESSION"] = "asker-1"
    box.memman("recall", "--all-scopes", "where do we deploy billing?")
    box.drain()
    known = {one["session"]: one for one in json.loads(box.memman("sessions", "list", "--json").stdout)}
    counts = {name: (one["notes"], one["made"], one["shown"]) for name, one in known.items()}
    assert counts == {"giver-1": (1, 1, 0), "asker-1": (0, 0, 1)}
    gave, asked = (json.loads(box.memman("sessions", "show", name, "--json").stdout) for name in ("giv", "ask"))
    assert [[one["text"] for one in side] for side in (gave["made"], gave["shown"])] == [[TEXT], []]
    assert [[one["text"] for one in side] for side in (asked["made"], asked["shown"])] == [[], [TEXT]]
    assert asked["tokens"] > 0
    assert "codex giver-1 shop  1 note, 1 memory, 0 shown" in box.memman("sessions", "list").stdout
    assert TEXT in box.memman("sessions", "show", "giver-1").stdout


def test_an_id_that_names_no_session_or_several_is_refused(box):
    """It is said in one line, with the exit codes that ids of memories have."""
    for name in ("one-a", "one-b"):
        box.remember(f"{TEXT} Said by {name}.", session=name)
    box.drain()
    for part in ("other", "one"):
        done = box.memman("sessions", "show", part)
        assert (done.returncode > 0, done.stdout, done.stderr.count("\n")) == (True, "", 1)
        assert "session" in done.stderr


def test_bare_it_lists_and_a_limit_keeps_the_latest(box):
    """`sessions` alone is `sessions list`; --limit keeps the session that was there last."""
    for name in ("first", "last"):
        box.remember(f"The {name} heron is the mascot of team {name}.", agent="codex", session=name)
        box.drain()
    assert box.memman("sessions").stdout == box.memman("sessions", "list").stdout
    (only,) = json.loads(box.memman("sessions", "list", "--limit", "1", "--json").stdout)
    assert only["session"] == "last"
