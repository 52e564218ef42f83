"""Whether the queue and every store are sound databases."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing

import apsw

from memman.doctor.finding import Context, Finding, backup, counted, fail, shell, skipped, sound
from memman.model.errors import DamagedFile, MemmanError
from memman.queue.schema import STEPS as QUEUE
from memman.sqlite import COMPANIONS, Guard, open_reader
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.schema import migrate

_KEEP = "keep what is moved aside: it may still be read"


def check(context: Context) -> Iterator[Finding]:
    """Let SQLite check each file."""
    found = context.databases()
    if not found:
        yield skipped("no database yet")
        return
    troubles = (finding for what, path in found.items() for finding in _look(context.data, what, path))
    yield from sound(troubles, f"{counted(len(found), 'database')}, all sound")


def _look(data: str, what: str, path: str) -> Iterator[Finding]:
    if not os.path.getsize(path) and not _held(path + "-wal"):
        yield fail(f"{what} ({path}) is empty: 0 bytes", _aside(data, what, path), backup(path, _KEEP))
        return
    try:
        with Guard(path), closing(open_reader(path)) as db:
            says = _complaints(db) or _lacks(db, QUEUE if what == "queue" else STORE)
    except MemmanError as error:
        if not isinstance(error, DamagedFile):
            yield fail(str(error))
            return
        says = "it is no sound database"
    if says:
        yield fail(f"{what} ({path}) is damaged: {says}", _aside(data, what, path), backup(path, _KEEP))


def _complaints(db: apsw.Connection) -> str:
    said = [str(line) for (line,) in db.execute("PRAGMA quick_check(3)")]
    return "" if said == ["ok"] else " ".join("; ".join(said).split())[:200]


def _lacks(db: apsw.Connection, steps: Sequence[str]) -> str:
    """Name the tables that a file of this schema must have and has not; an older one is upgraded on its next use."""
    if db.execute("PRAGMA user_version").get != len(steps):
        return ""
    with closing(apsw.Connection(":memory:")) as model:
        migrate(model, ":memory:", steps)
        lost = sorted(_tables(model) - _tables(db))
    return f"it lacks {', '.join(lost)}" if lost else ""


def _tables(db: apsw.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _held(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0


def _aside(data: str, what: str, path: str) -> str:
    """Return the command that moves a broken file where it can be kept."""
    if what != "queue":
        return shell("memman", "store", "remove", path.split("/")[-2], "--yes")
    target = f"{data}/removed/queue-{int(os.stat(path).st_mtime)}"
    moved = [path + end for end in COMPANIONS if os.path.exists(path + end)]
    return f"{shell('mkdir', '-p', '-m', '700', data + '/removed', target)} && {shell('mv', *moved, target)}"
