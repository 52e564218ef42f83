"""Whether somebody sits before an agent: who is asked for `Noted:` lines, and whose prompts leave nothing."""

import json

import pytest

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


def captured(box):
    """Drain, and tell whose word the rule is, as often as it is kept."""
    box.drain()
    return box.store("SELECT source FROM memory WHERE text = ?", RULE)


def test_a_rule_that_was_not_noted_is_captured(box):
    """Where the agent that notes left it out, and only there."""
    begun(box)
    turn(box, "Run the tests again.", "They pass.")
    assert captured(box) == []
    turn(box, RULE, "Switched to uv.")
    assert captured(box) == captured(box) == ["user"]


def test_a_rule_that_was_noted_is_kept_in_the_words_of_the_line(box):
    """The line takes the place of what it says."""
    begun(box)
    turn(box, RULE, "Switched.\n\nNoted: This repository uses uv, never pip.")
    assert captured(box) == []


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
