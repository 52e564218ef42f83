"""The loop in the foreground: it wakes, sleeps while stopped, and ends when asked, whatever a drain is about."""

import json
import os
import signal
import sys
import time

import pytest

from memman.config import schedule
from memman.config.schedule import Schedule
from memman.scheduler import serve
from tests.support.box import PATIENCE, wait_until
from tests.support.providers import NEVER, ScriptedProvider

# A loop whose drains are another program.
OTHER = """
import sys
from memman.scheduler import serve
loop = serve.Loop(sys.argv[1], serve.heard())
loop.command = tuple(sys.argv[2:])
loop.run()
"""


@pytest.fixture(name="start")
def _start(box):
    """Start a loop over this box; it is ended with the test."""
    started = []

    def start(*words):
        loop = box.start(*(words or (box.script, "scheduler", "serve")))
        started.append(loop)
        wait_until(lambda: os.path.exists(schedule.heartbeat_path(str(box.data))) or words or loop.poll() is not None)
        return loop

    yield start
    for loop in started:
        loop.kill()
        loop.communicate()


def ended(loop, number=signal.SIGTERM):
    """Send a signal; return the exit code and standard error."""
    loop.send_signal(number)
    _, err = loop.communicate(timeout=PATIENCE)
    return loop.returncode, err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_drains_what_rings_and_ends_when_asked(box, start, number):
    """Notes are drained without anybody's doing; the loop ends well on either signal."""
    loop = start()
    box.remember("The heron nests by the river.")
    wait_until(lambda: box.states() == {"done": 1})
    assert ended(loop, number) == (0, "")


def test_a_drain_that_hangs_is_ended_with_the_loop(box, start):
    """Amid a provider's call the drain gives its note back within two seconds; nothing is left running or lost."""
    with ScriptedProvider(latency=NEVER) as provider:
        box.use(provider)
        loop = start()
        box.remember("The heron nests by the river.")
        wait_until(lambda: provider.calls.total() == 1)
        assert ended(loop)[0] == 0
    box.configure()
    assert box.drain().done == 1


def test_a_second_signal_ends_it_at_once(box, start):
    """Asked twice, the drain is killed and the loop ends; the next drain takes the note up again."""
    with ScriptedProvider(latency=NEVER) as provider:
        box.use(provider)
        loop = start()
        box.remember("The heron nests by the river.")
        wait_until(lambda: provider.calls.total() == 1)
        loop.send_signal(signal.SIGTERM)
        assert ended(loop)[0] == 0
    box.configure()
    assert box.drain().done == 1


def test_it_sleeps_while_stopped(box, start):
    """Stopped, the bell is left ringing; started, the note is drained."""
    loop = start()
    box.memman("scheduler", "stop")
    box.remember("The heron nests by the river.")
    time.sleep(3 * serve.POLL)
    assert box.states() == {"pending": 1}
    box.memman("scheduler", "start")
    wait_until(lambda: box.states() == {"done": 1})
    assert ended(loop)[0] == 0


def test_the_interval_is_the_safety_net(box, start):
    """A note whose bell was lost is drained when the interval is over; --interval is kept."""
    loop = start(box.script, "scheduler", "serve", "--interval", "1")
    wait_until(lambda: os.path.exists(schedule.heartbeat_path(str(box.data))))
    box.remember("The heron nests by the river.")
    schedule.silence(str(box.data))
    wait_until(lambda: box.states() == {"done": 1})
    assert Schedule.load(str(box.data)).interval == 1
    assert ended(loop)[0] == 0


def test_one_loop_serves_a_data_folder(box, start):
    """A second one leaves with 75; status tells whether one runs."""
    loop = start()
    second = box.memman("scheduler", "serve")
    assert (second.returncode, "is already running for this data folder" in second.stderr) == (75, True)
    record = json.loads(box.memman("scheduler", "status", "--json").stdout)
    assert (record["kind"], record["well"], record["units"]) == ("serve", True, {"serve": "running"})
    assert ended(loop)[0] == 0
    assert "serve not running" in box.memman("scheduler", "status").stdout
    assert "each write starts a drain" in box.memman("scheduler", "install").stdout
    start()
    wait_until(lambda: schedule.Schedule.load(str(box.data)).kind == "serve")
    assert "drains are started by `memman scheduler serve`" in box.memman("scheduler", "install").stdout


@pytest.mark.parametrize("program", [("/nonexistent/memman",), (sys.executable, "-c", "raise SystemExit(1)")])
def test_a_program_that_is_missing_or_fails_is_not_started_again_and_again(box, start, program):
    """The bell goes silent all the same, and the loop lives on."""
    box.remember("The heron nests by the river.")
    loop = start(sys.executable, "-c", OTHER, str(box.data), *program)
    wait_until(lambda: not os.path.exists(schedule.bell_path(str(box.data))))
    time.sleep(2 * serve.POLL)
    assert loop.poll() is None
    code, err = ended(loop)
    assert code == 0
    assert err.count("could not be started") == (program[0] != sys.executable)


def test_a_schedule_that_cannot_be_read_ends_nothing(box, start):
    """The loop says it once, and drains as usual."""
    loop = start()
    path = box.data / "schedule"
    path.unlink()
    path.mkdir()
    time.sleep(3 * serve.POLL)
    schedule.ring(str(box.data))
    wait_until(lambda: not os.path.exists(schedule.bell_path(str(box.data))))
    path.rmdir()
    box.remember("The heron nests by the river.")
    wait_until(lambda: box.states() == {"done": 1})
    code, err = ended(loop)
    assert code == 0
    assert err.count("could not be read") >= 1
    assert len([line for line in err.splitlines() if "schedule" in line]) <= 3  # the loop's, and each drain's own


@pytest.mark.slow
def test_stopping_ends_a_drain_that_hangs(box, start):
    """`scheduler stop` amid a provider's call: the note is back soon, and the loop sleeps."""
    with ScriptedProvider(latency=NEVER) as provider:
        box.use(provider)
        loop = start()
        box.remember("The heron nests by the river.")
        wait_until(lambda: provider.calls.total() == 1)
        box.memman("scheduler", "stop")
        wait_until(lambda: box.states() == {"pending": 1})
        assert ended(loop)[0] == 0


def test_a_stuck_bell_is_not_heard_again_and_again(box, start):
    """A bell that cannot be silenced starts a drain a second at most."""
    os.makedirs(schedule.bell_path(str(box.data)) + "/in")
    count = f"open({str(box.data.parent / 'count')!r}, 'a').write('x')"
    began = time.monotonic()
    loop = start(sys.executable, "-c", OTHER, str(box.data), sys.executable, "-c", count)
    time.sleep(2.5)
    assert ended(loop)[0] == 0
    assert (box.data.parent / "count").stat().st_size <= 1 + (time.monotonic() - began) / serve.REST


def test_a_folder_that_is_made_anew_is_served(box, start):
    """Where the lock is no longer the one there, the loop takes the new one."""
    loop = start()
    box.data.rename(box.data.parent / "old")
    box.remember("The heron nests by the river.")
    wait_until(lambda: box.states() == {"done": 1})
    assert box.memman("scheduler", "serve").returncode == 75
    assert ended(loop)[0] == 0
