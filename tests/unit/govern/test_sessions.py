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
    known = {one["session"]: one for one in json.loads(box.memman("sessions", "--json").stdout)}
    counts = {name: (one["notes"], one["made"], one["shown"]) for name, one in known.items()}
    assert counts == {"giver-1": (1, 1, 0), "asker-1": (0, 0, 1)}
    gave, asked = (json.loads(box.memman("log", "--session", name, "--json").stdout) for name in ("giv", "ask"))
    assert [[one["text"] for one in side] for side in (gave["made"], gave["shown"])] == [[TEXT], []]
    assert [[one["text"] for one in side] for side in (asked["made"], asked["shown"])] == [[], [TEXT]]
    assert asked["tokens"] > 0
    assert "codex giver-1 shop  1 note, 1 memory, 0 shown" in box.memman("sessions").stdout
    assert TEXT in box.memman("log", "--session", "giver-1").stdout


def test_an_id_that_names_no_session_or_several_is_refused(box):
    """It is said in one line, with the exit codes that ids of memories have."""
    for name in ("one-a", "one-b"):
        box.remember(f"{TEXT} Said by {name}.", session=name)
    box.drain()
    for part in ("other", "one"):
        done = box.memman("log", "--session", part)
        assert (done.returncode > 0, done.stdout, done.stderr.count("\n")) == (True, "", 1)
        assert "session" in done.stderr


def test_the_last_session_here_is_shown_with_what_it_replaced_and_what_may_be_done(box, tmp_path):
    """Text, whose word, where it holds; not an agent's own session, and none of another folder."""
    home, shop = tmp_path / "home", tmp_path / "shop"
    for folder in (home, shop):
        folder.mkdir()
    box.environ["HOME"] = str(home)

    def said(session, text, *replace):
        box.environ["MEMMAN_SESSION"] = session
        done = box.memman(*(replace or ("remember",)), text, cwd=shop)
        assert done.returncode == 0, done.stderr
        box.drain()

    said("a", "Deploys of the shop start at five.")
    (old,) = box.store("SELECT uid FROM memory")
    said("b", "Deploys of the shop start at seven.", "replace", old)
    said("c", TEXT)
    shown = box.memman("log", "--session", "last", cwd=shop).stdout
    (line,) = [line for line in shown.splitlines() if "start at seven" in line]
    assert "user, in shop" in line
    assert line.endswith('Deploys of the shop start at seven. (before: "Deploys of the shop start at five.")')
    assert TEXT not in shown
    for verb in ("insights verify", "review approve", "undo", "forget", "scope move"):
        assert f"memman {verb} ID" in shown
    del box.environ["MEMMAN_SESSION"]
    assert TEXT in box.memman("log", "--session", "last", cwd=shop).stdout
    assert "no session has left anything here" in box.memman("log", "--session", "last", cwd=home).stderr
    assert "in shop" in box.memman("log").stdout


def test_a_limit_keeps_the_latest(box):
    """--limit keeps the session that was there last."""
    for name in ("first", "last"):
        box.remember(f"The {name} heron is the mascot of team {name}.", agent="codex", session=name)
        box.drain()
    (only,) = json.loads(box.memman("sessions", "--limit", "1", "--json").stdout)
    assert only["session"] == "last"
