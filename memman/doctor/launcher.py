"""Whether what hooks, units and agents call is there, and starts this version."""

import os
from collections.abc import Iterator
from subprocess import SubprocessError

from memman import __version__
from memman.config.command import NAME, command
from memman.config.interpreter import NONE, quick
from memman.config.launcher import launcher_path, start, target, text
from memman.config.launcher import program as ours
from memman.config.places import read_file
from memman.config.schedule import NOBODY, Schedule
from memman.doctor.agents import wired
from memman.doctor.finding import Context, Finding, fail, skipped, sound, warn
from memman.integrations.reach import Shell, reach, run, shells
from memman.scheduler.command import ask

_PATIENCE = 4.0  # seconds for a program to print its version
_INSTALL = "memman install"


def check(context: Context) -> Iterator[Finding]:
    """Look at the launcher and run it, and have the shells that agents start run what agents are told to call.

    Fails where it is missing, not executable, altered or leads nowhere; warns where it starts another version,
    or agents' shells do not find it
    """
    path = launcher_path(context.data)
    agents = wired(context)
    if not os.path.exists(path) and Schedule.load(context.data).kind in {"", NOBODY} and not agents:
        yield skipped("nothing is installed that calls it")
    elif path in context.amiss:
        yield skipped(f"{path} {context.amiss[path]}")
    else:
        faults = [*_broken(context.data, path)]
        yield from sound(faults or (_unfound(context.data) if agents else ()), f"{path} starts {_target(context.data)}")


def _broken(data: str, path: str) -> Iterator[Finding]:
    program = _target(data)
    if not os.path.exists(path):
        yield fail(f"{path}, which hooks and units call, does not exist", _INSTALL)
    elif not os.access(path, os.X_OK):
        yield fail(f"{path} is not executable", _INSTALL)
    elif not os.access(program, os.X_OK):
        yield fail(f"{path} starts {program or 'nothing'}, which does not exist", _INSTALL)
    elif read_file(path) != text(data, program, start(data)) or _misled(data, program):
        yield fail(f"{path} was changed or is from another version", _INSTALL)
    elif (python := start(data).python) and not os.access(python, os.X_OK):
        yield fail(f"{path} is slower than necessary: {python} does not exist", _INSTALL)
    else:
        answer = ask(path, "--version", patience=_PATIENCE)
        said = (answer.out or answer.err).strip()[:80]
        if said != f"memman {__version__}":
            yield warn(f"{path} starts {program}, which is {said!a}, but this is memman {__version__}", _INSTALL)


def _misled(data: str, program: str) -> bool:
    """Whether the launcher looks for this memman in other folders than it is in; of another memman nobody can tell."""
    if os.path.realpath(program) != os.path.realpath(ours()):
        return False
    known = quick()
    return known != NONE and start(data).library not in ("", known.library)


def _target(data: str) -> str:
    """Return the program that the launcher starts, '' where that cannot be read."""
    try:
        return target(data)
    except ValueError:  # a quote that does not end
        return ""


def _unfound(data: str) -> Iterator[Finding]:
    """Find shells in which what agents are told to call is not this memman."""
    called = command(data)
    for shell in shells():
        said = _said(shell, f"{called} --version")
        if said != f"memman {__version__}":
            yield warn(f"{shell.name}, as agents start it, answers `{called} --version` with {said[:80]!a}", _INSTALL)
            return
    if called == NAME and reach(data).command != NAME:
        yield warn(f"the `{called}` that agents find does not use {data}", _INSTALL)


def _said(shell: Shell, line: str) -> str:
    try:
        done = run(shell, line)
    except (OSError, ValueError, SubprocessError) as error:
        return str(error)
    return (done.stdout.strip() or done.stderr.strip()).rpartition("\n")[2]
