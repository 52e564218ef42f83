"""Provider trouble of every kind costs time, never a memory; only a note's own fault is ever parked."""

import asyncio
import json
import random
import resource
from contextlib import closing

import pytest

from memman.drain.loop import Drain, Limits
from memman.drain.runner import Watch
from memman.queue.notes import ATTEMPTS, Queue
from tests.support.providers import (
    DROP,
    GARBAGE_BODY,
    GARBAGE_CONTENT,
    NEVER,
    OK,
    REFUSAL,
    TRUNCATED_BODY,
    TRUNCATED_CONTENT,
    Act,
    ScriptedProvider,
    hang,
    respond,
    status,
)

TRANSIENT = {
    "429": status(429),
    "429 come back soon": status(429, retry_after=0),
    "429 come back tomorrow": status(429, retry_after=86_400),
    "500": status(500),
    "503": status(503),
    "garbage body": GARBAGE_BODY,
    "truncated body": TRUNCATED_BODY,
    "dropped": DROP,
    "garbage content": GARBAGE_CONTENT,
    "truncated content": TRUNCATED_CONTENT,
    "no embeddings": Act(body=b'{"data": [], "choices": []}'),
}


class Outage:
    """A provider that answers every request with `act` for as long as `down`, and counts what it was asked."""

    def __init__(self, act):
        self.act, self.down, self.asked = act, True, 0

    def __call__(self, _):
        """Say what to do with a request."""
        self.asked += 1
        return self.act if self.down else OK


def survives(box, outage, ticks=7, notes=3, **settings):
    """Go through an outage of some ticks and its end; return how often the provider was asked in each tick."""
    with ScriptedProvider(script=outage) as provider:
        box.use(provider, **settings)
        uids = [box.remember(f"Worker {n} reads topic {n}.") for n in range(notes)]
        asked = []
        for _ in range(ticks):
            before = outage.asked
            box.drain()
            asked.append(outage.asked - before)
            assert set(box.states()) <= {"pending", "done"}
        outage.down = False
        box.drain()
        box.drain()
    assert box.states() == {"done": notes}
    assert sorted(box.store("SELECT note FROM memory")) == sorted(uids)
    return asked


@pytest.mark.parametrize("act", TRANSIENT.values(), ids=TRANSIENT.keys())
@pytest.mark.parametrize("notes", [1, 8])
def test_a_transient_fault_parks_nothing_and_ends_within_two_ticks_of_recovery(box, act, notes):
    """However long the provider fails, notes wait; at most one is tried in each later tick, and then all go through."""
    asked = survives(box, Outage(act), notes=notes)
    # One note asks the model, and once more after a reply that makes no sense, and then the embedder.
    assert max(asked[4:]) <= 3


def test_a_provider_that_hangs_is_given_up_after_its_timeout(box):
    """A reply that never comes counts as unavailable once MEMMAN_HTTP_TIMEOUT has passed."""
    survives(box, Outage(hang(NEVER)), ticks=1, notes=3, HTTP_TIMEOUT=1)


def test_a_long_outage_parks_nothing(box):
    """Sixty failed ticks with mixed faults leave every note waiting, and two good ticks drain them."""
    acts = [act for act in TRANSIENT.values() if act.content == "good"]  # the others leave the embedder well
    outage = Outage(acts[0])
    with ScriptedProvider(script=outage) as provider:
        box.use(provider)
        for n in range(4):
            box.remember(f"Worker {n} reads topic {n}.")
        for tick in range(60):
            outage.act = acts[tick % len(acts)]
            box.drain()
        assert box.states() == {"pending": 4}
        assert provider.calls.total() <= 60 * 3 + 30
        outage.down = False
        box.drain()
        box.drain()
    assert box.states() == {"done": 4}
    assert len(box.store("SELECT note FROM memory")) == 4


def test_a_note_waits_out_its_backoff_while_the_provider_serves_others(box):
    """A note whose own call fails waits longer each time, an hour at most, and is not asked about until that is over.

    The notes after it are served.
    """
    asked, waits = [], []

    def script(got):
        if "Unlucky" not in str(got.body):
            return OK
        asked.append(got.task)
        return status(500)

    def served(topic):
        box.remember(f"Another worker reads topic {topic}.")
        assert box.drain().done == 1
        return len(asked)

    with ScriptedProvider(script=script) as provider:
        box.use(provider)
        box.remember("Unlucky is the name of a worker.")
        for n in range(12):
            before = served(f"a{n}")
            ((wait, spent),) = box.queue("SELECT retry_at - changed_at, attempts FROM note WHERE state = 'pending'")
            assert spent == 0
            waits.append(wait / 1000)
            assert (served(f"b{n}") > before) is (wait == 0)
            box.queue("UPDATE note SET retry_at = changed_at WHERE state = 'pending'")  # the wait is over
    assert waits == sorted(waits)
    assert set(waits) <= {0, 60, 120, 240, 480, 900, 1800, 3600}
    assert (waits[0], *waits[-2:]) == (0, 3600, 3600)
    assert len(set(waits)) > 4


