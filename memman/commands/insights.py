"""`memman insights`: protect, verify, expire, report, archive and reinstate memories; and look at them."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from memman.belief import FEEDBACK
from memman.clock import now_ms
from memman.commands import list as lists
from memman.commands.forget import restore as restored
from memman.commands.forget import told
from memman.commands.list import listing
from memman.commands.person import confirm
from memman.commands.place import Opened, Place, Records, asked_about, changed, opened
from memman.commands.printing import did, labelled, named, short, text, when
from memman.commands.show import show
from memman.commands.verb import Group, ids_argument, store_option
from memman.config.repository import repository
from memman.hot.grammar import end
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.worth import BOUND
from memman.store.sqlite import quality
from memman.store.sqlite.catalogue import Catalogue

if TYPE_CHECKING:
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.unit import SqliteUnit


@click.group(cls=Group)
@store_option
def insights() -> None:
    """Protect, verify, expire, report, archive and reinstate memories."""


insights.add_command(listing)
insights.add_command(show)


@insights.verb("stale", opened=True, shows=lists.print_stale, counts=len, none=lists.NO_STALE)
def stale(store: Opened, *, limit: int = 20) -> Records:
    """List memories that may be out of date, as `list --stale` does."""
    return lists.stale(store, limit=limit)


@insights.verb("candidates", opened=True, shows=lists.print_least, counts=len, none=lists.NO_LEAST)
@click.option("--below", type=click.FloatRange(0, 2), default=BOUND, show_default=True, help="Only what is worth less.")
def candidates(store: Opened, *, below: float = BOUND, limit: int = 20) -> Records:
    """List the memories least worth keeping, as `list --least` does."""
    return lists.least(store, below=below, limit=limit)


def _protected(records: Records) -> None:
    did("protected" if records[0]["protected"] else "no longer protected")(records)


def _ask_protect(place: Place, ids: Sequence[str], *, undo: bool) -> None:
    question = "Remove the protection of these memories?" if undo else "Protect these memories?"
    confirm(question, listed=map(named, asked_about(place, ids)))


@insights.verb(shows=_protected, asks=_ask_protect)
@ids_argument
@click.option("--undo", is_flag=True, help="Remove the protection.")
def protect(place: Place, ids: Sequence[str], *, undo: bool = False) -> Records:
    """Protect memories from being superseded automatically; `replace` and `forget` still work."""
    records = changed(
        place, ids, "insights protect", lambda _, unit, memory, now: unit.protect(memory, now, wanted=not undo)
    )
    return [one | {"protected": not undo} for one in records]


def _expired(records: Records) -> None:
    ends, now = records[0]["ends_at"], now_ms()
    said = "holds for ever" if ends is None else f"holds until {when(ends)}" if ends > now else "is over now"
    did(said)(records)


@insights.verb(shows=_expired)
@ids_argument
@click.option("--at", metavar="TIME", help="Until when they hold: 2026-12-01, 14d, Friday, end of March; default: now.")
@click.option("--never", is_flag=True, help="Remove the end.")
def expire(place: Place, ids: Sequence[str], *, at: str | None = None, never: bool = False) -> Records:
    """Set until when memories hold; by default they end now.

    After that they are labelled, and recall lists them last.
    """
    if never and at is not None:
        raise UsageError("give --at TIME or --never, not both")
    ends = None if never else now_ms() if at is None else end(at, "at")
    return changed(place, ids, "insights expire", lambda _, unit, memory, now: unit.expire(memory, ends, now))


@insights.verb(
    shows=did("verified"),
    asks=lambda place, ids: confirm("Are these still true?", listed=map(named, asked_about(place, ids))),
)
@ids_argument
def verify(place: Place, ids: Sequence[str]) -> Records:
    """Record that memories are still true, in spite of a passed end or changed files."""
    return changed(place, ids, "insights verify", _verified)


def _verified(store: "SqliteStore", unit: "SqliteUnit", memory: int, now: int) -> bool:
    from memman.pipeline.enrich import blobs

    files = quality.files_of(store.reader, memory)
    cwd = files[0].cwd if files else ""
    root = repository(cwd) if cwd and os.path.isdir(cwd) else None
    unit.verify(memory, blobs(root.root, (row.path for row in files)) if root else {}, "", now)
    return True


def _reported(records: Records) -> None:
    did(f"reported {records[0]['reported']}", "already reported")(records)


@insights.verb(shows=_reported)
@click.argument("id_", metavar="ID")
@click.argument("kind", type=click.Choice(FEEDBACK))
def feedback(place: Place, id_: str, kind: str) -> Records:
    """Report that a memory was helpful, wrong or stale; each session's last report counts."""
    by = place.session
    records = changed(
        place, [id_], "insights feedback", lambda _, unit, memory, now: unit.report(memory, kind, by, now)
    )
    return [one | {"reported": kind} for one in records]


def _archived(records: Records) -> None:
    did("archived", "not in recall already")(records)
    if not records:
        text("no memory is worth so little")


@insights.verb(shows=_archived)
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--least", is_flag=True, help="Archive what `list --least` shows, instead of IDs.")
@click.option(
    "--below", type=click.FloatRange(0, 2), default=BOUND, show_default=True, help="With --least: up to this worth."
)
def archive(place: Place, ids: Sequence[str] = (), *, least: bool = False, below: float = BOUND) -> Records:
    """Remove memories from recall; `insights restore` brings them back."""
    if bool(ids) == least:
        raise UsageError("give either IDs or --least")
    why = "by hand"
    if least:
        with opened(place) as store:
            found = lists.least(store, below=below, limit=None)
        if found:
            lines = (f"{short(one['uid'])}  {labelled(one)}  {'; '.join(one['why'])}  {one['text']}" for one in found)
            confirm(f"Archive {counted(len(found), 'memory')}?", listed=lines)
        # What was used, said again or protected meanwhile is kept.
        with opened(place) as store:
            still = {one["uid"] for one in lists.least(store, below=below, limit=None)}
        ids, why = (
            [one["uid"] for one in found if one["uid"] in still],
            f"insights archive --least: worth less than {below:g}",
        )
    return changed(
        place, ids, "insights archive", lambda _, unit, memory, now: unit.forget(memory, now, "archive", why)
    )


@insights.verb(shows=lambda records: told(records, "not archived"))
@ids_argument
def restore(place: Place, ids: Sequence[str]) -> Records:
    """Bring back memories that were archived or forgotten."""
    return restored(place, ids)


def _reinstated(records: Records) -> None:
    did("current again", "not superseded")(records)
    for one in [one for one in records if one["changed"]]:
        text(f"{short(one['successor'])}, which had replaced it, is kept too; `memman forget` removes it")


@insights.verb(shows=_reinstated)
@ids_argument
def reinstate(place: Place, ids: Sequence[str]) -> Records:
    """Make superseded memories current again, with their original dates and source.

    The memories that replaced them are kept; `memman forget` removes those.
    """
    heirs: list[str | None] = []

    def change(store: "SqliteStore", unit: "SqliteUnit", memory: int, now: int) -> bool:
        heirs.append(next((heir["uid"] for heir in Catalogue(store.reader, store.path).successors(memory)), None))
        return unit.reinstate(memory, now)

    records = changed(place, ids, "insights reinstate", change)
    return [one | {"successor": heir} for one, heir in zip(records, heirs, strict=True)]
