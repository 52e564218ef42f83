"""Models that garble, and servers that answer one call at a time: every note is stored, in few calls."""

import json

import pytest

from memman.model.errors import BadConfig
from memman.providers.guard import GARBLED
from tests.support.providers import (
    GARBAGE_BODY,
    GARBAGE_CONTENT,
    NEVER,
    OK,
    TRUNCATED_CONTENT,
    Act,
    ScriptedProvider,
    hang,
    status,
)

TIMEOUT = 1  # seconds, for the 60 of the default: what a call takes is scaled alike
WORDS = [a + b for a in ("bri", "klo", "vun", "sta", "dre") for b in ("matax", "zorn", "fipish", "ludump")]
CALLS = 2  # of a note at most: extract and reconcile


def remember(box, notes=20):
    """Queue so many notes that have nothing to do with each other."""
    return sorted(box.remember(f"{word} {word[::-1]}{n}") for n, word in enumerate(WORDS[:notes]))


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1, 4, 15])
def test_a_server_that_answers_one_call_at_a_time_is_not_overrun(box, seconds):
    """Twenty notes are done in two drains, and next to no call is lost to a timeout."""
    with ScriptedProvider(latency=seconds * TIMEOUT / 60, serial=True) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", HTTP_TIMEOUT=TIMEOUT, HTTP_TRIES=3)
        uids = remember(box)
        box.drain()
        box.drain()
        assert provider.calls.total() <= CALLS * len(uids) + 3
    assert box.states() == {"done": len(uids)}
    assert sorted(box.store("SELECT note FROM memory")) == uids


def test_a_call_that_timed_out_on_this_machine_waits_for_the_next_drain(box):
    """It is not asked again in this drain, the notes beside it are done, and the next drain asks once more."""
    with ScriptedProvider(script=[OK, hang(NEVER)]) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", HTTP_TIMEOUT=TIMEOUT, HTTP_TRIES=3)
        uids = remember(box)
        assert (box.drain().done, box.states()["pending"]) == (len(uids) - 1, 1)
        assert box.drain().done == 1
        assert provider.tasks["extract"] == len(uids) + 1


def said(content):
    """Answer a chat completion with `content`."""
    return Act(body=json.dumps({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}).encode())


GARBLING = {
    "prose": GARBAGE_CONTENT,
    "cut off": TRUNCATED_CONTENT,
    "half an object": said('{"facts": [{"text": "half'),
    "another object": said('{"answer": 42}'),
    "a list of strings": said('{"facts": ["Redis"], "verdicts": ["none"], "causes": []}'),
    "nothing": said(""),
}
ASKED_TWICE = 2


def alone(box, provider, **more):
    """Use a model whose embedder is the built-in one; one note after another, so that calls can be counted."""
    box.use(provider, EMBED_PROVIDER="builtin", DRAIN_CONCURRENCY=1, **more)


@pytest.mark.parametrize("act", GARBLING.values(), ids=GARBLING.keys())
@pytest.mark.parametrize("notes", [1, 20])
def test_a_model_that_garbles_keeps_no_note_waiting(box, act, notes):
    """Every note is stored in the first drain, and after three garbled answers the model is asked no more."""
    with ScriptedProvider(script=lambda _: act) as provider:
        alone(box, provider)
        uids = remember(box, notes)
        report = box.drain()
        assert (report.done, report.errors, report.stopped) == (notes, [], "")
        assert provider.tasks["extract"] <= GARBLED * ASKED_TWICE
        assert provider.tasks["reconcile"] <= GARBLED * ASKED_TWICE
    assert sorted(box.store("SELECT note FROM memory")) == uids


def test_notes_in_flight_together_survive_a_model_that_garbles(box):
    """With sixteen notes at once each costs two answers to a question at most, and none waits."""
    with ScriptedProvider(script=lambda _: GARBAGE_CONTENT) as provider:
        box.use(provider, EMBED_PROVIDER="builtin")
        uids = remember(box)
        assert box.drain().done == len(uids)
        assert provider.calls.total() <= ASKED_TWICE * CALLS * len(uids)
    assert sorted(box.store("SELECT note FROM memory")) == uids


def test_a_model_that_garbled_is_tried_again_by_the_next_drain(box):
    """A good answer clears the mark, and all notes go to the model again."""
    act = GARBAGE_CONTENT
    with ScriptedProvider(script=lambda got: act if got.task == "extract" else OK) as provider:
        alone(box, provider)
        remember(box, 8)
        box.drain()
        assert "model unfit" in box.memman("status").stdout
        act, before = OK, provider.tasks["extract"]
        for n in range(5):
            box.remember(f"Reader {n} works on topic {n}.")
        assert box.drain().done == 5
        assert provider.tasks["extract"] - before == 5
        assert "model unfit" not in box.memman("status").stdout
    events = [json.loads(line)["event"] for line in (box.data / "logs/worker.jsonl").read_text().splitlines()]
    assert events.count("model unfit") == 1