def test_a_refusal_is_answered_by_the_rules(box):
    """What the model declines to read is extracted and reconciled by the built-in model in the same drain."""
    with ScriptedProvider(script=lambda got: REFUSAL if got.task else OK) as provider:
        box.use(provider)
        box.remember("We deploy on Vercel.")
        box.remember("We moved from Vercel to Coolify.")
        assert box.drain().done == 2
    assert box.recall("where do we deploy") == ["We moved from Vercel to Coolify."]


FACT = {"category": "fact", "importance": 3, "entities": [], "keywords": [], "summary": ""}
TEXT = "Redis caches the sessions of the billing service."
ODD_FACTS = {
    "no list": {"facts": "none"},
    "no facts key": {"answer": 42},
    "null": {"facts": None},
    "list of strings": {"facts": ["Redis"]},
    "empty": {"facts": []},
    "empty text": {"facts": [FACT | {"text": ""}]},
    "text is a number": {"facts": [FACT | {"text": 5}]},
    "ungrounded": {"facts": [FACT | {"text": "Bananas ripen faster beside apples."}]},
    "wrong types": {
        "facts": [
            {"text": TEXT, "category": ["x"], "importance": "high", "entities": {"a": 1}, "keywords": 7, "summary": []}
            | {"questions": {"a": "b"}}
        ]
    },
    "missing fields": {"facts": [{"text": TEXT}]},
    "not a number": {"facts": [FACT | {"text": TEXT, "importance": float("nan")}]},
    "infinite": {"facts": [FACT | {"text": TEXT, "importance": float("inf")}]},
    "huge importance": {"facts": [FACT | {"text": TEXT, "importance": 10**400}]},
    "lone surrogate": {"facts": [FACT | {"text": TEXT + " \ud800", "entities": ["\udfff"], "summary": "\ud800"}]},
    "control characters": {"facts": [FACT | {"text": TEXT + "\0\x1b[31m\u202e\n", "keywords": ["\0", "a\0b"]}]},
    "huge text": {"facts": [FACT | {"text": TEXT + " billing" * 50_000}]},
    "huge lists": {
        "facts": [
            FACT
            | {"text": TEXT, "entities": ["Redis"] * 50_000, "keywords": ["k" * 9_999] * 999}
            | {"questions": [f"{n} why?" * 9_999 for n in range(99)]}
        ]
    },
    "ten thousand facts": {"facts": [FACT | {"text": f"{TEXT} {n}"} for n in range(10_000)]},
    "nested": {"facts": [FACT | {"text": TEXT, "entities": [[[["Redis"]]], {"a": []}, None, True]}]},
}


@pytest.mark.parametrize("answer", ODD_FACTS.values(), ids=ODD_FACTS.keys())
def test_an_odd_extraction_never_loses_the_note(box, answer):
    """Whatever shape the model's facts have, the note is stored, recalled, and nothing is parked."""
    with ScriptedProvider(respond=lambda asked: answer if asked["task"] == "extract" else respond(asked)) as provider:
        box.use(provider)
        box.remember(TEXT)
        for _ in range(8):
            box.drain()
    assert box.states() == {"done": 1}
    assert box.recall("What caches the sessions of the billing service?")[0].startswith(TEXT)
    stored = box.store("SELECT text, importance, length(entities) + length(keywords), summary FROM memory")
    assert 1 <= len(stored) <= 64
    assert all(len(text) <= 4000 and text.isprintable() for text, *_ in stored)
    assert all(importance in range(1, 6) for _, importance, *_ in stored)
    assert all(size < 2_000 and len(summary) <= 160 for _, _, size, summary in stored)


def verdict(**fields):
    """Make a reconcile answer of one verdict."""
    return {"verdicts": [{"fact": 0, "action": "UPDATE", "memory": 0, "reason": ""} | fields], "causes": []}


def cause(**fields):
    """Make a reconcile answer of one cause."""
    return {"verdicts": [], "causes": [{"cause": "m0", "effect": "f0", "kind": "causes", "confidence": 1} | fields]}


