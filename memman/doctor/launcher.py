"""Whether the launcher that hooks and units call is there, and starts this version.

Looks at: the program that hooks and units call
Finds: missing, not executable, altered, leads nowhere, or to another version; its quick start lacks the interpreter
"""

import os
from collections.abc import Iterator

from memman import __version__
from memman.config.interpreter import NONE, quick
from memman.config.launcher import launcher_path, start, target, text
from memman.config.launcher import program as ours
from memman.config.places import read_file
from memman.config.schedule import NOBODY, Schedule
from memman.doctor.agents import wired
from memman.doctor.finding import Context, Finding, fail, ok, skipped, warn
from memman.scheduler.command import ask

_PATIENCE = 4.0  # seconds for a program to print its version
_INSTALL = "memman install"


def check(context: Context) -> Iterator[Finding]:
    """Look at the launcher, and run it."""
    path = launcher_path(context.data)
    if not os.path.exists(path) and Schedule.load(context.data).kind in {"", NOBODY} and not wired(context):
        yield skipped("nothing is installed that calls it")
        return
    if path in context.amiss:
        yield skipped(f"{path} {context.amiss[path]}")
        return
    yield _looked(context.data, path)


def _looked(data: str, path: str) -> Finding:
    if not os.path.exists(path):
        return fail(f"{path}, which hooks and units call, does not exist", _INSTALL)
    if not os.access(path, os.X_OK):
        return fail(f"{path} is not executable", _INSTALL)
    program = _target(data)
    if not os.access(program, os.X_OK):
        return fail(f"{path} starts {program or 'nothing'}, which does not exist", _INSTALL)
    if read_file(path) != text(data, program, start(data)) or _misled(data, program):
        return fail(f"{path} was changed or is from another version", _INSTALL)
    return _started(data, path, program)


def _misled(data: str, program: str) -> bool:
    """Whether the launcher looks for this memman in other folders than it is in; of another memman nobody can tell."""
    if os.path.realpath(program) != os.path.realpath(ours()):
        return False
    known = quick()
    return known != NONE and start(data).library not in ("", known.library)


def _started(data: str, path: str, program: str) -> Finding:
    if (python := start(data).python) and not os.access(python, os.X_OK):
        return fail(f"{path} is slower than necessary: {python} does not exist", _INSTALL)
    said = _version(path)
    if said != f"memman {__version__}":
        return warn(f"{path} starts {program}, which is {said!a}, but this is memman {__version__}", _INSTALL)
    return ok(f"{path} starts {program}")


def _target(data: str) -> str:
    """Return the program that the launcher starts, '' where that cannot be read."""
    try:
        return target(data)
    except ValueError:  # a quote that does not end
        return ""


def _version(path: str) -> str:
    answer = ask(path, "--version", patience=_PATIENCE)
    return (answer.out or answer.err).strip()[:80]
