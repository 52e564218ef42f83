"""Whether somebody sits before an agent: who is asked for `Noted:` lines, and whose prompts leave nothing."""

import json
import subprocess
from contextlib import closing

import pytest

from memman.queue.notes import Queue
from tests.support.hook_calls import context, hook

SAID = "Staging deploys run from the main branch, at seven in the evening."
PROGRAMS = ({"CI": "true"}, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"})


def asked(box, session, **environ):
    """Tell whether a session is asked for lines as it starts."""
    payload = {"session_id": session, "cwd": "/", "source": "startup"}
    return "Noted:" in context(box, "session-start", "claude-code", payload, **environ)


@pytest.mark.parametrize("environ", PROGRAMS)
def test_a_program_is_not_asked_for_lines(box, environ):
    """Where nobody is there nothing is told of `Noted:`, unless MEMMAN_NOTED=on says that somebody is."""
    assert asked(box, "a")
    assert asked(box, "a", **dict.fromkeys(environ, "false"))
    assert not asked(box, "b", **environ)
    box.configure(NOTED="on")
    assert asked(box, "c", **environ)
    box.configure(NOTED="off")
    assert not asked(box, "d")


@pytest.mark.parametrize("where", ["off", "ignored", "stopped"])
def test_where_turns_are_not_kept_nobody_is_asked_or_told_that_they_are(box, tmp_path, where):
    """Capture off, an excluded folder, and a stopped scheduler."""
    folder = tmp_path / "work"
    folder.mkdir()
    payload = {"session_id": "s", "cwd": str(folder), "source": "startup"}
    if where == "off":
        box.configure(CAPTURE="off")
    elif where == "ignored":
        folder.joinpath(".memmanignore").write_text("*\n")
    else:
        assert box.memman("scheduler", "stop").returncode == 0
    said = [context(box, event, "claude-code", payload) for event in ("session-start", "subagent-start")]
    assert not any("Noted:" in one or "is kept when a turn ends" in one for one in said)


def test_what_the_agent_notes_as_a_program_has_it_run_leaves_nothing(box):
    """A schedule's turn leaves no line; the user's next one does."""
    box.configure(NOTED="on")
    payload = {"session_id": "s", "cwd": "/"}
    hook(box, "session-start", "claude-code", payload | {"source": "startup"})
    for source in ("schedule_wakeup", "user"):
        hook(box, "user-prompt", "claude-code", payload | {"prompt": SAID, "source": source})
        line = f"Done.\n\nNoted: The {source} says that staging deploys run from main."
        hook(box, "stop", "claude-code", payload | {"last_assistant_message": line})
    assert box.queue("SELECT text FROM note WHERE channel = 'noted'") == [
        "The user says that staging deploys run from main."
    ]


@pytest.mark.parametrize(
    ("environ", "source", "noted", "kept"),
    [
        ({}, "user", "auto", 1),
        ({}, None, "auto", 1),
        ({}, "loop_wakeup", "auto", 0),
        ({}, "schedule_wakeup", "on", 0),
        ({}, "system", "on", 0),
        ({}, "poll_event", "on", 0),
        ({}, "of a later version", "on", 0),
        ({}, "sdk", "auto", 0),
        ({}, "sdk", "on", 1),
        ({"CI": "true"}, "user", "auto", 0),
        ({"CI": "true"}, "user", "on", 1),
        ({"CI": "False"}, "user", "auto", 1),
        ({"CI": "0"}, "user", "auto", 1),
    ],
)
def test_what_a_program_types_leaves_nothing(box, environ, source, noted, kept):
    """A prompt of a schedule or of a run of continuous integration is nobody's word."""
    box.configure(NOTED=noted)
    payload = {"session_id": "s", "cwd": "/"}
    hook(box, "user-prompt", "claude-code", payload | {"prompt": SAID, "source": source}, **environ)
    hook(box, "stop", "claude-code", payload | {"last_assistant_message": "All right."}, **environ)
    assert (box.states() if box.queue_path.exists() else {}).get("pending", 0) == kept


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