HARMLESS = {
    "memory that was not offered": verdict(memory=99),
    "negative memory": verdict(memory=-1),
    "memory as text": verdict(memory="0"),
    "memory is true": verdict(memory=True),
    "memory is a fraction": verdict(memory=0.0),
    "memory is huge": verdict(memory=10**400),
    "fact that is not there": verdict(fact=7),
    "fact is a list": verdict(fact=[0]),
    "unknown action": verdict(action="DROP TABLE"),
    "action is a list": verdict(action=["UPDATE"]),
    "action is an object": verdict(action={}),
    "action is null": verdict(action=None),
    "NONE though the fact says more": verdict(action="NONE"),
    "ADD": verdict(action="ADD"),
    "cause that was not offered": cause(cause="m17"),
    "cause as number": cause(cause=0),
    "cause of endless digits": cause(cause="m" + "9" * 6000),
    "cause is a list": cause(cause=["m0"], kind=["causes"]),
    "cause of itself": cause(cause="f0"),
    "confidence is not a number": cause(confidence=float("nan")),
    "confidence is text": cause(confidence="very"),
    "empty cause": cause(cause=""),
}


@pytest.mark.parametrize("answer", HARMLESS.values(), ids=HARMLESS.keys())
def test_a_verdict_or_cause_that_makes_no_sense_changes_nothing(box, answer):
    """A verdict or cause about an id not offered, or of a wrong type, is dropped; the new fact is stored."""
    with ScriptedProvider(respond=lambda asked: answer if asked["task"] == "reconcile" else respond(asked)) as provider:
        box.use(provider)
        for text in ("Redis caches the invoices of the billing service.", TEXT):
            box.remember(text)
            assert box.drain().errors == []
        assert provider.tasks["reconcile"] == 1
    assert box.store("SELECT status FROM memory") == ["current", "current"]
    assert box.store("SELECT * FROM edge WHERE kind = 'causal'") == []


MISSHAPEN = {"null": {"verdicts": None, "causes": []}, "number": {"verdicts": [], "causes": 5}, "nothing": {}}


@pytest.mark.parametrize("answer", MISSHAPEN.values(), ids=MISSHAPEN.keys())
def test_a_reconcile_answer_of_the_wrong_shape_is_asked_again_later_and_then_left_to_the_rules(box, answer):
    """A model that never answers reconcile in shape delays the note, which the built-in model settles in the end."""
    with ScriptedProvider(respond=lambda asked: answer if asked["task"] == "reconcile" else respond(asked)) as provider:
        box.use(provider)
        box.remember("We deploy on Vercel.")
        box.drain()
        box.remember("We moved from Vercel to Coolify.")
        for _ in range(8):
            box.drain()
            assert "parked" not in box.states()
        assert provider.tasks["extract"] == 2
    assert box.states() == {"done": 2}
    assert box.recall("where do we deploy") == ["We moved from Vercel to Coolify."]


def test_a_model_may_not_retire_more_than_a_few_memories_for_one_note(box):
    """Told to update and delete everything it was offered, one note retires at most three and one."""

    def answer(asked):
        if asked["task"] != "reconcile":
            return respond(asked)
        pairs = [(action, memory) for action in ("UPDATE", "DELETE") for memory in range(24)]
        return {"verdicts": [{"fact": 0, "action": a, "memory": m, "reason": ""} for a, m in pairs], "causes": []}

    with ScriptedProvider(respond=lambda asked: answer(asked) if greedy else respond(asked)) as provider:
        greedy = False
        box.use(provider)
        for n in range(12):
            box.remember(f"Redis caches table {n} of the billing service.")
        box.drain()
        greedy = True
        box.remember(TEXT)
        box.drain()
    assert box.store("SELECT count(*) FROM memory WHERE status = 'superseded'") == [4]
    assert box.store("SELECT status FROM memory ORDER BY id DESC LIMIT 1") == ["current"]


@pytest.mark.parametrize("usage", [10**30, -5, "many", None, True, 1.5, [1]])
def test_an_absurd_token_count_spoils_neither_the_note_nor_the_ledger(box, usage):
    """A provider that counts nonsense tokens is still served from, and its calls are in the ledger."""

    def script(got):
        if got.task != "extract":
            return OK
        message = {"content": json.dumps({"facts": [FACT | {"text": TEXT}]})}
        reply = {"choices": [{"message": message}], "usage": {"prompt_tokens": usage, "completion_tokens": usage}}
        return Act(body=json.dumps(reply).encode())

    with ScriptedProvider(script=script) as provider:
        box.use(provider)
        box.remember(TEXT)
        assert box.drain().done == 1
    assert box.queue("SELECT calls FROM ledger WHERE stage = 'extract'") == [1]


