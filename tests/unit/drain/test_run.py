"""One drain from its lock to its tidy end: alone, stoppable, bounded, and honest about what it cost."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from memman.config.env import Settings
from memman.model.errors import Busy
from memman.providers.chosen import unpriced
from tests.support.box import PATIENCE, wait_until
from tests.support.providers import NEVER, OK, Act, ScriptedProvider


def snapshot(box):
    """Return all a drain could change in the queue."""
    return box.queue("SELECT * FROM note"), box.queue("SELECT * FROM journal"), box.queue("SELECT * FROM meta")


def test_of_drains_started_together_one_works_and_the_others_leave_at_once(box):
    """While one drain holds the lock, those that may not wait end with 75, and change nothing; others wait for it."""
    others_left = threading.Event()

    def wait(_):
        assert others_left.wait(PATIENCE)
        return OK

    with ScriptedProvider(script=wait) as provider:
        box.use(provider)
        box.remember("Redis caches the sessions.")
        first = box.start_drain()
        wait_until(lambda: box.states() == {"running": 1})
        before = snapshot(box)
        hasty = [box.start(box.script, "scheduler", "drain", "--deadline", "0.1") for _ in range(3)]
        waiting = box.start_drain()
        ends = [drain.communicate(timeout=PATIENCE) for drain in hasty]
        assert [drain.returncode for drain in hasty] == [75] * 3
        assert all("another drain is already running" in err for _, err in ends)
        assert "waiting for it to end" in waiting.stderr.readline()
        with pytest.raises(Busy):
            box.drain()
        assert snapshot(box) == before
        others_left.set()
        told = [drain.communicate(timeout=PATIENCE)[0] for drain in (first, waiting)]
        assert [line.partition(":")[0] for line in told] == ["processed 1 note", "processed 0 notes"]
        assert (first.returncode, waiting.returncode) == (0, 0)
        assert provider.tasks["extract"] == 1
    assert box.states() == {"done": 1}


def test_a_drain_that_holds_the_lock_leaves_none_behind_when_killed(box):
    """The kernel frees the lock of a killed drain, so the next one starts at once."""
    with ScriptedProvider(latency=NEVER) as provider:
        box.use(provider)
        box.remember("Redis caches the sessions.")
        drain = box.start_drain()
        wait_until(lambda: provider.calls.total() == 1)
        drain.kill()
        drain.communicate(timeout=PATIENCE)
    with ScriptedProvider() as provider:
        box.use(provider)
        assert (report := box.drain()).done == 1
        assert report.rescued == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_drain_finishes_its_stage_and_the_next_pays_for_nothing_again(box, number):
    """Asked to stop amid a call, the drain journals the answer, exits 0, and the next one goes on from there."""
    asked, told = [], threading.Event()

    def wait(received):
        asked.append(received.task)
        assert len(asked) > 1 or told.wait(PATIENCE)
        return OK

    with ScriptedProvider(script=wait, latency=0.05) as provider:
        box.use(provider)
        for n in range(3):
            box.remember(f"Worker {n} reads topic {n}.")
        drain = box.start_drain()
        wait_until(lambda: asked == ["extract"])
        drain.send_signal(number)
        told.set()
        _, err = drain.communicate(timeout=PATIENCE)
        assert (drain.returncode, err) == (0, "")
        assert box.states() == {"pending": 3}
        assert box.queue("SELECT stage FROM journal") == ["extract"] * 3
        assert box.queue("SELECT DISTINCT attempts, deferrals FROM note") == [(0, 0)]
        assert box.drain().done == 3
        assert provider.tasks["extract"] == 3
    assert sorted(box.store("SELECT note FROM memory")) == sorted(box.queue("SELECT uid FROM note"))


def test_a_deadline_stops_the_drain_between_two_stages(box):
    """Past its deadline a drain starts nothing more, gives back what is in flight, and the next one finishes."""
    with ScriptedProvider(latency=0.1) as provider:
        box.use(provider, DRAIN_CONCURRENCY=2)
        for n in range(8):
            box.remember(f"Worker {n} reads topic {n}.")
        report = box.drain(seconds=0.5)
        assert "deadline" in report.stopped
        assert 0 < report.done < 8
        assert box.states() == {"done": report.done, "pending": 8 - report.done}
        assert box.drain().done == 8 - report.done
        assert provider.tasks["extract"] == 8


def test_a_second_signal_ends_the_drain_amid_a_call(box):
    """Asked twice to stop, the drain gives its notes back untried and exits 0 without waiting for the provider."""
    with ScriptedProvider(latency=NEVER) as provider:
        box.use(provider)
        box.remember("Redis caches the sessions.")
        drain = box.start_drain()
        wait_until(lambda: provider.calls.total() == 1)
        drain.send_signal(signal.SIGTERM)
        drain.send_signal(signal.SIGINT)
        _, err = drain.communicate(timeout=PATIENCE)
    assert (drain.returncode, err) == (0, "")
    assert box.queue("SELECT state, attempts FROM note") == [("pending", 0)]


@pytest.mark.slow
def test_a_deadline_holds_against_a_provider_that_hangs(box):
    """A call that outlasts the deadline is given up soon after it, and its note waits untried."""
    with ScriptedProvider(latency=NEVER) as provider:
        box.use(provider)
        box.remember("Redis caches the sessions.")
        report = box.drain(seconds=0.2)
    assert "deadline" in report.stopped
    assert box.queue("SELECT state, attempts FROM note") == [("pending", 0)]


def test_a_limit_bounds_the_notes_of_one_drain(box):
    """With a limit of three the oldest three notes are drained."""
    uids = [box.remember(f"Worker {n} reads topic {n}.") for n in range(5)]
    assert box.drain(notes=3).done == 3
    assert box.store("SELECT note FROM memory ORDER BY id") == uids[:3]
    assert box.drain().done == 2


def test_a_drain_of_one_store_leaves_the_others_alone(box):
    """Asked for one store only, a drain takes no note of another."""
    box.remember("Redis caches the sessions.", store="one")
    box.remember("Redis caches the invoices.", store="two")
    assert box.drain(store="two").done == 1
    assert box.queue("SELECT store FROM note WHERE state = 'pending'") == ["one"]


@pytest.mark.parametrize("embedder", ["openai", "builtin"])
def test_the_token_budget_pauses_calls_and_a_new_day_resumes_them(box, embedder):
    """Once the day's tokens are spent no call is made and notes wait; the next day everything goes through."""
    with ScriptedProvider() as provider:
        box.use(provider, BUDGET_TOKENS=2500, DRAIN_CONCURRENCY=1, EMBED_PROVIDER=embedder)
        for n in range(12):
            box.remember(f"Worker {n} reads topic {n}.")
        report = box.drain()
        assert "budget" in report.stopped
        assert 0 < report.done < 12
        assert 2500 <= box.queue("SELECT sum(tokens_in + tokens_out) FROM ledger")[0] < 5000
        calls = provider.calls.total()
        assert box.drain().done == 0
        assert provider.calls.total() == calls
        assert box.states() == {"done": report.done, "pending": 12 - report.done}
        assert box.queue("SELECT DISTINCT attempts, deferrals FROM note WHERE state = 'pending'") == [(0, 0)]
        done = report.done
        for _ in range(12):
            box.queue("UPDATE ledger SET day = date(day, '-1 day')")
            done += box.drain().done
        assert done == 12
        assert provider.tasks["extract"] == 12
    assert len(box.store("SELECT note FROM memory")) == 12


