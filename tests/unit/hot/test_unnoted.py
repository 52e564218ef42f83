"""What the user said that an agent which notes did not note: told once at the session's next prompt, kept by nobody."""

import json

import pytest

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


def test_only_the_turn_just_before_is_told_of(box):
    """What a drain finds a turn later is told of no more."""
    begun(box)
    turn(box, RULE, "Switched to uv.")
    turn(box, "Now rename the parser's module.", "Renamed.")
    box.drain()
    assert NUDGE not in turn(box, "And run the tests again.", "They pass.")


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
