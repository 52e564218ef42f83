"""`memman undo`."""

from typing import Any

import click

from memman.clock import now_ms
from memman.commands.person import confirm
from memman.commands.printing import acted, printed, short, table, text, when
from memman.commands.verb import Command, data_options, place
from memman.model.errors import UsageError

LIST = "list"


@click.command(cls=Command)
@click.argument("id_", required=False, metavar="[ID | list]")
@click.option("--session", metavar="S", help="Undo all that a session wrote, forgot and reported.")
@click.option("--drain", metavar="D", help="Undo all that one drain stored; `last` is the newest.")
@click.option("--since", metavar="TIME", help="Undo all since: 2026-11-01T10:00, 7d, 2h, yesterday.")
@click.option("--dry-run", is_flag=True, help="Only show what would be undone.")
@data_options
def undo(
    id_: str | None, session: str | None, drain: str | None, since: str | None, dry_run: bool, as_json: bool
) -> None:
    """Take back a write, a session, a drain, or everything since a time; an undo can be undone by its own id.

    ID is a note, a memory (everything its note did), or an earlier undo; `memman undo list` shows these.
    """
    from memman.govern import undo as govern
    from memman.govern.undo import Asked
    from memman.hot.moment import moment

    if sum(said is not None for said in (id_, session, drain, since)) != 1:
        raise UsageError("give one of: an ID, list, --session, --drain or --since")
    where = place()
    if id_ == LIST:
        _list(govern.listed(where), as_json=as_json)
        return
    moment_ = None if since is None else moment(since, "since")
    if moment_ is not None and moment_ > now_ms():
        raise UsageError(f"--since {since} is still to come: nothing was stored since then")
    asked = Asked(id_ or "", session or "", drain or "", moment_)
    planned = govern.preview(where, asked)
    if not dry_run and planned["changed"]:
        confirm(f"Undo {planned['what']}?", listed=_lines(planned, "would be "))
        planned = govern.undo(where, asked)
    if not printed(planned, as_json=as_json):
        _tell(planned, dry_run=dry_run)


def _lines(report: dict[str, Any], before: str = "") -> list[str]:
    """Write a line for each memory and note that an undo changes or leaves; `before` stands before each change."""
    rows = [acted(before + one["became"], one) for one in report["memories"]]
    rows += [acted(before + one["became"], one | {"kind": "note"}) for one in report["notes"]]
    rows += [(f"{one['folder']} {one['became']}",) for one in report["names"]]
    rows += [acted(f"left, {one['why']}", one) for one in report["left"]]
    return ["  ".join(filter(None, row)) for row in rows]


def _tell(report: dict[str, Any], *, dry_run: bool) -> None:
    for line in _lines(report, "would be " if dry_run else ""):
        text(line)
    if not report["changed"]:
        text("there is nothing to undo")
    elif dry_run:
        text("nothing was changed: this was a dry run")
    else:
        text(f"to take this back: memman undo {short(report['id'], note=True)}")


def _list(records: list[dict[str, Any]], *, as_json: bool) -> None:
    if printed(records, as_json=as_json):
        return
    rows = ((short(one["id"], note=True), when(one["at"]), one["what"], _fate(one), one["did"]) for one in records)
    table(rows)


def _fate(record: dict[str, Any]) -> str:
    return f"undone by {short(record['undone'], note=True)}" if record["undone"] else ""
