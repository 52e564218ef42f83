"""Whether somebody sits before an agent: who is asked for `Noted:` lines, and whose prompts leave nothing."""

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
    assert not asked(box, "b", **environ)
    box.configure(NOTED="on")
    assert asked(box, "c", **environ)
    box.configure(NOTED="off")
    assert not asked(box, "d")


@pytest.mark.parametrize(
    ("environ", "source", "noted", "kept"),
    [
        ({}, "user", "auto", 1),
        ({}, "loop_wakeup", "auto", 0),
        ({}, "schedule_wakeup", "on", 0),
        ({"CI": "true"}, "user", "auto", 0),
        ({"CI": "true"}, "user", "on", 1),
    ],
)
def test_what_a_program_types_leaves_nothing(box, environ, source, noted, kept):
    """A prompt of a schedule or of a run of continuous integration is nobody's word."""
    box.configure(NOTED=noted)
    payload = {"session_id": "s", "cwd": "/"}
    hook(box, "user-prompt", "claude-code", payload | {"prompt": SAID, "source": source}, **environ)
    hook(box, "stop", "claude-code", payload | {"last_assistant_message": "All right."}, **environ)
    assert (box.states() if box.queue_path.exists() else {}).get("pending", 0) == kept
