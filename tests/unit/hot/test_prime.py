"""What a session begins with, in a store of hundreds of memories."""

import os
import re

import pytest

from memman.config.scope import Here
from memman.hot.prime import BUDGET, SHARES, block, fitting, guide
from memman.recall.render import tokens
from memman.upkeep.maintenance import drop_sessions
from tests.support import memories

PREFERENCES, DECISIONS, PROTECTED = 33, 200, 2
BUCKET = "NEVER delete the prod bucket."


@pytest.fixture(name="full")
def _full(box, unjudged):  # noqa: ARG001 - what is alike but for a number is told apart by nobody who reads
    """Return a box with 477 memories: decisions more important than any preference, and two old ones protected."""
    protected = [
        box.remember(text, category="fact", importance=importance)
        for text, importance in ((BUCKET, 4), ("Port 22 stays closed.", 3))
    ]
    for n in range(PREFERENCES):
        box.remember(f"I prefer tool{n} for job{n}.", category="preference", importance=3)
    for n in range(DECISIONS):
        box.remember(f"We chose vendor{n} for part{n}.", category="decision", importance=5)
    for n in range(477 - PREFERENCES - DECISIONS - PROTECTED):
        box.remember(f"Host{n} stands in rack{n}.", category="fact")
    box.drain(seconds=120)
    for uid in protected:
        assert (
            box.memman("insights", "protect", box.store("SELECT uid FROM memory WHERE note = ?", uid)[0]).returncode
            == 0
        )
    assert box.store("SELECT count(*) FROM memory WHERE status = 'current'") == [477]
    return box


def lines(box):
    """Return what is said of each memory in the block, and the block."""
    text, uids = block(str(box.data), "default", Here())
    shown = [line[2:].partition(" (")[0] for line in text.splitlines() if line[:2] == "- "]
    assert len(shown) == len(uids)
    return shown, text


@pytest.mark.slow
def test_a_full_store_begins_with_what_is_protected_and_preferred(full):
    """What the user wishes comes first, then what holds: of that what is protected, and what weighs most."""
    shown, text = lines(full)
    preferred = [line for line in shown if line.startswith("I prefer")]
    decided = [line for line in shown if line.startswith("We chose")]
    assert shown == [*preferred, BUCKET, "Port 22 stays closed.", *decided]
    assert preferred[0] == f"I prefer tool{PREFERENCES - 1} for job{PREFERENCES - 1}."
    assert min(len(preferred), len(decided)) >= 10
    # What a line costs differs with the letters of its id, so that only the dearest says what room may be left.
    dearest = max(tokens(line) for line in text.splitlines() if line[:2] == "- ")
    assert BUDGET - 3 * dearest < tokens(text) <= BUDGET + dearest
    assert "Topics (" in text


@pytest.mark.slow
def test_a_decision_that_is_used_comes_before_others(full):
    """Of what is as important, what recall has shown comes first."""
    full.alter("UPDATE memory SET uses = 4 WHERE text LIKE '%vendor7 %'")
    decided = [line for line in lines(full)[0] if line.startswith("We chose")]
    assert decided[0] == "We chose vendor7 for part7."


@pytest.mark.slow
def test_what_is_protected_is_screened_like_the_rest(full):
    """What the web said, and what is forgotten, is not put before a model, protected or not."""
    full.alter("UPDATE memory SET source = 'web' WHERE text = ?", BUCKET)
    full.alter("UPDATE memory SET status = 'forgotten' WHERE text LIKE 'Port 22%'")
    assert not {BUCKET, "Port 22 stays closed."} & {*lines(full)[0]}


def test_a_line_says_since_when_until_when_and_what_was_before(box):
    """Each ends with its day and id; one that replaced another, or ends, says so."""
    box.remember("Deploys of the shop start at five.")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    assert box.memman("replace", uid, "Deploys of the shop start at seven.").returncode == 0
    assert box.memman("remember", "--until", "2999-01-01", "The freeze of the shop holds.").returncode == 0
    box.drain()
    text, _ = block(str(box.data), "default", Here())
    assert re.search(r"start at seven\. \(\d+ \w{3}, before: \"Deploys of the shop start at five\.\"; \w{6}\)", text)
    assert re.search(r"freeze of the shop holds\. \(\d+ \w{3}, until 2999-01-01; \w{6}\)", text)


def begun(box, session, repository="acme/shop"):
    """Return the line that says what was kept last time, of the block that a session begins with."""
    text, _ = block(str(box.data), "default", Here(repository), session=session)
    return [line.partition(" (")[0] for line in text.splitlines() if line.startswith("kept last time")]


def test_the_next_session_here_is_told_once_what_the_last_one_left(box):
    """Not the session itself, none elsewhere, and none where nothing was kept; what is drained later is told then."""
    told = {"agent": "codex", "repository": "acme/shop"}
    box.remember("Deploys of the shop start at five.", session="a", **told)
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    assert begun(box, "a") == begun(box, "b", "acme/blog") == begun(box, "") == []
    assert begun(box, "b") == ["kept last time: 1"]
    box.remember("Deploys of the shop start at seven.", session="b", replaces=uid, **told)
    box.remember("Redis caches the invoices of billing.", session="b", **told)
    box.remember("The lift is inspected in May.", session="elsewhere", repository="acme/blog")
    assert begun(box, "b") == begun(box, "c") == []
    box.drain()
    assert begun(box, "c") == ["kept last time: 2, replaced 1"]
    for path in (box.data / "sessions").iterdir():
        os.utime(path, (0, 0))
    drop_sessions(str(box.data))
    assert begun(box, "d") == []
    assert begun(box, "d", "") == []


def test_what_waits_for_review_is_told_of_too(box):
    """MEMMAN_CAPTURE=ask holds back all that a turn leaves: the session is one that left something."""
    box.configure(CAPTURE="ask")
    told = {"agent": "codex", "repository": "acme/shop", "channel": "noted", "session": "a", "source": "user"}
    box.remember("Lodash is never used in the shop.", **told)
    box.drain()
    assert begun(box, "b") == ["kept last time: 0, in review 1"]
    assert "Lodash is never used" in box.memman("log", "--session", "a").stdout


def row(kind, n, words=4):
    """Return a hit, its text of so many words."""
    return memories.hit(memories.row(" ".join(["word"] * words), uid=f"{kind}{n:07}", category=kind))


def kinds(shown):
    """Count the lines of each kind."""
    return [sum(uid.startswith(kind) for uid in shown) for kind in "pqrs"]


def test_each_kind_has_its_share_and_what_others_leave():
    """A full kind never starves the next; an empty one leaves its room; one long line is passed over for others."""
    many = {kind: [row(kind, n) for n in range(99)] for kind in "pqrs"}
    cost = tokens(next(iter(fitting([many["p"][:1]], 900).values())))
    room = 100 * cost
    assert kinds(fitting(many.values(), room)) == list(SHARES)
    assert kinds(fitting([[], many["q"], many["r"], []], room)) == [0, 78, 22, 0]
    assert kinds(fitting([[], many["q"], [], []], room)) == [0, 99, 0, 0]
    assert kinds(fitting([many["p"], [], [], []], room)) == [99, 0, 0, 0]
    assert kinds(fitting([[row("p", 0, words=999), *many["p"][1:9]], [], [], []], 10 * cost))[0] == 8
    assert list(fitting([[row("p", 0)], [row("p", 0)], []], room)) == ["p0000000"]


def test_the_guide_leaves_room():
    """The guide keeps to the part of the budget that the docs state."""
    assert tokens(guide()) <= 200
