"""What the user said that an agent which notes did not note: told once at the session's next prompt, kept by nobody."""

import json
import subprocess
from contextlib import closing

import pytest

from memman.queue.notes import Queue
from tests.support.hook_calls import context, hook

RULE = "From now on use uv in this repository, never pip."
LINE = "Noted: The staging deploys run from the main branch."
NUDGE = "Last turn the user said"


def turn(box, prompt, reply):
    """Play a turn of a session that was asked to note; return what its prompt was answered with."""
    payload = {"session_id": "s", "cwd": "/"}
    told = context(box, "user-prompt", "claude-code", payload | {"prompt": prompt})
    hook(box, "stop", "claude-code", payload | {"last_assistant_message": reply})
    return told


def begun(box, **settings):
    """Begin a session whose agent notes."""
    box.configure(NOTED="on", **settings)
    context(box, "session-start", "claude-code", {"session_id": "s", "cwd": "/", "source": "startup"})
    turn(box, "Staging deploys run from the main branch.", f"All right.\n\n{LINE}")


def test_a_rule_that_was_not_noted_is_told_once_at_the_next_prompt(box):
    """The agent is asked about it, and what it does not note is not kept."""
    begun(box)
    turn(box, RULE, "Switched to uv.")
    box.drain()
    said = turn(box, "Now rename the parser's module.", "Renamed.")
    assert f'{NUDGE}: "{RULE}"' in said
    assert NUDGE not in turn(box, "And run the tests again.", "They pass.")
    box.drain()
    assert not [one for one in box.store("SELECT text FROM memory") if "uv" in one]


def captured(box):
    """Drain, and tell whose word the rule is, as often as it is kept."""
    box.drain()
    return box.store("SELECT source FROM memory WHERE text = ?", RULE)


def test_only_the_turn_just_before_is_told_of(box):
    """What a drain finds a turn later, or its prompt, is told of no more: it is captured once."""
    begun(box)
    turn(box, RULE, "Switched to uv.")
    turn(box, "Now rename the parser's module.", "Renamed.")
    assert captured(box) == []
    assert NUDGE not in turn(box, "And run the tests again.", "They pass.")
    assert captured(box) == captured(box) == ["user"]


@pytest.mark.parametrize("repository", ["same", "other"])
def test_a_session_that_never_ends_is_captured_all_the_same(box, tmp_path, repository):
    """As another begins in the same repository, or after a while; what waits is known in the queue alone."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    begun(box)
    turn(box, RULE, "Switched to uv.")
    assert captured(box) == []
    assert [path.read_text() for path in box.data.joinpath("sessions").glob("*.unnoted")] == [""]
    other = {"session_id": "t", "cwd": "/" if repository == "same" else str(tmp_path), "source": "startup"}
    context(box, "session-start", "claude-code", other)
    assert captured(box) == (["user"] if repository == "same" else [])
    with closing(Queue(str(box.data))) as queue:
        queue.db.execute("UPDATE note SET retry_at = 2 WHERE state = 'pending'")
    assert captured(box) == ["user"]


def test_a_purge_of_the_session_takes_what_waits_for_its_prompt(box):
    """It is a note of the session that waits."""
    begun(box)
    turn(box, RULE, "Switched to uv.")
    box.drain()
    (uid,) = box.queue("SELECT uid FROM note WHERE text = ?", RULE)
    assert box.memman("purge", "--session", "s").returncode == 0
    assert not box.queue("SELECT uid FROM note WHERE uid = ?", uid)
    assert not [path for path in box.data.rglob("*") if path.is_file() and RULE.encode() in path.read_bytes()]
    assert NUDGE not in turn(box, "Now rename the parser's module.", "Renamed.")
    assert captured(box) == []


def test_nothing_is_told_where_turns_are_not_kept(box):
    """Switched off since: then what waited is not captured either."""
    begun(box)
    turn(box, RULE, "Switched to uv.")
    box.drain()
    box.configure(NOTED="on", CAPTURE="off")
    assert NUDGE not in turn(box, "Now rename the parser's module.", "Renamed.")
    assert captured(box) == []


@pytest.mark.parametrize("when", ["before the drain", "after the drain", "off"])
def test_what_the_agent_is_never_told_of_is_captured(box, when):
    """After the last turn of a session no prompt comes, and none tells where that is switched off."""
    begun(box, NUDGE="off" if when == "off" else "on")
    turn(box, RULE, "Switched to uv.")
    if when != "before the drain":
        box.drain()
    hook(box, "session-end", "claude-code", {"session_id": "s", "cwd": "/"})
    box.drain()
    box.drain()
    assert box.store("SELECT source FROM memory WHERE text = ?", RULE) == ["user"]


def test_nothing_is_told_where_it_is_off_noted_or_nobody_asked(box):
    """MEMMAN_NUDGE=off, and a line in the turn, leave nothing to tell."""
    begun(box, NUDGE="off")
    turn(box, RULE, "Switched to uv.")
    box.drain()
    assert NUDGE not in turn(box, "Now rename the parser's module.", "Renamed.")
    box.configure(NOTED="on")
    turn(box, RULE, "Switched.\n\nNoted: This repository uses uv, never pip.")
    box.drain()
    assert NUDGE not in turn(box, "Now rename the reader's module.", "Renamed.")


def test_what_ends_a_memory_is_kept_all_the_same(box):
    """A correction of what is stored does not wait for the agent."""
    box.remember("The shop's dev server listens on port 9191.")
    box.drain()
    begun(box)
    turn(box, "No, the shop's dev server listens on port 9292 now.", "Understood.")
    box.drain()
    assert ("The shop's dev server listens on port 9191.", "superseded") in box.store("SELECT text, status FROM memory")
    assert json.loads(box.memman("recall", "--json", "shop's dev server port").stdout)["hits"][0]["text"].endswith(
        "9292 now."
    )
