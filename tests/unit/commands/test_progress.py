"""Whoever waits at a terminal sees how far the work has come, and is told what is kept when they break it off."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios

import pytest

from memman.commands.printing import bar
from tests.support.box import wait_until

VERBS = {
    "draining": ("scheduler", "drain"),
    "relinking": ("graph", "rebuild"),
    "embedding": ("embed", "reembed"),
    "looking": ("lint",),
}


def shown(box, *words, columns=80):
    """Run a verb whose standard error is a terminal of so many columns; return what that shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [box.script, *words]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": theirs}
    with subprocess.Popen(command, env=box.environ, cwd=box.data.parent, **streams) as process:
        os.close(theirs)
        said = b""
        while part := read(ours):
            said += part
        process.stdout.read()
    os.close(ours)
    assert process.returncode == 0, said
    return said.decode()


def read(terminal):
    """Return what comes next, nothing at the end."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


@pytest.fixture
def filled(box):
    """Give a box with something for each verb to do."""
    box.remember("The heron nests by the river.")
    box.drain()
    box.remember("The nightly import runs at 02:00 UTC.")
    return box


@pytest.mark.parametrize("columns", [80, 0])
@pytest.mark.parametrize("label", VERBS)
def test_a_terminal_shows_a_bar(filled, label, columns):
    """Also one that does not say how wide it is."""
    assert f"{label}: " in shown(filled, *VERBS[label], columns=columns)


@pytest.mark.parametrize("label", VERBS)
def test_what_is_no_terminal_is_shown_nothing(filled, label):
    """A log or a pipe gets the result alone."""
    done = filled.memman(*VERBS[label])
    assert (done.returncode, done.stderr) == (0, "")


def test_whoever_breaks_it_off_is_told_what_is_kept(capsys):
    """Ctrl-C ends the work, after one line."""
    with pytest.raises(KeyboardInterrupt), bar("relinking", "what is done stays"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == "memman: relinking was interrupted: what is done stays\n"


def test_a_drain_that_is_broken_off_says_what_waits(filled):
    """SIGINT ends it with its summary, and with what becomes of the rest."""
    filled.configure(LLM_PROVIDER="openai", LLM_ENDPOINT="http://127.0.0.1:9/v1", HTTP_TRIES=10)
    with filled.start_drain() as drain:
        wait_until(lambda: filled.states().get("running"))
        drain.send_signal(signal.SIGINT)
        out, _ = drain.communicate(timeout=60)
    assert "asked to stop by SIGINT; what is stored stays, and what is not waits for the next drain" in out
