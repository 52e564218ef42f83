"""The scheduler on a real systemd, as an ordinary user with lingering."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NEEDED = ("unshare", "nsenter", "mount", "pgrep", "useradd", "systemd-analyze", "dbus-daemon")


def lacking() -> str:
    """Say what keeps the box from booting here, '' for nothing."""
    if os.geteuid() != 0:
        return "the box needs root"
    if not Path("/lib/systemd/systemd").exists():
        return "systemd is not installed"
    return ", ".join(f"{program} is missing" for program in NEEDED if not shutil.which(program))


def boots(bin: Path, *parts: str, **environ: str) -> str:  # noqa: A002 - the fixture's name
    """Boot the box once for each of `parts`, without namespaces where it begins with `bare:`, and run them inside.

    Returns what they said.
    """
    if reason := lacking():
        pytest.skip(reason)
    python = os.path.realpath(sys.executable)
    inside = []
    for part in parts:
        words = part.removeprefix("bare:").split()
        line = shlex.join((python, str(HERE / "inside.py"), str(bin.parent), *words))
        inside.append(line if part.split() == words else f"bare:{line}")
    # Told to end in time, the box takes down what it put up.
    command = ["timeout", "--kill-after=30", "900", HERE / "box", *inside]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, **streams, env=os.environ | environ, text=True, check=False, timeout=1000)
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    return str(done.stdout)


def test_it_runs_by_itself(bin: Path) -> None:  # noqa: A002 - the same
    """Notes are stored by themselves, bursts and ended drains cost none, and all of it outlives a reboot."""
    boots(bin, "works", "runs_after_a_reboot", "stays_stopped")


@pytest.mark.promise("R13")
def test_its_ticks_are_on_time(bin: Path, rounds: Callable, kept: Callable) -> None:  # noqa: A002 - the same
    """The timer's runs are two seconds late at most, and after a pause one makes up for all that were missed."""
    said = boots(bin, "ticks", MEMMAN_TICKS=str(rounds(3, 20)))
    kept(next(line.removeprefix("ticks: ") for line in said.splitlines() if line.startswith("ticks: ")))


def test_odd_folders_and_a_missing_program(bin: Path) -> None:  # noqa: A002 - the same
    """Odd paths survive the units' own syntax, and a program that is gone makes nothing spin."""
    boots(bin, "takes_any_folder lacks_its_program stuck_bells follows_links")


def test_it_runs_without_namespaces(bin: Path) -> None:  # noqa: A002 - the same
    """Where no user namespaces can be made drains still run; where that is so after a boot, once installed anew."""
    boots(bin, "bare:needs_no_namespaces", "has_namespaces", "bare:loses_namespaces", "finds_them_again")


def test_it_ends_when_told_and_leaves_nothing(bin: Path) -> None:  # noqa: A002 - the same
    """Nobody waits for a hanging call, or an agent outside of the sandbox; units of two folders are kept apart."""
    boots(bin, "stops_amid_a_call asks_its_agent two_folders another_config_home files_are_gone enables_lingering")
