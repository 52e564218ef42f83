"""Whether the shells that agents start find memman as agents are told to call it.

Looks at: the shells that agents start: one as after a login, one as here
Finds: what agents are told to call is not found there, or is another memman
"""

from collections.abc import Iterator
from subprocess import SubprocessError

from memman import __version__
from memman.config.command import NAME, command
from memman.doctor.agents import wired
from memman.doctor.finding import Context, Finding, skipped, sound, warn
from memman.integrations.reach import Shell, reach, run, shells

_INSTALL = "memman install"


def check(context: Context) -> Iterator[Finding]:
    """Have each kind of shell run the command."""
    if not wired(context):
        yield skipped("memman is not set up in an agent that would call it")
        return
    called = command(context.data)
    yield from sound(_faults(context.data, called), f"`{called}` starts this memman in the shells of agents")


def _faults(data: str, called: str) -> Iterator[Finding]:
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
