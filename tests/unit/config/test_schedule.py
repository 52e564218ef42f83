"""Who may drain and when: the schedule file, the bell, the heartbeat, and what is refused while stopped."""

import json
import os
import time

import pytest

from memman.config import schedule
from memman.config.schedule import Schedule
from memman.drain import run
from memman.drain.loop import Limits, Report
from memman.locks import drain_lock
from memman.model.errors import Busy, SchedulerStopped
from memman.upkeep.idle import SHOWN, TIDY, idle
from tests.support.box import PATIENCE, wait_until
from tests.support.providers import NEVER, ScriptedProvider

# What the refusal calls it -> how it is called.
REFUSED = {
    "remember": ("remember", "A note"),
    "replace": ("replace", "{id}", "A note"),
    "forget": ("forget", "{id}"),
    "forget --undo": ("forget", "--undo", "{id}"),
    "purge": ("purge", "{id}"),
    "insights reinstate": ("insights", "reinstate", "{id}"),
    "graph link": ("graph", "link", "{id}", "{id}"),
    "graph rebuild": ("graph", "rebuild"),
    "embed reembed": ("embed", "reembed"),
    "embed swap": ("embed", "swap", "--to", "builtin"),
    "store remove": ("store", "remove", "default"),
    "drain": ("scheduler", "drain"),
    "trigger": ("scheduler", "trigger"),
}


def ringing(box):
    """Whether the bell rings."""
    return os.path.exists(schedule.bell_path(str(box.data)))


def aged(path, seconds):
    """Let a file be `seconds` old."""
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.parametrize("verb", REFUSED)
def test_what_changes_memory_is_refused_while_stopped(box, verb):
    """Every verb that changes memory names itself, how to start, and exits 69; nothing changes."""
    box.remember("The heron nests by the river.")
    box.drain()
    before = box.store("SELECT uid, status FROM memory"), box.store("SELECT count(*) FROM edge")
    assert box.memman("scheduler", "stop").returncode == 0
    uid = box.store("SELECT uid FROM memory")[0]
    done = box.memman(*(word.format(id=uid) for word in REFUSED[verb]))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (69, "", 1)
    assert done.stderr.startswith(f"memman: cannot {verb}: the scheduler is stopped; start it with `")
    assert done.stderr.endswith("memman scheduler start`\n")
    assert (box.store("SELECT uid, status FROM memory"), box.store("SELECT count(*) FROM edge")) == before
    assert box.states() == {"done": 1}


def test_stopped_memory_is_read_and_started_it_goes_on(box):
    """Recall, status and lists work while stopped; after a start notes are taken again."""
    box.remember("The heron nests by the river.")
    box.drain()
    box.memman("scheduler", "stop")
    for words in (("recall", "heron"), ("list",), ("status",), ("scheduler", "queue", "list")):
        assert box.memman(*words).returncode == 0
    with pytest.raises(SchedulerStopped):
        box.drain()
    box.memman("scheduler", "start")
    assert box.memman("remember", "The weir was painted.").returncode == 0
    assert box.drain().done == 1


def test_a_note_rings_and_a_drain_silences(box):
    """The bell rings from a note to the drain that takes it."""
    box.remember("The heron nests by the river.")
    assert ringing(box)
    box.drain()
    assert not ringing(box)


@pytest.mark.parametrize("limits", [{"notes": 1}, {"store": "default"}])
def test_a_drain_of_some_notes_leaves_the_bell_to_others(box, limits):
    """One that takes only so many, or one store's, does not keep the rest from being asked for."""
    box.remember("The heron nests by the river.")
    box.remember("The weir was painted.", store="b")
    box.drain(**limits)
    assert ringing(box)
    assert box.drain().done == 1


def test_a_note_that_comes_while_a_drain_is_at_work_is_taken_along(box):
    """The drain takes what was queued since it began, and leaves no bell ringing for it."""
    box.remember("The heron nests by the river.")
    late = iter(["The weir was painted green.", "The lock is shut on Mondays."])

    def trace(stage, plan):  # noqa: ARG001 - a stage is enough
        if stage == "commit" and (text := next(late, None)):
            box.remember(text)

    report = box.drain(trace=trace)
    assert (report.done, report.added, report.errors) == (3, 3, [])
    assert not ringing(box)


