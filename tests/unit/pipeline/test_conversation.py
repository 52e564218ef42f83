"""A conversation is read by a model as a whole: one question, what is known beside it, and answers that are checked."""

import re
import time
from itertools import count

import pytest

from memman.queue.append import insert
from memman.queue.entry import entry
from memman.queue.notes import QUIET
from tests.support.box import NOTE
from tests.support.providers import ScriptedProvider, respond

BLANK = {"category": "fact", "importance": 3, "entities": [], "keywords": [], "summary": "", "scope": "repository"}
MINUTE = 60_000


def says(text, *turns, speaker="user", until="", ends=(), **more):
    """Return a fact as a model answers it; `ends` are (number, what is left)."""
    ended = [{"memory": n, "rest": rest} for n, rest in ends]
    return BLANK | {"text": text, "from": [*turns], "speaker": speaker, "until": until, "ends": ended} | more


def answering(asked, *answers):
    """Answer the questions about conversations in turn, and keep what was asked in `asked`."""
    numbers = count()

    def answer(question):
        if question["task"] != "conversation":
            return respond(question)
        asked.append(question["user"])
        return {"facts": answers[next(numbers)]}

    return answer


@pytest.fixture
def told(box):
    """Queue turns of session `s1`, given as (user, agent), the last said so many milliseconds ago."""

    def tell(*turns, ago=0, session="s1"):
        now = time.time_ns() // 1_000_000
        at = range(now - ago - len(turns) + 1, now - ago + 1)
        of = NOTE | {"channel": "turn", "agent": "claude-code", "session": session}
        rows = (entry(of | {"text": text, "reply": reply}) for text, reply in turns)
        return [insert(str(box.data), row | {"queued_at": when})[0] for row, when in zip(rows, at, strict=True)]

    return tell


def current(box):
    """Return (text, source) of every current memory, oldest first."""
    return box.store("SELECT text, source FROM memory WHERE status = 'current' ORDER BY id")


def test_one_question_holds_all_turns_and_what_is_known(box, told):
    """Facts belong to the turn they were said in last; a change ends the memory that the model names, and it alone."""
    asked = []
    large = ["How large may an attachment be?"]
    limit = says("The upload limit of the importer is 40 MB, not 25.", 1, 3, ends=[(1, "")], questions=large)
    freeze = says("Releases are frozen until 2031-01-10.", 2, until="2031-01-10")
    with ScriptedProvider(respond=answering(asked, [limit, freeze])) as provider:
        box.remember("The upload limit of the importer is 25 MB.")
        box.remember("The importer runs on port 8443.")
        box.drain()
        box.use(provider, EMBED_PROVIDER="builtin")
        first, second, third = told(
            ("the upload limit of the importer changes, it is too small", "To how much?"),
            ("also, releases are frozen until 2031-01-10", "Understood."),
            ("it is 40 MB now. look at the importer please", "Done."),
        )
        assert box.drain().done == 3
        assert provider.tasks == {"conversation": 1}
    (question,) = asked
    assert re.search(
        r"^m1: 2\d+-\d\d-\d\d The upload limit .*\nm2: 2\d+-\d\d-\d\d The importer", question, re.MULTILINE
    )
    assert re.findall(r"<turn>\n(\d)\n<user>\n(\w+)", question) == [("1", "the"), ("2", "also"), ("3", "it")]
    assert current(box) == [
        ("The importer runs on port 8443.", "user"),
        (freeze["text"], "user"),
        (limit["text"], "user"),
    ]
    assert box.store("SELECT note FROM memory WHERE text = ?", limit["text"]) == [third]
    assert box.recall("how large attachment")[:1] == [limit["text"]]
    (ends_at,) = box.store("SELECT ends_at FROM freshness WHERE ends_at > 0")
    assert time.strftime("%Y-%m-%d", time.localtime(ends_at / 1000 - 1)) == "2031-01-10"
    assert {first, second, third} == set(box.queue("SELECT uid FROM note WHERE channel = 'turn'"))


def test_a_model_is_believed_as_far_as_the_words_bear_it_out(box, told):
    """What names something that nobody named is dropped; what the user did not say ends nothing of theirs."""
    asked = []
    facts = [
        says("The staging host is called Ferrara.", 1),
        says("Deploys to staging need two approvals from Sybille.", 1, ends=[(1, "")]),
        says("The lockfile of the api folder was stale.", 1, speaker="agent"),
    ]
    with ScriptedProvider(respond=answering(asked, facts)) as provider:
        box.remember("Deploys to staging need no approval.")
        box.drain()
        box.use(provider, EMBED_PROVIDER="builtin", CAPTURE="corrections")
        told(("the staging host is called Ferrara, remember that", "The lockfile of the api folder was stale."))
        box.drain()
    assert current(box) == [
        ("Deploys to staging need no approval.", "user"),
        ("The staging host is called Ferrara.", "user"),
    ]