@pytest.mark.parametrize("code", [401, 402, 403, 404])
def test_a_rejected_key_stops_the_drain_and_says_what_to_check(box, code):
    """A provider that rejects the configuration ends the drain at once: notes wait, and the key is in no message."""
    with ScriptedProvider(script=lambda _: status(code)) as provider:
        box.use(provider, LLM_API_KEY="sk-very-private-key", DRAIN_CONCURRENCY=2)
        for n in range(6):
            box.remember(f"Worker {n} reads topic {n}.")
        report = box.drain()
        assert provider.calls.total() <= 2
        assert "check" in report.stopped
        assert "check" in report.errors[0]
        assert "sk-very-private-key" not in str(report)
        assert box.states() == {"pending": 6}
        assert box.queue("SELECT DISTINCT attempts, deferrals FROM note") == [(0, 0)]
    with ScriptedProvider() as mended:
        box.use(mended)
        assert box.drain().done == 6


def test_a_text_that_the_embedder_alone_cannot_take_is_parked_and_the_others_go_on(box):
    """It spends its attempts, and neither opens the breaker nor keeps the notes beside it."""
    script = lambda got: status(500) if "poison" in str(got.body.get("input", "")) else OK  # noqa: E731 - one line
    with ScriptedProvider(script=script) as provider:
        box.use(provider)
        poison = box.remember("The poison rack holds worker 0.")
        for n in range(ATTEMPTS):
            box.remember(f"Worker {n} reads topic {n}.")
            report = box.drain()
            assert (report.done, report.stopped) == (1, "")
    assert box.queue("SELECT uid, state FROM note WHERE state <> 'done'") == [(poison, "parked")]


def test_garbage_from_the_embedder_alone_costs_no_second_model_call(box):
    """While only the embedder fails, facts and verdicts stay journaled and are not paid for again."""
    embedder_down = True
    script = lambda got: GARBAGE_BODY if embedder_down and not got.task else OK  # noqa: E731 - reads the flag below
    with ScriptedProvider(script=script) as provider:
        box.use(provider)
        box.remember(TEXT)
        for _ in range(5):
            box.drain()
        embedder_down = False
        box.drain()
        box.drain()
        assert provider.tasks["extract"] == 1
    assert box.states() == {"done": 1}


@pytest.mark.parametrize("room", [0, 8_192, 32_768, 65_536])
def test_a_disk_that_fills_up_ends_the_drain_with_one_line(box, room):
    """A drain that can write no further says so in one line, exits 74, and the next one finishes."""
    for n in range(12):
        box.remember(f"Worker {n} reads topic {n}. " + f"word{n} " * 2000)
    size = max(path.stat().st_size for path in box.data.rglob("queue.db*"))

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, size + room))

    done = box.memman("scheduler", "drain", preexec_fn=full)
    assert done.returncode == 74, done.stderr
    assert "Traceback" not in done.stderr
    assert box.drain().parked == 0
    assert box.states() == {"done": 12}


def test_a_store_damaged_amid_its_file_ends_the_drain_with_its_code(box):
    """Damage that shows only while reading is one line and exit 12, and the note waits."""
    box.remember("\n".join(f"Service number{n} listens on port {n} in region r{n}." for n in range(60)))
    box.drain()
    with box.store_path().open("r+b") as file:
        file.seek(3 * 4096)
        file.write(random.Random(1).randbytes(20 * 4096))
    box.remember("Stripe handles the payments.")
    done = box.memman("scheduler", "drain")
    assert done.returncode == 12, done.stderr
    assert "Traceback" not in done.stderr
    assert "damaged" in done.stderr
    assert box.states() == {"done": 1, "pending": 1}


def test_too_little_memory_ends_the_drain_and_costs_no_note_an_attempt(box):
    """Where Python has no memory left the note waits, longer each time, so that it keeps no other back."""

    def opened(_):
        raise MemoryError

    uids = [box.remember(f"Worker {n} reads topic {n}.") for n in range(3)]
    for _ in range(7):
        with closing(Queue(str(box.data))) as queue:
            report = asyncio.run(Drain(queue, opened, Limits(concurrency=1), Watch()).run())
        assert (report.deferred, report.failed, report.stopped) == (1, 0, "MemoryError")
    assert box.queue("SELECT DISTINCT state, attempts FROM note") == [("pending", 0)]
    assert box.queue("SELECT deferrals FROM note ORDER BY id")[1] > 0
    assert box.queue("SELECT retry_at > changed_at + 1000 FROM note ORDER BY id") == [1, 0, 0]
    box.queue("UPDATE note SET retry_at = 0")
    box.drain()
    assert sorted(box.store("SELECT note FROM memory")) == sorted(uids)
