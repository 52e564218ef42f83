"""`memman log`."""

from typing import Any

import click

from memman.cli.group import Group
from memman.cli.options import json_option, limit_option, place, store_option
from memman.cli.show import as_data, short, text, when

_MOMENTS = ("valid_from", "valid_to")


@click.group(cls=Group)
@store_option
def log() -> None:
    """Show what was done to which memory."""


@log.command("list")
@limit_option
@click.option("--since", metavar="TIME", help="Only since then: 2026-11-01, 2026-11-01T10:00, 7d or 12h.")
@click.option("--memory", metavar="ID", help="Only what was done to this memory.")
@json_option
@store_option
def list_(limit: int, since: str | None, memory: str | None, as_json: bool) -> None:
    """List what was done, newest first, with what changed."""
    from memman.govern.log import lines
    from memman.hot.moment import moment

    after = None if since is None else moment(since, "since")
    records = lines(place(), limit=limit, since=after, memory=memory)
    if as_json:
        as_data(records)
    else:
        for record in records:
            text(f"{when(record['at'])}  {record['verb']:<9}  {short(record['memory'])}  {_change(record)}")


def _change(record: dict[str, Any]) -> str:
    before, after = record["before"] or {}, record["after"] or {}
    names = dict.fromkeys((*before, *after))
    changes = [f"{name}: {_shift(name, before.get(name), after.get(name))}" for name in names]
    note = f"note {short(record['note'], note=True)}" if record["note"] else ""
    return "  ".join(filter(None, (note, "; ".join(changes))))


def _shift(name: str, before: object, after: object) -> str:
    before, after = (_moment(value) if name in _MOMENTS else value for value in (before, after))
    return f"{after}" if before is None else f"{before} → {'-' if after is None else after}"


def _moment(value: object) -> object:
    return when(value) if isinstance(value, int) else value
