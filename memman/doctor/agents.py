"""Whether the agents of this machine are wired, and each one's files stand as this version ships them, and once.

Looks at: the agents on this machine, and memman's part of each one's settings
Finds: warns if an agent is not wired or its settings are read-only; fails if they differ from what this version
ships, or hooks would fire twice
"""

from collections.abc import Iterator
from typing import Any

from memman.doctor.finding import Context, Finding, fail, shell, sound, warn, writable
from memman.integrations import claude_code, edits, toml_block
from memman.integrations.files import read_only
from memman.integrations.json5 import CannotEdit
from memman.integrations.state import drift, expected, installed, unreadable
from memman.integrations.target import Target, text_of
from memman.integrations.targets import TARGETS, chosen, targets
from memman.model.errors import MemmanError

_ELSEWHERE = "if another program generates these files, change them there; else make them writable"


def wired(context: Context) -> list[Target]:
    """Return the agents that memman is wired into."""
    return [target for target in targets() if installed(target, context.data)]


def check(context: Context) -> Iterator[Finding]:
    """Compare what was laid down and merged with what this version ships, and with which agents there are."""
    found = wired(context)
    faults = [*_unwired(context, found), *(fault for target in found for fault in _faults(context, target))]
    names = [target.name for target in found] or ["Claude Code's plugin"]
    yield from sound(faults, f"{', '.join(names)}: up to date")


def _unwired(context: Context, found: list[Target]) -> Iterator[Finding]:
    here = chosen(())
    for target in here:
        if target not in found and not (target.name == claude_code.NAME and claude_code.plugged()):
            yield _offered(context, target)
    if not (found or here):
        hint = f"no agent was found on this machine; `memman install --target NAME` sets up any of {', '.join(TARGETS)}"
        yield warn("memman is not set up in any agent: nothing is recalled or saved automatically", hint=hint)


def _offered(context: Context, target: Target) -> Finding:
    """Say that an agent is there and knows nothing of memman, and what lets it."""
    says = f"{target.name} is on this machine, but memman is not set up in it"
    if broken := unreadable(target):
        return warn(f"{says}: {broken[0]}", hint=f"correct the file by hand, then {_install(target)}")
    shut = _read_only(context, target)
    allow = writable(*shut) if shut else ""
    if shut and not allow:
        return warn(f"{says}: {shut[0]} cannot be written", hint=_ELSEWHERE)
    return warn(says, f"{allow} && {_install(target)}" if allow else _install(target))


def _install(target: Target) -> str:
    return shell("memman", "install", "--target", target.name)


def _faults(context: Context, target: Target) -> Iterator[Finding]:
    broken = unreadable(target)
    for line in broken:
        yield fail(f"{target.name}: {line}", hint="correct the file by hand; the agent itself cannot read it either")
    if broken:
        return
    wrong, shut = drift(target, context.data), _read_only(context, target)
    install = _install(target)
    if not shut:
        for line in wrong:
            yield fail(f"{target.name}: {line}", install)
        return
    allow = writable(*shut)
    mend = f"{allow} && {install}" if allow and wrong else allow
    lost = "it was changed or is from another version" if wrong else "memman can neither update nor remove its part"
    more = f" and {len(shut) - 1} more" if len(shut) > 1 else ""
    yield (fail if wrong else warn)(f"{target.name}: {shut[0]}{more} cannot be written: {lost}", mend, _ELSEWHERE)


def _read_only(context: Context, target: Target) -> list[str]:
    """Return the files and folders of a target that install could not write."""
    try:
        files = expected(target, context.data)
    except (MemmanError, CannotEdit):  # drift says so
        return []
    return list(dict.fromkeys(place for file in files for place in read_only(file.path)))


def settings(path: str) -> Any:
    """Return an agent's settings as plain values, None where there are none to be read."""
    text = text_of(path) or ""
    try:
        return toml_block.read(text) if path.endswith(".toml") else edits.at(text, ())
    except CannotEdit:
        return None