def test_what_a_model_writes_counts_towards_the_token_budget(box):
    """A model that is told little and writes much is paused like any other."""

    def script(got):
        if got.task != "extract":
            return OK
        reply = {"choices": [{"message": {"content": '{"facts": []}'}}], "usage": {"completion_tokens": 1000}}
        return Act(body=json.dumps(reply).encode())

    with ScriptedProvider(script=script) as provider:
        box.use(provider, BUDGET_TOKENS=2000, DRAIN_CONCURRENCY=1, EMBED_PROVIDER="builtin")
        for n in range(5):
            box.remember(f"Worker {n} reads topic {n}.")
        assert "budget" in box.drain().stopped
        assert provider.tasks["extract"] == 2


def test_the_budget_in_calls_is_used_up_to_its_last_by_the_model_alone(box):
    """As many calls of the model are made as the day may have; those of the embedder count for none of them."""
    with ScriptedProvider() as provider:
        box.use(provider, BUDGET_CALLS=3, DRAIN_CONCURRENCY=1)
        for n in range(5):
            box.remember(f"Worker {n} reads topic {n}.")
        assert "budget" in box.drain().stopped
        assert provider.tasks["extract"] + provider.tasks["reconcile"] == 3
        assert provider.calls.total() > 3


@pytest.mark.parametrize("unit", ["USD", "TOKENS", "CALLS"])
def test_a_budget_of_zero_allows_no_call(box, unit):
    """Nothing is nothing, and not no limit: notes wait, and no provider hears of them."""
    with ScriptedProvider() as provider:
        box.use(provider, **{f"BUDGET_{unit}": 0})
        box.remember("Redis caches the sessions.")
        assert "budget" in box.drain().stopped.lower()
        assert provider.calls.total() == 0
    assert box.states() == {"pending": 1}


