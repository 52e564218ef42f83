"""Whether everything works, one file a check: what is wrong, and the command that mends it. Changes nothing."""

from collections.abc import Callable, Collection, Iterable, Iterator

from memman.doctor import (
    agents,
    bindings,
    disk,
    drains,
    embedder,
    env,
    folder,
    integrity,
    launcher,
    log_size,
    model,
    modes,
    parked,
    queue,
    replay,
    scheduler,
    schema,
    sqlite,
    sqlite_vec,
    switches,
    trust,
    units,
    vectors,
)
from memman.doctor.finding import Context, Finding, fail, skipped
from memman.model.errors import DamagedFile, MemmanError, NewerSchema, OldLibrary

# Each in the module of its name.
CHECKS: dict[str, Callable[[Context], Iterable[Finding]]] = {
    "folder": folder.check,
    "modes": modes.check,
    "disk": disk.check,
    "env": env.check,
    "sqlite": sqlite.check,
    "sqlite-vec": sqlite_vec.check,
    "schema": schema.check,
    "integrity": integrity.check,
    "log-size": log_size.check,
    "queue": queue.check,
    "parked": parked.check,
    "vectors": vectors.check,
    "bindings": bindings.check,
    "model": model.check,
    "embedder": embedder.check,
    "scheduler": scheduler.check,
    "drains": drains.check,
    "units": units.check,
    "launcher": launcher.check,
    "agents": agents.check,
    "switches": switches.check,
    "trust": trust.check,
    "replay": replay.check,
}


def examine(context: Context, names: Collection[str] = ()) -> Iterator[tuple[str, Finding]]:
    """Run the checks, or those of `names`, in their order; one that breaks down has failed."""
    for name, check in CHECKS.items():
        if not names or name in names:
            for finding in _run(check, context):
                yield name, finding


def _run(check: Callable[[Context], Iterable[Finding]], context: Context) -> Iterator[Finding]:
    try:
        yield from check(context)
    except (DamagedFile, NewerSchema, OldLibrary) as error:
        yield skipped(str(error))  # other checks are there for these
    except MemmanError as error:
        yield fail(str(error))
    except Exception as error:  # noqa: BLE001 - whatever is broken, the other checks go on
        yield fail(f"the check itself broke down: {type(error).__name__}: {error}")
