"""Whether everything works: what is wrong, and the command that mends it. Changes nothing.

The docstring of each check says what it looks at: `make docs` takes the table of docs/doctor.md from there.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib import import_module

from memman.doctor.finding import Context, Finding, fail, runnable, skipped
from memman.model.errors import CannotWrite, DamagedFile, MemmanError, NewerSchema, OldLibrary

# The modules, in order, and their checks: functions of these names.
_MODULES = {
    "folder": "folder",
    "databases": "integrity queue backups review",
    "drains": "drains scheduler",
    "agents": "agents launcher",
    "model": "model",
    "sharing": "sharing",
}
CHECKS = {name: module for module, names in _MODULES.items() for name in names.split()}


def examine(context: Context, names: Collection[str] = ()) -> Iterator[tuple[str, Finding]]:
    """Run the checks, or those of `names`, in their order; one that breaks down has failed, and says so once."""
    failed = set[str]()
    for name in (name for name in CHECKS if not names or name in names):
        for finding in map(runnable, _run(name, context)):
            yield name, skipped(finding.says) if finding.says in failed else finding
            failed |= {finding.says} if finding.status == "fail" else set()


def check_of(name: str) -> Callable[[Context], Iterable[Finding]]:
    """Return the function that makes a check."""
    check: Callable[[Context], Iterable[Finding]] = getattr(import_module(f"{__name__}.{CHECKS[name]}"), name)
    return check


def _run(name: str, context: Context) -> Iterator[Finding]:
    try:
        yield from check_of(name)(context)
    except (DamagedFile, NewerSchema, OldLibrary) as error:
        yield skipped(str(error))  # the check of integrity says so
    except CannotWrite as error:  # the check of the folder says that nothing can be written there
        yield (fail if os.access(context.data, os.W_OK) else skipped)(str(error))
    except MemmanError as error:
        yield fail(str(error))
    except Exception as error:  # noqa: BLE001 - whatever is broken, the other checks go on
        yield fail(f"the check itself failed: {type(error).__name__}: {error}")