def test_a_model_may_be_unfit_for_one_question_alone(box):
    """Where only comparisons are garbled, the judge makes them, and the model goes on to extract."""
    act = lambda got: GARBAGE_CONTENT if got.task == "reconcile" else OK  # noqa: E731
    with ScriptedProvider(script=act) as provider:
        alone(box, provider)
        for n in range(12):
            box.remember(f"Redis caches table {n} of the billing service.")
        assert box.drain().done == 12
        assert provider.tasks["extract"] == 12
        assert provider.tasks["reconcile"] == GARBLED * ASKED_TWICE
        unfit = json.loads(box.memman("status", "--json").stdout)["unfit"]
    assert unfit.endswith("for reconcile: openai sent something other than a JSON object")


def test_status_and_doctor_say_what_is_wrong_and_what_to_do(box):
    """Both name model, question and fault; another model set in its place is not blamed for it."""
    with ScriptedProvider(script=lambda got: TRUNCATED_CONTENT if got.task == "extract" else OK) as provider:
        alone(box, provider, LLM_MODEL_FAST="tiny")
        remember(box, 4)
        box.drain()
        for verb in (("status",), ("scheduler", "status"), ("doctor", "--check", "model")):
            shown = box.memman(*verb).stdout
            assert "model unfit" in shown, verb
            assert "tiny for extract: openai sent a truncated reply" in shown
            assert "memman doctor --billable" in shown
        box.memman("config", "set", "LLM_MODEL_FAST", "better")
        for verb in (("status",), ("doctor", "--check", "model")):
            assert "unfit" not in box.memman(*verb).stdout


def test_broken_replies_are_an_outage_and_wait(box):
    """What is no reply of an API at all says nothing about the model: notes wait, as while it is down."""
    act = GARBAGE_BODY
    with ScriptedProvider(script=lambda _: act) as provider:
        alone(box, provider)
        uids = remember(box, 4)
        box.drain()
        assert box.states() == {"pending": 4}
        assert json.loads(box.memman("status", "--json").stdout)["unfit"] == ""
        act = OK
        box.drain()
    assert sorted(box.store("SELECT note FROM memory")) == uids


# --- a fallback ---


DOWN = {"down": status(503), "rejects the key": status(401), "no credit": status(402), "garbles": GARBAGE_CONTENT}


@pytest.mark.parametrize("act", DOWN.values(), ids=DOWN.keys())
def test_the_judge_answers_for_a_model_that_cannot(box, act):
    """Where the settings say so; the model is left alone after three."""
    with ScriptedProvider(script=lambda _: act) as provider:
        alone(box, provider, LLM_FALLBACK="builtin")
        uids = remember(box, 8)
        report = box.drain()
        assert (report.done, report.errors) == (8, [])
        assert provider.tasks["extract"] <= GARBLED * ASKED_TWICE
    assert sorted(box.store("SELECT note FROM memory")) == uids


def test_an_outage_is_waited_out_unless_the_judge_stands_behind(box):
    """Notes wait while the model is down; with a fallback they are stored, also where a budget is spent."""
    with ScriptedProvider(script=lambda _: status(503)) as down:
        alone(box, down)
        remember(box, 2)
        assert (box.drain().done, box.states()) == (0, {"pending": 2})
        alone(box, down, LLM_FALLBACK="builtin")
        assert box.drain().done == 2
    with ScriptedProvider() as provider:
        alone(box, provider, LLM_FALLBACK="builtin", BUDGET_TOKENS=1)
        remember(box, 4)
        assert box.drain().done == 4
    assert provider.tasks == {"extract": 1}


def test_a_mistake_in_the_settings_is_not_papered_over(box):
    """A path or a model's name that the provider does not know stops the drain, fallback or not."""
    with ScriptedProvider(script=lambda _: status(404)) as provider:
        alone(box, provider, LLM_FALLBACK="builtin")
        remember(box, 2)
        assert "404" in box.drain().stopped


def test_another_provider_than_the_judge_is_refused_as_a_fallback(box):
    """A drain names the setting and what it may say; the notes wait."""
    with ScriptedProvider(script=lambda _: status(503)) as provider:
        alone(box, provider, LLM_FALLBACK="anthropic,builtin")
        remember(box, 2)
        with pytest.raises(BadConfig, match="MEMMAN_LLM_FALLBACK takes one of builtin"):
            box.drain()
    assert "2 pending" in box.memman("status").stdout