def test_where_nothing_is_answered_nothing_is_kept(box, told):
    """No sentence is stored in place of an answer that holds none."""
    with ScriptedProvider(respond=answering([], [])) as provider:
        box.use(provider, EMBED_PROVIDER="builtin")
        told(("from now on always use pnpm here, never npm", "Understood."))
        assert box.drain().done == 1
        assert provider.tasks == {"conversation": 1}
    assert current(box) == []


def test_what_an_earlier_session_left_is_shown_to_a_later_one(box, told):
    """Of two sessions that wait, the second is read when what the first says is stored."""
    asked = []
    one = says("The bank cutoff is at 8.", 1)
    two = says("The bank cutoff is at 9 now.", 1, ends=[(1, "")])
    with ScriptedProvider(respond=answering(asked, [one], [two])) as provider:
        box.use(provider, EMBED_PROVIDER="builtin")
        told(("remember: the bank cutoff is at 8", "Understood."), ago=MINUTE)
        told(("the bank cutoff is at 9 now", "Understood."), session="s2")
        box.drain()
    assert "The bank cutoff is at 8." in asked[1]
    assert current(box) == [("The bank cutoff is at 9 now.", "user")]


def test_a_drain_that_nobody_waits_for_leaves_a_conversation_that_goes_on(box, told):
    """Its turns wait until the session ends, is quiet, or a person drains; other notes do not."""
    with ScriptedProvider(respond=answering([], [], [], [])) as provider:
        box.use(provider, EMBED_PROVIDER="builtin")
        told(("we use tabs here", "Understood."))
        box.remember("The staging database is read-only.")
        assert box.drain(attended=False).done == 1
        assert "a conversation goes on" in box.memman("status").stdout
        assert box.drain(attended=False).done == 0
        told(("from now on the linter runs first", "Understood."), session="s2", ago=QUIET + MINUTE)
        assert box.drain(attended=False).done == 1
        box.memman("hook", "session-end", "--host", "claude-code", input='{"session_id": "s1"}')
        assert box.drain(attended=False).done == 1
        told(("never push to main", "Understood."))
        assert box.drain().done == 1
    assert "a conversation goes on" not in box.memman("status").stdout


def test_no_drain_waits_for_a_turn_that_says_nothing(box, told):
    """A turn of code alone, and a summary of the same session, do not hold up what is read together."""
    asked = []
    with ScriptedProvider(respond=answering(asked, *[[]] * 3)) as provider:
        box.use(provider, EMBED_PROVIDER="builtin")
        told(("from now on the linter runs first", "Understood."))
        box.remember("We use tabs.", channel="compact", source="agent", agent="claude-code", session="s1")
        told(("```\nmake\n```", ""), ("never push to main", "Understood."))
        assert box.drain(seconds=60).done == 4
    assert sorted(len(re.findall("<turn>", question)) for question in asked) == [1, 2]


def test_a_model_ends_nothing_that_its_fact_does_not_bear_on(box, told):
    """Nor is anything left of a memory that this did not say; a day that no calendar has ends nothing either."""
    never, ask = "Never force-push to main.", "Always ask before deleting a branch."
    ends = [(1, "Always force-push to main."), (2, "")]
    fact = says("The upload limit of the importer is 40 MB.", 1, ends=ends, until="9999-12-31")
    with ScriptedProvider(respond=answering([], [fact])) as provider:
        for text in (never, ask):
            box.remember(text)
        box.drain()
        box.use(provider, EMBED_PROVIDER="builtin")
        told(("the upload limit of the importer is 40 MB", "Understood."))
        assert box.drain().done == 1
    assert current(box) == [(never, "user"), (ask, "user"), (fact["text"], "user")]


def test_a_long_conversation_is_asked_about_in_parts(box, told):
    """No turn is left out, and nothing from the middle of what the user typed."""
    asked = []
    talk = "and then it reads the next page of the file again, as it did before. " * 50
    with ScriptedProvider(respond=answering(asked, *[[]] * 9)) as provider:
        box.use(provider, EMBED_PROVIDER="builtin")
        told(*((f"{talk} from now on rule{n} holds. {talk}", "Understood.") for n in range(8)))
        assert box.drain().done == 8
    assert len(asked) > 1
    assert re.findall(r"rule(\d)", " ".join(asked)) == [*"01234567"]
