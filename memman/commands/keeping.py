"""`memman insights` and `memman gc`: how long memories hold, and what is worth keeping."""

from typing import Any

import click

from memman.belief import FEEDBACK
from memman.clock import now_ms
from memman.commands.person import confirm
from memman.commands.printing import (
    acted,
    ago,
    as_data,
    holds,
    labelled,
    listed,
    named,
    printed,
    short,
    table,
    text,
    when,
)
from memman.commands.verb import Command, data_options, limit_option, place
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.worth import BOUND

Records = list[dict[str, Any]]
_ids = click.argument("ids", nargs=-1, required=True, metavar="ID...")
below_option = click.option(
    "--below",
    type=click.FloatRange(0, 2),
    default=BOUND,
    show_default=True,
    help="Only what is worth less: 1 is important and new.",
)


@click.command(cls=Command)
@_ids
@click.option("--at", metavar="TIME", help="Until when they hold: 2026-12-01, 14d, Friday, end of March; default: now.")
@click.option("--never", is_flag=True, help="Have them hold for ever.")
@data_options
def expire(ids: tuple[str, ...], at: str | None, never: bool, as_json: bool) -> None:
    """Say until when memories hold, or that they hold no longer.

    After that they are labelled, and shown only when asked for.
    """
    from memman.govern import freshness as govern
    from memman.hot.moment import end

    if never and at is not None:
        raise UsageError("give --at TIME or --never, not both")
    now = now_ms()
    ends_at = None if never else now if at is None else end(at, "at")
    said = "holds for ever" if ends_at is None else f"holds until {when(ends_at)}" if ends_at > now else "is over now"
    _done(govern.expire(place(), ids, ends_at), said, f"already {said}", as_json=as_json)


@click.command(cls=Command)
@_ids
@data_options
def verify(ids: tuple[str, ...], as_json: bool) -> None:
    """Record that memories are still true: an end that has passed and changed files count no longer."""
    from memman.govern import freshness as govern
    from memman.govern import insights

    confirm("Are these still true?", listed=map(named, insights.shown(place(), ids)))
    _done(govern.verify(place(), ids), "verified", "", as_json=as_json)


@click.command(cls=Command)
@limit_option
@data_options
def stale(limit: int, as_json: bool) -> None:
    """List memories that may be out of date: past their end, with changed files, reported, or old."""
    from memman.govern import freshness as govern

    records = listed(lambda most: govern.stale(place(), limit=most), limit)
    _listed(records, "nothing is out of date, as far as can be told", as_json=as_json)


@click.command(cls=Command)
@click.argument("id_", metavar="ID")
@click.argument("kind", type=click.Choice(FEEDBACK))
@data_options
def feedback(id_: str, kind: str, as_json: bool) -> None:
    """Report that a memory was helpful, wrong or stale; each session counts once, its last word."""
    from memman.govern import freshness as govern
    from memman.hot.provenance import session

    _done(govern.feedback(place(), id_, kind, session()), f"reported {kind}", "already reported", as_json=as_json)


@click.command(cls=Command)
@below_option
@limit_option
@data_options
def candidates(below: float, limit: int, as_json: bool) -> None:
    """List the memories least worth keeping, and why.

    Protected memories, preferences and what a person approved are always kept.
    """
    from memman.govern import retention as govern

    records = listed(lambda most: govern.candidates(place(), below=below, limit=most), limit)
    _listed(records, f"no memory is worth less than {below:g}", as_json=as_json)


@click.command(cls=Command)
@_ids
@data_options
def archive(ids: tuple[str, ...], as_json: bool) -> None:
    """Put memories out of recall; `insights restore` brings them back."""
    from memman.govern import retention as govern

    _done(govern.archive(place(), ids), "archived", "not in recall already", as_json=as_json)


@click.command(cls=Command)
@_ids
@data_options
def restore(ids: tuple[str, ...], as_json: bool) -> None:
    """Bring back memories that were archived or forgotten."""
    from memman.commands.forget import restore as restored
    from memman.commands.forget import told

    records = restored(place(), ids)
    if not printed(records, as_json=as_json):
        told(records, "not archived")


def _done(records: Records, said: str, otherwise: str, *, as_json: bool) -> None:
    if not printed(records, as_json=as_json):
        table([acted(said if one["changed"] else otherwise, one) for one in records])


def _listed(records: Records, otherwise: str, *, as_json: bool) -> None:
    if as_json:
        as_data(records)
    elif not records:
        text(otherwise)
    else:
        table(map(listed_row, records), heads=HEADS)


# The heads of a table of these.
HEADS = ("id", "worth", "age", "category", "source", "why", "text")


def listed_row(record: dict[str, Any]) -> tuple[object, ...]:
    """Return the line of a memory that has a `why`, and maybe a `worth`."""
    value = f"{record['worth']:.3f}" if "worth" in record else ""
    shown = (short(record["uid"]), value, ago(record["valid_from"]), record["category"])
    return (*shown, labelled(record, holds(record)), "; ".join(record["why"]), record["text"])


@click.command(cls=Command)
@click.option("--dry-run", is_flag=True, help="Only list what would be archived.")
@below_option
@data_options
def gc(dry_run: bool, below: float, as_json: bool) -> None:
    """Archive the memories least worth keeping, those of `insights candidates`.

    Nothing is deleted: `memman insights restore` brings each back.
    """
    from memman.govern import retention as govern

    where = place()
    found = govern.candidates(where, below=below, limit=None)
    if not dry_run and found:
        told = (f"{short(one['uid'])}  {labelled(one)}  {'; '.join(one['why'])}  {one['text']}" for one in found)
        confirm(f"Archive {counted(len(found), 'memory')}?", listed=told)
        found = govern.collect(where, found, below)
    if as_json:
        as_data(found)
    elif dry_run or not found:
        table(map(listed_row, found), heads=HEADS)
        text(f"{counted(len(found), 'memory')} worth less than {below:g}")
    else:
        table([acted("archived", one) for one in found])


COMMANDS = (expire, verify, stale, feedback, candidates, archive, restore)
