"""A hook ends when its time is up, whatever it is doing then, and says what its host takes for nothing."""

import subprocess
import sys

import pytest

from tests.support.box import PATIENCE

STALLS = {
    "Python": "while True: pass",
    "a regular expression": "import re; re.match(r'(a+)+$', 'a' * 60 + 'b')",
    "a call into C": "from threading import Lock; lock = Lock(); lock.acquire(); lock.acquire()",
    "a call that tries again": "import time\nwhile True:\n    time.sleep(60)",
    "a wait that no alarm reaches": "import time; from signal import SIG_IGN, SIGALRM, signal; signal(SIGALRM, SIG_IGN)"
    "\nwhile True:\n    time.sleep(60)",
}
# The kernel itself is asked whether the second has begun in which a hook may keep a turn waiting.
ARMED = """
from signal import ITIMER_REAL, getitimer
from memman.hot.hook import Output, Progress, limit
output = Output('{}')
limit(output, Progress(''))
assert 0 < getitimer(ITIMER_REAL)[0] <= 1
"""


def run(code, **more):
    """Run code in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-c", ARMED + code], capture_output=True, text=True, check=False, timeout=PATIENCE, **more
    )


@pytest.mark.parametrize("stall", STALLS)
def test_whatever_stalls_a_hook_it_ends_in_its_time(stall):
    """Python, a regular expression that holds the interpreter, and waits in C are ended, with 0, by a limit of 1 s."""
    done = run(STALLS[stall])
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}", "")


@pytest.mark.slow
def test_an_answer_at_the_last_moment_is_written_once():
    """At whatever moment an answer comes, either it is written or nothing is, and the exit code is 0."""
    code = "import time, sys\ntime.sleep({wait})\noutput.write('answer')\nfrom memman.hot.hook import main\n"
    for wait in (0.99, 0.998, 1.0, 1.002):
        done = run(code.format(wait=wait) + "time.sleep(3)")
        assert done.returncode == 0
        assert done.stdout in {"{}", "answer"}
        assert done.stderr == ""


def test_an_output_that_nobody_reads_is_not_waited_for():
    """Where the answer cannot be written the process ends all the same."""
    command = [sys.executable, "-c", ARMED + "output.write('x' * 10_000_000)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""
