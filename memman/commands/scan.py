"""`memman scan`."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, NamedTuple

import click

from memman.clock import now_ms
from memman.commands.person import confirm
from memman.commands.place import Place, expected, writing
from memman.commands.printing import lines, short, table, text
from memman.commands.verb import verb
from memman.config import lockfile, stores
from memman.config.places import (
    LOG_FILES,
    files_of,
    handovers_path,
    log_path,
    queue_path,
    sessions_path,
    split_lines,
    text_at,
    write_file,
)
from memman.config.schedule import refuse_stopped
from memman.locks import drain_lock
from memman.model.errors import MemmanError
from memman.model.plural import counted
from memman.model.vocabulary import BUILTIN
from memman.queue.notes import Queue
from memman.recovery import copies, leaks
from memman.secrets.leaks import leaks as leaking
from memman.secrets.matcher import redact
from memman.sqlite import Transaction, TranslatedErrors, open_reader, there
from memman.store.sqlite import index, rules, scopes, screened, vectors, words
from memman.store.sqlite.purge import forget_samples
from memman.upkeep.maintenance import mark, scrub
from memman.upkeep.rules import publish

if TYPE_CHECKING:
    from memman.store.sqlite.unit import SqliteUnit


# Seconds that a drain at work is waited for.
_PATIENCE = 60


class Leak(NamedTuple):
    """A secret that is stored: in which store or file, whose it is, and what it is without showing it."""

    where: str
    id: str
    rule: str
    excerpt: str


class Scan(NamedTuple):
    """What a scan found, and the files with a secret in them that memman does not use: a person deletes those.

    `left` counts what is still there once it was mended, of which only others may change the memories `others`.
    """

    findings: list[Leak]
    copies: list[str]
    left: int = 0
    others: Sequence[str] = ()


def search(place: Place, *, named: bool) -> Scan:
    """Look through the stores, or the one that is `named`, the queue, the logs, the sessions and every copy."""
    findings: list[Leak] = []
    for one in _places(place, named=named):
        if one.exists:
            findings += _findings(one.name, one.path)
    findings += _findings("queue", queue_path(place.data))
    for path in _files(place.data):
        held = leaking(text_at(path))
        findings += [Leak(os.path.relpath(path, place.data), "", *leak) for leak in held]
    return Scan(findings, [path for path in copies.copied(place.data) if _leaks(path)], len(findings))


def mend(place: Place, *, named: bool) -> list[str]:
    """Take secrets out of what `search` looks through, copies apart; return the ids of what only others may change.

    Raises Busy where a drain goes on for too long.
    """
    left: list[str] = []
    refuse_stopped(place.data, "scan --fix")
    with drain_lock(place.data, _PATIENCE), closing(Queue(place.data)) as queue:
        with TranslatedErrors(queue.path), Transaction(queue.db):
            for leak in leaks.found(queue.db):
                leaks.mend(queue.db, leak)
        for one in _places(place, named=named):
            if one.exists:
                mark(queue, one.name)
                left += _fix_store(one)
        publish(place.data)
        for path in _files(place.data):
            _fix_file(path)
        _wipe(place.data, queue)
    return left


def _places(place: Place, *, named: bool) -> list[Place]:
    return [expected(place)] if named else [Place(place.data, name, "") for name in stores.names(place.data)]


def _fix_store(place: Place) -> list[str]:
    """Take secrets out of the records, have the index follow, and then out of what no record has."""
    with writing(place) as store, store.unit() as unit:
        told: dict[str, set[str]] = {}
        others, left = scopes.of_others(unit.db), dict[tuple[str, int], str]()
        for one in leaks.found(unit.db):
            if (at := (one.table, one.key.get("rowid", 0))) in others:
                left[at] = one.shown
            elif one.table == "record":
                leaks.mend(unit.db, one)
                told.setdefault(one.shown, set()).update(leak.rule for leak in one.leaks)
        rows = index.rewrite(unit.db, told)
        unit.settle(rows)
        rules.drop_scopes(unit.db)
        for one in leaks.found(unit.db):
            if (one.table, one.key.get("rowid", 0)) not in left:
                leaks.mend(unit.db, one)
        for uid, names in told.items():
            unit.record(now_ms(), uid, "redact", {}, None, {"why": ", ".join(sorted(names))})
        screened.mark_all(unit.db)
        screened.mark(unit.db, (row for table, row in left if table == "memory"), leaky=True)
        _find_anew(unit, rows)
        return [*left.values()]


def _find_anew(unit: "SqliteUnit", rows: Sequence[int]) -> None:
    """Write the text index of memories afresh, and of those whose context they are; drains make new vectors."""
    if not rows:
        return
    words.renew(unit.db, rows)
    vectors.wipe(unit.db, rows)
    vectors.wipe(unit.db, words.touched(unit.db, rows), BUILTIN)
    vectors.fall_back(unit.db, min(rows))
    forget_samples(unit.db)


def _wipe(data: str, queue: Queue) -> None:
    """Write the files anew without what was taken out; what a reader keeps from it is left to the next drain."""
    from memman.store.sqlite.store import open_store

    with ExitStack() as open_stores:
        scrub(data, queue, lambda name: open_stores.enter_context(closing(open_store(data, name))))


def _findings(where: str, path: str) -> Iterator[Leak]:
    if not there(path):
        return
    with TranslatedErrors(path), closing(open_reader(path)) as db:
        for one in leaks.found(db):
            for leak in one.leaks:
                yield Leak(where, one.shown, *leak)


def _leaks(path: str) -> bool:
    """Whether a copy holds a secret: a database in its tables, any other in its text."""
    try:
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            return any(True for _ in leaks.found(db))
    except MemmanError:
        return bool(leaking(text_at(path)))


def _files(data: str) -> Iterator[str]:
    """List the worker's logs and what hooks keep of sessions."""
    yield from (log_path(data, number) for number in range(LOG_FILES))
    yield from (*files_of(sessions_path(data)), *files_of(handovers_path(data)))


def _fix_file(path: str) -> None:
    """Write a file without its secrets: a log anew, a session's in place, for hooks hold it open."""
    said = text_at(path)
    if not leaking(said):
        return
    if "/logs/" in path:
        write_file(path, "".join(redact(line) for line in split_lines(said, ends=True)))
        return
    lockfile.edit(path, redact)


def _print(found: Scan) -> None:
    table([(one.where, short(one.id), one.rule, one.excerpt) for one in found.findings])
    lines(f"this copy contains secrets: {path}" for path in found.copies)
    mended = len(found.findings) - found.left
    done = f", {mended} removed; revoke or change them, because they may have been read already" if mended else ""
    text(f"{counted(len(found.findings), 'secret')} found{done}")
    if found.others:
        says = "other members wrote these: they run `memman scan --fix`, or an owner of the store does"
        text(f"{says}: {', '.join(map(short, found.others))}")


@verb("scan", shows=_print, code=lambda found: 1 if found.left or found.copies else 0)
@click.option("--fix", is_flag=True, help="Remove them permanently, except from backups and other copies.")
def scan(place: Place, *, fix: bool) -> Scan:
    """Search everything stored for secrets; --fix removes them.

    Shows where each one is, the rule that found it and the text around it, never the secret itself. Backups and copies
    are listed but not changed. The exit code is 1 if a secret is left.
    """
    named = place.named
    before = search(place, named=named)
    if not fix:
        return before
    confirm("Remove these secrets permanently?", listed=("  ".join(map(str, found)) for found in before.findings))
    others = mend(place, named=named)
    after = search(place, named=named)
    return Scan(before.findings, after.copies, len(after.findings), others)