def test_rounds_go_on_while_the_bell_rings_and_are_added_up(box):
    """A note of the last moment makes one more round; a stopped round is the last."""
    box.data.mkdir()
    reports = []

    class Queue:
        def waiting(self):
            return 1

    def once():
        if len(reports) < 2:
            schedule.ring(str(box.data))
        reports.append(Report(done=2, added=1, errors=["the same"], stopped=""))
        return reports[-1]

    report = run._rounds(str(box.data), Queue(), Limits(), once, lambda: 0)
    assert (len(reports), report.done, report.added, report.errors) == (3, 6, 3, ["the same"])


def test_a_drain_that_runs_out_of_time_asks_for_another(box):
    """What the deadline left is asked for at once; without notes left nobody is asked."""
    with ScriptedProvider(latency=0.3) as provider:
        box.use(provider, DRAIN_CONCURRENCY=1)
        for n in range(4):
            box.remember(f"Worker {n} reads topic {n}.")
        assert box.drain(seconds=0.2).stopped == "deadline reached"
        assert ringing(box)
    box.configure()
    box.drain(seconds=30)
    assert not ringing(box)


@pytest.mark.slow
def test_a_patient_drain_waits_for_the_other(box):
    """A drain that finds another at work takes what that one left, and leaves with 75 at its deadline."""
    box.remember("The heron nests by the river.")
    with drain_lock(str(box.data)):
        assert box.memman("scheduler", "drain", "--wait", "--deadline", "0.2").returncode == 75
        waiting = box.start(box.script, "scheduler", "drain", "--wait")
        wait_until(lambda: not ringing(box))  # it has looked at the queue, and found work
    out, err = waiting.communicate(timeout=PATIENCE)
    assert (waiting.returncode, err) == (0, "")
    assert out.startswith("processed 1 note")
    with drain_lock(str(box.data)), pytest.raises(Busy):
        box.drain(patient=True, seconds=0.1)


def test_an_idle_tick_is_silent_and_loads_nothing_big(box):
    """Where nothing waits and all is tidy, --wait ends without a word and without what drains; the heart beats."""
    box.remember("The heron nests by the river.")
    box.drain()
    beat = schedule.heartbeat_path(str(box.data))
    aged(beat, 500)
    code = "import sys; from memman.commands import run; run(['scheduler', 'drain', '--wait']); print(*sys.modules)"
    out, _ = box.start_drain(code).communicate(timeout=PATIENCE)
    assert {"numpy", "httpx", "asyncio", "memman.drain.run", "memman.drain.loop"}.isdisjoint(out.split())
    assert "processed" not in out
    assert time.time() - os.stat(beat).st_mtime < 60


def test_a_tick_is_idle_only_where_nothing_is_to_do(box):
    """A waiting note, much that recall has shown, long without tidying up, a clock set back: the drain runs whole."""
    data = str(box.data)
    assert not idle(data)
    box.remember("The heron nests by the river.")
    assert not idle(data)
    assert not ringing(box)
    box.drain()
    assert idle(data)
    (box.data / "shown.log").write_text("x" * SHOWN)
    assert not idle(data)
    box.drain()
    assert idle(data)
    passed = "UPDATE meta SET value = json_set(value, '$.at', (value ->> '$.at') - ?) WHERE key = 'last_drain'"
    box.queue(passed, -TIDY * 1000)
    assert not idle(data)
    box.queue(passed, TIDY * 1000)
    assert idle(data)
    box.queue(passed, TIDY * 1000)
    assert not idle(data)


def test_overdue_is_said_where_somebody_should_drain(box):
    """Three intervals after the last beat, recall and status say so; stopped or not set up, nobody does."""
    data = str(box.data)
    box.remember("The heron nests by the river.")
    box.drain()
    Schedule("serve", 10).save(data)
    for path in (schedule.heartbeat_path(data), schedule.schedule_path(data)):
        aged(path, 29)
    assert schedule.overdue(data) is None
    for path in (schedule.heartbeat_path(data), schedule.schedule_path(data)):
        aged(path, 100)
    assert schedule.overdue(data) == pytest.approx(100, abs=5)
    done = box.memman("recall", "heron")
    assert "heron" in done.stdout
    assert done.stderr.startswith("memman: notes have not been processed for 1")
    assert done.stderr.count("\n") == 1
    assert "drain overdue" in box.memman("status").stdout
    assert "drain overdue" in box.memman("scheduler", "status").stdout
    box.memman("scheduler", "stop")
    assert schedule.overdue(data) is None
    assert box.memman("recall", "heron").stderr == ""


