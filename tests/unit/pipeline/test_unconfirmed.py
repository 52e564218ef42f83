"""What only an agent has said is labelled and opens no session, until a person or another session bears it out."""

import json

import pytest

from tests.support.hook_calls import context

SAID = "The user prefers pnpm over npm for every new package."
ASKED = "should the new package use pnpm or npm?"
LABEL = "agent, unconfirmed"


@pytest.fixture
def noted(box):
    """Give a box in which an agent noted by itself what its user prefers."""
    remember(box, SAID, "one", category="preference", importance=5)
    return box


def remember(box, text, session, **columns):
    """Store what an agent notes in a session; return the session's evidence of all memories."""
    box.remember(text, source="agent", agent="claude-code", session=session, **columns)
    box.drain()
    return evidence(box)


def evidence(box):
    """Return (text of a memory, kind, session) of all evidence."""
    return box.store("SELECT text, kind, session FROM evidence JOIN memory ON memory.id = memory ORDER BY 1, 2, 3")


def prompted(box):
    """Return what the hook shows on a prompt."""
    return context(box, "user-prompt", "claude-code", {"session_id": "x", "prompt": ASKED, "cwd": str(box.data.parent)})


def test_it_is_labelled_wherever_it_is_shown(noted):
    """Recall, its JSON, the prompt's hook, the list, the details, the timeline and related memories say so."""
    (uid,) = noted.store("SELECT uid FROM memory")
    for args in (("recall", "pnpm"), ("list",), ("show", uid), ("list", "--by-day")):
        assert LABEL in noted.memman(*args).stdout, args
    for args in (("log", "diff"), ("log", "learned"), ("log", "--session", "one")):
        assert LABEL in noted.memman(*args).stdout, args
    remember(noted, "The build takes nine minutes on the old runner.", "one")
    assert LABEL in noted.memman("insights", "candidates", "--below", "2").stdout
    assert LABEL in noted.memman("graph", "related", uid).stdout
    assert json.loads(noted.memman("recall", "pnpm", "--json").stdout)["hits"][0]["labels"] == ["unconfirmed"]
    assert f"{LABEL}: {SAID}" in prompted(noted)


@pytest.mark.slow
def test_it_does_not_open_a_session(noted):
    """Not even forty of them keep out what the user said, nor does one that maybe replaces that."""
    for n in range(41):
        noted.remember(f"The user prefers tool{n} for job{n}.", category="preference", importance=5, source="agent")
    noted.remember("I prefer tabs.", category="preference")
    noted.drain()
    said = noted.memman("prime").stdout
    assert "I prefer tabs." in said
    assert said.index("I prefer tabs.") < said.index("Noted by an agent, not said by the user:")
    assert "The user prefers" not in said.partition("Noted by an agent, not said by the user:")[0]


@pytest.mark.parametrize(
    "columns",
    [
        {"session": ""},
        {"session": "one", "channel": "turn", "reply": ""},
        {"session": "two", "channel": "turn", "reply": ""},
    ],
)
def test_the_user_s_own_words_bear_it_out(noted, columns):
    """Said in a shell or in a turn, of the same session or another, they take the label away."""
    noted.remember("I prefer pnpm over npm for every new package.", **columns)
    noted.drain()
    assert (SAID, "said", columns["session"]) in evidence(noted)
    assert LABEL not in prompted(noted)
    assert SAID in noted.memman("prime").stdout


@pytest.mark.parametrize(
    "said",
    [
        "I prefer npm over pnpm for every new package.",
        "please fix the build of the new package",
        "> The user prefers pnpm over npm for every new package.\n\nwho wrote this?",
    ],
)
def test_other_words_do_not(noted, said):
    """What says the contrary or something else, or was quoted, bears nothing out."""
    noted.remember(said, session="two", channel="turn", reply="")
    noted.drain()
    assert evidence(noted) == []


def test_an_agent_that_repeats_its_user_is_borne_out_at_once(box):
    """What the user said before is the user's, whoever says it after them."""
    box.remember("I prefer pnpm over npm for every new package.", session="one", channel="turn", reply="")
    box.drain()
    remember(box, SAID, "one", category="preference")
    assert LABEL not in box.memman("list").stdout


@pytest.mark.parametrize(
    ("session", "hours", "shown", "count"),
    [("two", 12, False, 1), ("two", 11, False, 0), ("two", 12, True, 0), ("one", 12, False, 0)],
)
def test_an_independent_session_bears_it_out(noted, session, hours, shown, count):
    """An agent of another session says the same half a day later.

    One that was shown the memory only echoes it, like its own session; and at one sitting an agent has what sessions
    it likes.
    """
    noted.alter("UPDATE memory SET valid_from = valid_from - ?", hours * 3_600_000)
    if shown:
        noted.alter("INSERT INTO shown(memory, session, way, at) VALUES (1, 'two', 'prompt', 0)")
    found = remember(noted, SAID, session)
    assert found.count((SAID, "said", session)) == count


def test_what_a_person_protects_is_borne_out(noted):
    """It opens sessions from then on, without a label."""
    noted.memman("insights", "protect", noted.store("SELECT uid FROM memory")[0])
    assert SAID in noted.memman("prime").stdout
    assert LABEL not in noted.memman("recall", "pnpm").stdout
