"""`memman forget`."""

from dataclasses import replace
from typing import Any

import click

from memman.commands.ancestors import asking
from memman.commands.printing import acted, freshness, printed, short, table, text
from memman.commands.verb import Command, data_options, place


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--undo", is_flag=True, help="Restore forgotten memories.")
@data_options
def forget(ids: tuple[str, ...], undo: bool, as_json: bool) -> None:
    """Forget memories; --undo brings them back.

    ID is a memory, a note (all memories from it), or a note still in the queue. `memman purge` deletes permanently.
    """
    from memman.govern import forget as govern

    here = replace(place(), agent=asking())
    records = (govern.restore if undo else govern.forget)(here, ids)
    if not printed(records, as_json=as_json):
        table([_row(record, undo=undo) for record in records])
        for old in [old for record in records if record["changed"] for old in record.get("replaced", ())]:
            said = ", ".join(("superseded", *freshness(old)))
            text(f"this had replaced {short(old['id'])}, which is still {said}: {old['text']}")
            text(f"to go back to that: memman insights reinstate {short(old['id'])}")


def _row(record: dict[str, Any], *, undo: bool) -> tuple[str, ...]:
    changed, unchanged = ("restored", "not forgotten") if undo else ("forgotten", "already forgotten")
    return acted(changed if record["changed"] else unchanged, record)
