"""What holds only for a while stands before what holds always until it ends, and does not take its place."""

import json
import time

import pytest

from tests.support.doubts import judging, marks
from tests.support.hook_calls import context
from tests.support.kinds import over
from tests.support.machines import done, export, told
from tests.support.machines import pair as pair_of_machines
from tests.support.providers import ScriptedProvider

ANNIKA, BRUNO, CLARA = "Reviews go to Annika.", "Reviews go to Bruno.", "Reviews go to Clara."
ASKED = "who do reviews go to?"
DAY = 86_400_000


def now():
    """Return the time in Unix milliseconds."""
    return time.time_ns() // 1_000_000


def remembered(box, text, days=None, **columns):
    """Store a text that holds for some days from now, or for ever."""
    until = {} if days is None else {"ends_at": now() + days * DAY}
    box.remember(text, **until | columns)
    assert box.drain().done == 1


@pytest.fixture(name="pair")
def _pair(box):
    """Give a box with what holds always, what holds for two days, and their uids."""
    remembered(box, ANNIKA)
    remembered(box, BRUNO, 2)
    return box, *box.store("SELECT uid FROM memory ORDER BY id")


def end(box, text, days=1):
    """Have a memory have ended some days ago."""
    sql = "UPDATE freshness SET ends_at = ? WHERE memory = (SELECT id FROM memory WHERE text = ?)"
    box.alter(sql, now() - days * DAY, text)


def lines(box, *args):
    """Return the lines of a verb, which succeeds."""
    return done(box, *args).splitlines()


def hits(box):
    """Return the hits of a recall."""
    return json.loads(done(box, "recall", "--json", ASKED))["hits"]


def reminded(box, session):
    """Return what a prompt brings up."""
    return context(box, "user-prompt", "codex", {"session_id": session, "prompt": ASKED})


def test_what_ends_supersedes_nothing_that_does_not(pair):
    """Both are current; until the end the one that has it stands first, and the other says behind what and how long."""
    box, old, new = pair
    assert box.store("SELECT status FROM memory") == ["current", "current"]
    first, second = lines(box, "recall", ASKED)
    day = time.strftime("%Y-%m-%d", time.localtime(now() / 1000 + 2 * 86_400))
    assert first.startswith(new[:8])
    assert first.endswith(f"user: {BRUNO}")
    assert second.startswith(old[:8])
    assert f"user, suspended by {new[:8]} until {day}" in second
    assert [(hit["maybe_replaced_by"], hit["until"] is None) for hit in hits(box)] == [(None, True), (new, False)]
    said = reminded(box, "s1")
    assert said.index(BRUNO) < said.index(ANNIKA)
    assert "suspended by" in said


def test_after_the_end_the_other_one_stands_by_itself(pair):
    """Nothing is written for that: it is first and unmarked, and what has ended below it, labelled."""
    box, _, _ = pair
    end(box, BRUNO)
    first, second = lines(box, "recall", ASKED)
    assert first.endswith(f"user: {ANNIKA}")
    assert "past its end 1d ago" in second
    said = reminded(box, "s2")
    assert ANNIKA in said
    assert "suspended by" not in said
    assert BRUNO not in said


def test_a_recall_as_of_a_moment_shows_what_stood_first_then(pair):
    """Before the second was said, while it held, and after its end."""
    box, _, _ = pair
    box.alter("UPDATE memory SET recorded_at = recorded_at - ?, valid_from = valid_from - ?", 9 * DAY, 9 * DAY)
    box.alter("UPDATE memory SET recorded_at = recorded_at - ? WHERE text = ?", DAY, ANNIKA)
    end(box, BRUNO, 3)
    before, while_it_held, after = (lines(box, "recall", "--as-of", f"{hours}h", ASKED) for hours in (228, 120, 24))
    assert [line.rpartition(": ")[2] for line in before] == [ANNIKA]
    assert [line.rpartition(": ")[2] for line in while_it_held] == [BRUNO, ANNIKA]
    assert [line.rpartition(": ")[2] for line in after] == [ANNIKA, BRUNO]
    assert "suspended by" in while_it_held[1]
    assert "suspended by" not in "".join((*before, *after))


def test_it_does_not_wait_for_review(pair):
    """Neither the inbox nor lint has it, before the end or after; a person who is asked may decide all the same."""
    box, old, new = pair
    for _ in range(2):
        assert lines(box, "review", "list") == ["nothing waits for review"]
        counts = json.loads(box.memman("lint", "--json").stdout)["counts"]
        assert not counts.keys() & {"maybe replaced", "contradictory"}
        end(box, BRUNO)
    box.alter("UPDATE freshness SET ends_at = ?", now() + DAY)
    assert f"suspended by {new[:8]} until that ends" in done(box, "review", "approve", old)
    assert [one["uid"] for one in hits(box)] == [new, old]
    assert "kept beside" in done(box, "review", "reject", old)
    assert marks(box) == {}


