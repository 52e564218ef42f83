"""`log`: what was learned and changed since a moment, what sessions gave and were shown, and what it cost."""

import json
import time

from memman.commands.log import room_for

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
    (group,) = told(box, "log", "learned")
    assert (group["scope"], [one["text"] for one in group["memories"]]) == ("shop", [OLD])
    assert "shop  1 memory\n" in box.memman("log", "learned", "--since", "12h").stdout
    box.alter("UPDATE memory SET recorded_at = 0")
    assert told(box, "log", "learned") == []


def test_a_diff_tells_what_came_what_went_and_what_changed(box):
    """A replacement is + and -, a move is ~, and what came and went meanwhile is nothing."""
    for text in (OLD, GONE):
        box.remember(text)
    box.drain()
    old, moved = box.store("SELECT uid FROM memory ORDER BY id")
    box.alter("UPDATE record SET at = 0")
    assert told(box, "log", "diff") == []
    box.memman("replace", old, NEW)
    box.remember("The lift is inspected in May.")
    box.drain()
    box.memman("forget", box.store("SELECT uid FROM memory WHERE text LIKE 'The lift%'")[0])
    assert box.memman("insights", "protect", moved).returncode == 0
    changes = told(box, "log", "diff", "--since", "12h")
    assert [(one["sign"], one["text"]) for one in changes] == [("+", NEW), ("-", OLD), ("~", GONE)]
    assert f"~ {moved[:8]}  user  {GONE}  (protect)" in box.memman("log", "diff").stdout


def test_last_is_when_the_last_sitting_began(box):
    """What was before it is told by no verb; where nobody was here yet there is nothing to tell."""
    assert told(box, "log", "learned", "--since", "last") == []
    box.remember(OLD)
    box.drain()
    for table, column in (("record", "at"), ("receipt", "at"), ("memory", "recorded_at")):
        box.alter(f"UPDATE {table} SET {column} = {column} - 72000000")
    box.remember(GONE)
    box.drain()
    (group,) = told(box, "log", "learned", "--since", "last")
    assert [one["text"] for one in group["memories"]] == [GONE]
    assert [one["text"] for one in told(box, "log", "diff", "--since", "last")] == [GONE]
    assert "add" in told(box, "log", "--since", "last", "--stats")["verbs"]
    assert told(box, "log", "worker", "--since", "last")
    assert told(box, "log", "cost", "--since", "last")["shown"] == []


def test_a_limit_keeps_the_newest_and_counts_all(box):
    """With --limit 1 one memory is told, and the count is that of the day; a diff keeps the newest change."""
    for bird in ("heron", "stork", "crane"):
        box.remember(f"The {bird} is the mascot of the {bird} team.")
        box.drain()
    said = box.memman("log", "learned", "--limit", "1").stdout
    assert "3 memories" in said
    assert [bird for bird in ("heron", "stork", "crane") if bird in said] == ["crane"]
    said = box.memman("log", "diff", "--limit", "1").stdout
    assert [bird for bird in ("heron", "stork", "crane") if bird in said] == ["crane"]


TEXT = "We deploy billing to Fly.io from the main branch."


def test_a_session_is_told_with_what_it_gave_and_what_it_was_shown(box):
    """One that left a note and one that asked, each found by the beginning of its id."""
    box.remember(TEXT, agent="codex", session="giver-1", repository="acme/shop")
    box.drain()
    box.environ["MEMMAN_SESSION"] = "asker-1"
    box.memman("recall", "--all-scopes", "where do we deploy billing?")
    box.drain()
    known = {one["session"]: one for one in json.loads(box.memman("log", "sessions", "--json").stdout)}
    counts = {name: (one["notes"], one["made"], one["shown"]) for name, one in known.items()}
    assert counts == {"giver-1": (1, 1, 0), "asker-1": (0, 0, 1)}
    gave, asked = (json.loads(box.memman("log", "--session", name, "--json").stdout) for name in ("giv", "ask"))
    assert [[one["text"] for one in side] for side in (gave["made"], gave["shown"])] == [[TEXT], []]
    assert [[one["text"] for one in side] for side in (asked["made"], asked["shown"])] == [[], [TEXT]]
    assert asked["tokens"] > 0
    assert "codex giver-1 shop  1 note, 1 memory, 0 shown" in box.memman("log", "sessions").stdout
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
    assert "no session has stored anything here" in box.memman("log", "--session", "last", cwd=home).stderr
    assert "in shop" in box.memman("log").stdout


def test_a_limit_keeps_the_latest_session(box):
    """--limit keeps the session that was there last."""
    for name in ("first", "last"):
        box.remember(f"The {name} heron is the mascot of team {name}.", agent="codex", session=name)
        box.drain()
    (only,) = json.loads(box.memman("log", "sessions", "--limit", "1", "--json").stdout)
    assert only["session"] == "last"


def test_cost_sets_what_was_spent_beside_what_was_shown(replaced):
    """Money and tokens by day, stage and repository, and the tokens shown by way and session."""
    record = json.loads(replaced.memman("log", "cost", "--since", "1d", "--json").stdout)
    assert {one["repository"] for one in record["spent"]} == {"", "shop"}
    assert sum(one["cost"] for one in record["spent"]) > 0
    (shown,) = record["shown"]
    assert (shown["way"], shown["session"], shown["times"]) == ("recall", "s2", 2)
    said = replaced.memman("log", "cost").stdout
    assert "USD" in said
    assert f"{shown['tokens']} tokens" in said


HOUR = 3_600_000
FIVE, SEVEN = "Deploys of the shop start at five.", "Deploys of the shop start at seven."


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
    box.remember(FIVE)
    box.remember("The lift is inspected in May.")
    box.drain()
    go_back(box, 20)
    box.remember("Invoices are archived for ten years.")
    box.memman("replace", box.store("SELECT uid FROM memory WHERE text = ?", FIVE)[0], SEVEN)
    box.drain()
    go_back(box, 50)
    found = since_last(box)
    assert [one["text"] for one in found["changes"]] == [SEVEN, "Invoices are archived for ten years."]
    assert (found["changes"][0]["replaced"], found["left"]) == (FIVE, 0)
    assert abs(found["away_ms"] - 50 * HOUR) < HOUR
    said = box.memman("log", "--since", "last").stdout.splitlines()
    began, ended = (time.strftime("%Y-%m-%dT%H:%M", time.localtime(found[side] / 1000)) for side in ("since", "until"))
    here = began if began == ended else f"from {began} to {ended}"
    assert said[0] == f"last here {here}, 2 days ago; 2 changed since then"
    assert said[1].endswith(f'{SEVEN} (before: "{FIVE}")')


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
