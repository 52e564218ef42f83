"""Whether everything works, one file per check: what is wrong, and the command that mends it. Changes nothing.

The docstring of each check's module says what it looks at and finds: `make docs` takes the table of docs/doctor.md
from there.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module

from memman.doctor.finding import Context, Finding, fail, runnable, skipped
from memman.doctor.trace import untouched
from memman.model.errors import CannotWrite, DamagedFile, MemmanError, NewerSchema, OldLibrary

# In the order they are made. Each is the function `check` of the module of its name.
CHECKS = tuple(
    """
    folder files modes disk env python sqlite sqlite-vec schema integrity log-size queue parked review vectors bindings
    sync secrets model embedder rerank scheduler drains backups units launcher command agents switches trust
    late sharing replay
    """.split()
)


def examine(context: Context, names: Collection[str] = ()) -> Iterator[tuple[str, Finding]]:
    """Run the checks, or those of `names`, in their order; one that breaks down has failed."""
    with untouched(context.databases().values()):
        for name in CHECKS:
            if not names or name in names:
                for finding in _run(name, context):
                    yield name, runnable(finding)


def _run(name: str, context: Context) -> Iterator[Finding]:
    try:
        found: Iterable[Finding] = import_module(f"{__name__}.{name.replace('-', '_')}").check(context)
        yield from found
    except (DamagedFile, NewerSchema, OldLibrary) as error:
        yield skipped(str(error))  # other checks are there for these
    except CannotWrite as error:
        # The check of the folder says so, or that of files.
        known = not os.access(context.data, os.W_OK) or any(path in str(error) for path in context.amiss)
        yield (skipped if known else fail)(str(error))
    except MemmanError as error:
        yield fail(str(error))
    except Exception as error:  # noqa: BLE001 - whatever is broken, the other checks go on
        yield fail(f"the check itself failed: {type(error).__name__}: {error}")