def test_a_drain_that_works_long_is_not_overdue(box):
    """The heart beats while notes are worked on, so what takes its time is not taken for missing."""
    data = str(box.data)
    with ScriptedProvider(latency=NEVER) as provider:
        box.use(provider)
        box.remember("The heron nests by the river.")
        Schedule("serve", 1).save(data)
        beat = schedule.heartbeat_path(data)
        drain = box.start_drain()
        wait_until(lambda: provider.calls.total() == 1)
        before = os.stat(beat).st_mtime
        wait_until(lambda: os.stat(beat).st_mtime > before)
        assert drain.poll() is None
        drain.kill()
        drain.communicate()


def test_a_clock_that_was_set_back_hides_no_missing_drain(box):
    """Times that have yet to come say nothing; those before them count."""
    data = str(box.data)
    box.remember("The heron nests by the river.")
    box.drain()
    Schedule("serve", 10).save(data)
    aged(schedule.schedule_path(data), 500)
    aged(schedule.heartbeat_path(data), -86_400)
    assert schedule.overdue(data) == pytest.approx(500, abs=5)


def test_an_empty_folder_in_the_bells_place_is_silenced(box):
    """Whatever can be removed without loss is."""
    data = str(box.data)
    os.makedirs(schedule.bell_path(data))
    assert schedule.silence(data)
    os.makedirs(schedule.bell_path(data) + "/in")
    assert not schedule.silence(data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kind=nobody-we-know\ninterval=soon\nstate=\n",
        "\x00\xff",
        "interval=²\nnonsense",
        "interval=" + "9" * 4300,
        "interval=0",
    ],
)
def test_a_schedule_that_cannot_be_read_is_the_usual_one(box, text):
    """Whatever the file holds, memory goes on with the defaults."""
    box.data.mkdir()
    (box.data / "schedule").write_bytes(text.encode("latin-1"))
    read = Schedule.load(str(box.data))
    assert (read.kind, read.interval, read.stopped) == ("", 60, False)
    assert box.memman("remember", "The heron nests.").returncode == 0


def test_debug_and_logs(box):
    """`debug on` is a setting that `debug off` takes back; `logs` shows what drains did, without any note's text."""
    box.remember("The heron nests by the river.")
    assert box.memman("scheduler", "debug", "on").returncode == 0
    assert "MEMMAN_LOG_LEVEL=debug" in (box.data / "env").read_text()
    assert box.memman("scheduler", "debug", "off").returncode == 0
    assert "MEMMAN_LOG_LEVEL" not in (box.data / "env").read_text()
    assert box.memman("scheduler", "debug", "perhaps").returncode == 2
    box.drain()
    logs = box.memman("scheduler", "logs").stdout
    assert "drain ended" in logs
    assert "heron" not in logs
    assert box.memman("log", "worker").stdout == logs


def test_status_says_what_waits(box):
    """Queue depth, the oldest note's age, parked notes, the provider and the money of today are on the page."""
    box.remember("The heron nests by the river.")
    record = json.loads(box.memman("scheduler", "status", "--json").stdout)
    assert (record["kind"], record["state"], record["units"]) == ("write", "started", {})
    assert record["queue"]["states"]["pending"] == 1
    assert (record["last_run"], record["next_run"], record["overdue_seconds"]) == (None, None, None)
    assert record["spend"]["usd"] == 0
    shown = box.memman("scheduler", "status").stdout
    assert "started, by each write, but not from this shell: MEMMAN_DRAIN=off" in shown
    for words in ("never", "1 note", "0 notes", "ok", "0.0000 USD"):
        assert words in shown


@pytest.mark.parametrize("seconds", ["0", "-1", "86401", "soon", "1.5"])
def test_an_interval_that_cannot_be_is_refused(box, seconds):
    """One line, and the interval stays."""
    Schedule("serve", 60).save(str(box.data))
    done = box.memman("scheduler", "interval", "--", seconds)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert box.memman("scheduler", "interval").stdout == "60\n"
