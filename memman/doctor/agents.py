"""Whether each wired agent's files stand as this version ships them, and once."""

from collections.abc import Iterator
from typing import Any

from memman.doctor.finding import Context, Finding, fail, shell, skipped, sound
from memman.integrations import edits, toml_block
from memman.integrations.json5 import CannotEdit
from memman.integrations.state import drift, installed, unreadable
from memman.integrations.target import Target, text_of
from memman.integrations.targets import targets


def wired(context: Context) -> list[Target]:
    """Return the agents that memman is wired into."""
    return [target for target in targets() if installed(target, context.data)]


def check(context: Context) -> Iterator[Finding]:
    """Compare what was laid down and merged with what this version ships."""
    found = wired(context)
    if not found:
        yield skipped("no agent is wired")
        return
    faults = [fault for target in found for fault in _drift(context, target)]
    yield from sound(faults, f"{', '.join(target.name for target in found)}: as this version ships them")


def _drift(context: Context, target: Target) -> Iterator[Finding]:
    broken = unreadable(target)
    for line in broken:
        yield fail(f"{target.name}: {line}", hint="mend the file by hand; the agent itself cannot read it either")
    for line in () if broken else drift(target, context.data):
        yield fail(f"{target.name}: {line}", shell("memman", "install", "--target", target.name))


def settings(path: str) -> Any:
    """Return an agent's settings as plain values, None where there are none to be read."""
    text = text_of(path) or ""
    try:
        return toml_block.read(text) if path.endswith(".toml") else edits.at(text, ())
    except CannotEdit:
        return None