def test_what_only_an_agent_said_waits_until_a_person_approves_it(box):
    """It may not stand before what the user said unseen; approved it stands there, and waits no more."""
    remembered(box, ANNIKA)
    remembered(box, BRUNO, 2, source="agent", agent="codex", session="s")
    (waiting,) = json.loads(done(box, "review", "list", "--json"))
    assert (waiting["kind"], waiting["other"]["text"]) == ("maybe replaced", BRUNO)
    done(box, "review", "approve", waiting["uid"])
    assert lines(box, "review", "list") == ["nothing waits for review"]
    assert [one["text"] for one in hits(box)] == [BRUNO, ANNIKA]


def test_show_tells_it(pair):
    """What suspended by another says so, and the log why; what has ended stands before nothing any more."""
    box, old, new = pair
    assert any(line.startswith("suspended by") and new[:8] in line for line in lines(box, "show", old))
    assert any(line.startswith("stands before") and old[:8] in line for line in lines(box, "show", new))
    assert "but only for a while" in "".join(lines(box, "show", old))
    end(box, BRUNO)
    assert "suspended by" not in "".join(lines(box, "show", old))


def test_an_undo_takes_it_back(pair):
    """Without the note that holds for a while the other one is alone, and with it again all is as it became."""
    box, old, new = pair
    shown = [(one["uid"], one["maybe_replaced_by"], one["until"]) for one in hits(box)]
    undone = box.person("undo", new)
    assert undone.returncode == 0
    assert [(one["uid"], one["maybe_replaced_by"]) for one in hits(box)] == [(old, None)]
    assert marks(box) == {}
    assert box.person("undo", undone.stdout.split()[-1]).returncode == 0
    assert [(one["uid"], one["maybe_replaced_by"], one["until"]) for one in hits(box)] == shown


@pytest.mark.parametrize(("first", "then", "retired"), [(2, 2, True), (2, 5, True), (5, 2, False), (2, None, True)])
def test_what_ends_no_sooner_takes_the_place(box, first, then, retired):
    """Of two that hold for a while the newer supersedes the older, unless that one holds longer."""
    remembered(box, BRUNO, first, queued_at=now() - 5000)
    box.alter("UPDATE freshness SET ends_at = ends_at - 10000")
    remembered(box, CLARA, then)
    assert box.store("SELECT status FROM memory WHERE text = ?", BRUNO) == ["superseded" if retired else "current"]


def test_a_mark_gives_way_to_none_that_holds_for_less_long(pair):
    """What stands before a memory the longest is named; when that is superseded, what took its place."""
    box, old, new = pair
    judged = (("Clara", "UPDATE", "Annika"), ("Clara", "UPDATE", "Bruno"))
    with ScriptedProvider(respond=judging(*judged)) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        remembered(box, CLARA, 1)
    assert marks(box) == {ANNIKA: BRUNO, BRUNO: CLARA}
    assert box.store("SELECT uid FROM memory WHERE status <> 'current'") == []
    end(box, CLARA)
    assert f"suspended by {new[:8]}" in next(line for line in lines(box, "recall", ASKED) if old[:8] in line)


def test_who_asks_for_a_replacement_gets_it(pair):
    """`replace` supersedes, whatever holds how long."""
    box, old, _ = pair
    done(box, "replace", old, "Reviews go to Dora until 2090-01-01.")
    box.drain()
    assert box.store("SELECT status FROM memory WHERE uid = ?", old) == ["superseded"]


def test_a_turn_retires_nothing_for_a_while_either(box):
    """What a model finds in a turn that would end a memory stands before it until it ends."""
    remembered(box, "Alerts are sent through Opsgenie to the night shift.")
    said = "No: until Friday alerts are sent by SMS to the night shift."
    day = time.strftime("%Y-%m-%d", time.localtime(time.time() + 2 * DAY / 1000))
    facts = {"facts": [{"text": said, "from": [1], "speaker": "user", "until": day, "ends": [{"memory": 1}]}]}
    with ScriptedProvider(respond=lambda _: facts) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        remembered(box, said, channel="turn", reply="Noted.", agent="codex", session="s")
    assert box.store("SELECT status FROM memory") == ["current", "current"]
    assert "suspended by" in lines(box, "recall", "how does the night shift get alerts")[1]


@over("postgres", "folder")
def test_another_machine_shows_the_same(box, kind):
    """The mark and the end are rows like all others: what stands first there is what stands first here."""
    remembered(box, ANNIKA)
    remembered(box, BRUNO, 2)
    kind.agree()
    done(kind.other, "scheduler", "drain")  # which makes the vectors of what came
    shown = hits(box)
    assert [one["until"] is None for one in shown] == [True, False]
    assert hits(kind.other) == shown


def test_machines_that_each_heard_one_of_them_mark_it_too(box):
    """Neither had seen the other: both stay, and both machines come to the same mark."""
    one, other, _ = pair_of_machines(box)
    told(one, ANNIKA, queued_at=now() - 20_000)
    told(other, BRUNO, queued_at=now() - 10_000, ends_at=now() + DAY)
    for each in (one, other, one):
        done(each, "sync")
    for each in (one, other):
        assert marks(each) == {ANNIKA: BRUNO}
        assert each.store("SELECT DISTINCT status FROM memory") == ["current"]
    assert export(one) == export(other)
