"""Whether agents are wired as this version ships it, with hooks on, and what they call is there and is this version."""

import os
from collections.abc import Iterator

from memman import __version__
from memman.config import launcher as launch
from memman.config.command import launcher_path
from memman.config.launcher import NONE, quick
from memman.config.places import read_file
from memman.config.schedule import NOBODY, Schedule
from memman.doctor.finding import Context, Finding, fail, skipped, sound, warn
from memman.integrations import claude_code, codex, openclaw
from memman.integrations.clients import TARGETS, chosen
from memman.integrations.installer import drift, installed, switched_off, unreadable
from memman.integrations.target import Target
from memman.scheduler.manager import ask

_INSTALL, _TARGET, _THIS = "memman install", "memman install --target", f"memman {__version__}"
_PATIENCE = 4.0  # seconds for a program to print its version


def agents(context: Context) -> Iterator[Finding]:
    """Check that each agent is set up once, as this version does it, with hooks that are on and approved."""
    found = _wired(context)
    faults = [*_unwired(found), *(fault for target in found for fault in _faults(context, target))]
    names = [target.name for target in found] or ["Claude Code's plugin"]
    return sound(faults, f"{', '.join(names)}: up to date, hooks are on")


def launcher(context: Context) -> Iterator[Finding]:
    """Check that the launcher is unchanged and starts this version."""
    data, path = context.data, launcher_path(context.data)
    agents = _wired(context)
    if not os.path.exists(path) and Schedule.load(data).kind in {"", NOBODY} and not agents:
        return iter([skipped("nothing is installed that calls it")])
    return sound(_broken(data, path), f"{path} starts {_target(data)}")


def _wired(context: Context) -> list[Target]:
    return [target for target in TARGETS.values() if installed(target, context.data)]


def _unwired(found: list[Target]) -> Iterator[Finding]:
    here = chosen(())
    for target in here:
        if target not in found and not (target.name == claude_code.NAME and claude_code.plugged()):
            says = f"{target.name} is on this machine, but memman is not set up in it"
            yield warn(says, f"{_TARGET} {target.name}")
    if not (found or here):
        hint = f"no agent was found on this machine; `memman install --target NAME` sets up any of {', '.join(TARGETS)}"
        yield warn("memman is not set up in any agent: nothing is recalled or saved automatically", hint=hint)


def _faults(context: Context, target: Target) -> Iterator[Finding]:
    broken = unreadable(target)
    for line in broken:
        yield fail(f"{target.name}: {line}", hint="correct the file by hand; the agent itself cannot read it either")
    if not broken:
        yield from (fail(f"{target.name}: {line}", f"{_TARGET} {target.name}") for line in drift(target, context.data))
        for says, step in switched_off(target):
            yield warn(f"{target.name}: {says}", hint=f"fine if intended; otherwise {step}")
    if target.name == codex.NAME:
        yield from (warn(says, hint=codex.APPROVE) for says in codex.skipped())
    if target.name == openclaw.NAME and not openclaw.granted():
        says = "openclaw: the plugin may not see conversations, so it cannot recall or save anything"
        yield warn(says, f"{_TARGET} openclaw --allow-conversation-access")


def _broken(data: str, path: str) -> Iterator[Finding]:
    called = _target(data)
    if not os.access(path, os.X_OK):
        yield fail(f"{path}, which hooks and units call, does not exist or is not executable", _INSTALL)
    elif not os.access(called, os.X_OK):
        yield fail(f"{path} starts {called or 'nothing'}, which does not exist", _INSTALL)
    elif read_file(path) != launch.text(data, called, launch.start(data)) or _astray(data, called):
        yield fail(f"{path} was changed or is from another version", _INSTALL)
    else:
        answer = ask(path, "--version", patience=_PATIENCE)
        if (said := (answer.out or answer.err).strip()[:80]) != _THIS:
            yield warn(f"{path} starts {called}, which is {said!a}, but this is {_THIS}", _INSTALL)


def _astray(data: str, called: str) -> bool:
    """Whether a launcher of this program starts the hot verbs otherwise than this program would have it start them."""
    held, wanted = launch.start(data), quick()
    if called != launch.program() or wanted == NONE:
        return False
    return held.library != wanted.library or os.path.realpath(held.python) != os.path.realpath(wanted.python)


def _target(data: str) -> str:
    """Return the program that the launcher starts, '' where that cannot be read."""
    try:
        return launch.target(data)
    except ValueError:  # a quote that does not end
        return ""