def test_the_dollar_budget_pauses_calls_until_it_is_raised(box):
    """Once the day's dollars are spent notes wait, and a higher budget lets them through."""
    with ScriptedProvider() as provider:
        dear = {"LLM_PRICE": "1000,2000", "EMBED_PRICE": 0, "DRAIN_CONCURRENCY": 1}
        box.use(provider, BUDGET_USD=0.5, **dear)
        for n in range(4):
            box.remember(f"Worker {n} reads topic {n}.")
        assert "budget" in box.drain().stopped
        assert box.states()["pending"]
        assert box.drain().done == 0
        box.use(provider, BUDGET_USD=1000, **dear)
        box.drain()
    assert box.states() == {"done": 4}


def test_under_a_dollar_budget_no_call_is_made_whose_price_nobody_knows(box):
    """It is said when the budget is set, by the drain and by doctor; with prices, or a budget in tokens, notes go."""
    with ScriptedProvider() as provider:
        box.use(provider, BUDGET_TOKENS=10**9)
        told = box.memman("config", "set", "BUDGET_USD", "5").stderr
        assert "set MEMMAN_LLM_PRICE (0,0 if they are free)" in told
        assert "MEMMAN_EMBED_PRICE" in told
        box.remember("Redis caches the sessions.")
        assert "MEMMAN_LLM_PRICE" in box.drain().stopped
        assert provider.calls.total() == 0
        assert "MEMMAN_EMBED_PRICE" in box.memman("doctor", "--check", "model").stdout
        told = box.memman("config", "set", "LLM_PRICE", "1,2").stderr
        assert "MEMMAN_LLM_PRICE" not in told
        assert "MEMMAN_EMBED_PRICE" in box.drain().stopped
        assert box.memman("config", "set", "EMBED_PRICE", "0").stderr == ""
        assert box.drain().done == 1


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"LLM_API_KEY": "k"}, set()),  # OpenRouter says in each reply what it cost
        ({"LLM_PROVIDER": "anthropic", "LLM_API_KEY": "k"}, {"llm"}),
        ({"LLM_PROVIDER": "anthropic", "LLM_PRICE": "1,5"}, set()),
        ({"LLM_ENDPOINT": "http://127.0.0.1:1/v1"}, {"llm"}),  # perhaps a gateway
        ({"LLM_PROVIDER": "claude-code", "EMBED_PROVIDER": "ollama"}, set()),
        ({"EMBED_PROVIDER": "voyage"}, {"embed"}),
    ],
)
def test_what_has_no_known_price(settings, refused):
    """A provider has one if the settings or its replies tell it, or if it is Ollama in the network."""
    said = {f"MEMMAN_{name}": value for name, value in settings.items()}
    assert unpriced(Settings(said)) == {}
    assert unpriced(Settings(said | {"MEMMAN_BUDGET_USD": "5"})).keys() == refused


def test_a_spent_budget_does_not_stop_the_rules(box):
    """With the built-in providers nothing costs anything, and a budget of zero changes nothing."""
    box.configure(BUDGET_USD=0, BUDGET_TOKENS=0)
    box.remember("Redis caches the sessions.")
    assert box.drain().done == 1


def test_the_ledger_adds_up(box):
    """Every call the provider saw is in the ledger under its stage, priced by its tokens."""
    with ScriptedProvider() as provider:
        box.use(provider, LLM_PRICE="2,10", EMBED_PRICE="0.5")
        for text in ("invoices", "sessions", "carts"):
            box.remember(f"Redis caches the {text} of the billing service.")
        box.drain()
        seen = {task or "embed": count for task, count in provider.tasks.items()}
    sums = "sum(calls), sum(tokens_in), sum(tokens_out), sum(cost)"
    ledger = {row[0]: row[1:] for row in box.queue(f"SELECT stage, {sums} FROM ledger GROUP BY 1")}
    assert {stage: row[0] for stage, row in ledger.items()} == seen
    assert seen == {"extract": 3, "reconcile": 2, "embed": 3}
    for stage, (_, tokens_in, tokens_out, cost) in ledger.items():
        price_in, price_out = (0.5, 0.0) if stage == "embed" else (2.0, 10.0)
        assert tokens_in > 0
        assert cost == pytest.approx((tokens_in * price_in + tokens_out * price_out) / 1e6)
    assert box.queue("SELECT sum(unpriced) FROM ledger") == [0]


