"""Whether the env file says what memman understands.

Looks at: the env file, the lists of folders in which nothing is remembered
Finds: open to others, bad values, lists it cannot read, budget without price; warns of unknown keys and idle variables
"""

import os
from collections.abc import Iterator

from memman.config.env import env_path, unknown
from memman.config.ignore import misread
from memman.config.keys import KEYS
from memman.doctor.finding import Context, Finding, fail, ok, shell, sound, warn
from memman.model.plural import counted
from memman.providers import unpriced


def check(context: Context) -> Iterator[Finding]:
    """Look for bad values, unknown keys, and variables that somebody may believe to count."""
    path = env_path(context.data)
    if os.path.exists(path):
        says = f"{counted(len(context.settings.said), 'key')} set in {path}"
        yield from sound((*_faults(context, path), *_unknown(context)), says)
    else:
        yield ok("no key is set, all defaults apply")
    for trouble in unpriced(context.settings).values():
        yield fail(trouble)
    for fault in misread(context.data, os.getcwd()):
        yield fail(f"{fault}, so nothing is remembered here", hint="write it as docs/secrets.md says, or remove it")
    yield from _shadows(context)


def _faults(context: Context, path: str) -> Iterator[Finding]:
    for fault in context.settings.faults:
        key = fault.split(maxsplit=1)[0].rstrip(":")
        yield fail(fault, _mend(key) if key in KEYS else shell("chmod", "600", path))


def _mend(key: str) -> str:
    """Return what makes the value good, on the side that keeps less."""
    amiss = KEYS[key].amiss
    return shell("memman", "config", "set", key, amiss) if amiss else shell("memman", "config", "unset", key)


def _unknown(context: Context) -> Iterator[Finding]:
    for name in unknown(context.data):
        yield warn(f"{name[:60]} is not a known key", shell("memman", "config", "unset", name))


def _shadows(context: Context) -> Iterator[Finding]:
    """Find variables of the shell that say other than the file: only the file counts."""
    for name in KEYS:
        if os.environ.get(name, context.settings[name]) != context.settings[name]:
            yield warn(
                f"{name} is set to something else in this shell, which has no effect",
                hint=f"set it with `memman config set {name} VALUE`, or unset the variable",
            )