def test_a_finished_drain_leaves_no_text_no_journal_and_no_log(box):
    """After a drain the queue holds uids of done notes only, and both write-ahead logs are empty."""
    with ScriptedProvider() as provider:
        box.use(provider)
        box.remember("Redis caches the invoices of the billing service.")
        box.remember("Redis caches the sessions of the billing service.")
        box.drain()
    assert box.queue("SELECT DISTINCT state, text FROM note") == [("done", "")]
    assert box.queue("SELECT * FROM journal") == []
    for path in (box.queue_path, box.store_path()):
        assert path.with_name(path.name + "-wal").stat().st_size == 0
        assert path.stat().st_size > 0


@pytest.mark.parametrize("line", ["17", "", "17 ../../etc abc", "17 nowhere abc", "17 \x00 abc", "\xff\xfe broken"])
def test_a_broken_line_in_the_record_of_what_was_shown_does_no_harm(box, line):
    """A half-written or hostile line of shown.log costs nothing but itself."""
    box.remember("Redis caches the sessions.")
    box.drain()
    uid = box.store("SELECT uid FROM memory")[0]
    outside = box.data.parent / "etc" / "memman.db"
    outside.parent.mkdir()
    outside.write_text("what ../../etc would lead to")
    (box.data / "shown.log").write_bytes(f"{line}\n1 default recall . . {uid}:5\n".encode("latin-1"))
    box.remember("Redis caches the invoices.")
    assert box.drain().done == 1
    assert box.store("SELECT uses FROM memory WHERE uid = ?", uid) == [1]
    assert not (box.data / "shown.log").exists()
    assert outside.read_text() == "what ../../etc would lead to"


def test_a_damaged_store_shuts_itself_only(box):
    """Notes for a store that cannot be read wait unspent, and every other store's notes go through."""
    broken = box.store_path("broken")
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"this is no database, and was none before" * 200)
    for n in range(8):
        box.remember(f"Worker {n} reads topic {n}.", store="broken" if n % 2 else "sound")
    for _ in range(7):
        report = box.drain()
    assert "damaged" in report.errors[0]
    states = box.queue("SELECT store, state, attempts FROM note GROUP BY 1, 2, 3")
    assert states == [("broken", "pending", 0), ("sound", "done", 1)]
    assert broken.read_bytes().startswith(b"this is no database")


def test_a_note_that_fails_by_its_own_fault_is_parked_after_five_attempts(box):
    """A note no store can take is given up after the fifth attempt with its error; the others are stored at once."""
    bad = box.remember("Redis caches the invoices.", store="../outside")
    box.remember("Redis caches the sessions.")
    assert box.drain().done == 1
    for attempt in range(2, 6):
        assert box.states() == {"done": 1, "pending": 1}
        assert box.drain().parked == (attempt == 5)
    assert box.queue("SELECT uid, state, attempts FROM note WHERE store = '../outside'") == [(bad, "parked", 5)]
    assert "not allowed" in box.queue("SELECT error FROM note WHERE state = 'parked'")[0]
    assert not (box.data / "outside").exists()


def test_slow_and_fast_notes_share_one_drain(box):
    """While a model thinks about one note, those behind it in its store are extracted; they are stored in order."""
    later = Act(until=("extract", 7))
    slow = lambda got: later if "Snail" in str(got.body) and got.task == "extract" else OK  # noqa: E731
    with ScriptedProvider(script=slow) as provider:
        box.use(provider)
        box.remember("Worker 0 reads topic 0.")  # the first call of all goes alone
        box.remember("Snail is the name of a worker.")
        for n in range(1, 6):
            box.remember(f"Worker {n} reads topic {n}.")
        report = box.drain()
    assert (report.done, report.errors) == (7, [])
    texts = box.store("SELECT text FROM memory ORDER BY rowid")
    assert texts[1:3] == ["Snail is the name of a worker.", "Worker 1 reads topic 1."]


@pytest.mark.parametrize("module", ["memman.drain.run", "memman.commands.embed", "memman.commands.root"])
def test_numpy_is_loaded_with_one_thread(module):
    """Threads that wait for each other cost a drain a third of its speed; what is set later, numpy does not see."""
    code = f"""
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_NUM_THREADS"))
sys.meta_path.insert(0, Watch())
import {module}, numpy
"""
    environ = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
