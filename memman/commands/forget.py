"""`memman forget`."""

from dataclasses import replace
from typing import Any

import click

from memman.commands.ancestors import asking
from memman.commands.printing import acted, freshness, printed, short, table, text
from memman.commands.verb import Command, data_options, place

# What became of a memory that was to be restored, by its status now.
_BECAME = {"current": "restored", "superseded": "superseded again", "review": "held back again"}


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
    if undo:
        told(govern.restore(here, ids), "not forgotten", as_json=as_json)
        return
    records = govern.forget(here, ids)
    if not printed(records, as_json=as_json):
        table([acted("forgotten" if one["changed"] else "already forgotten", one) for one in records])
        for old in [old for record in records if record["changed"] for old in record.get("replaced", ())]:
            said = ", ".join(("superseded", *freshness(old)))
            text(f"this had replaced {short(old['id'])}, which is still {said}: {old['text']}")
            text(f"to go back to that: memman insights reinstate {short(old['id'])}")


def told(records: list[dict[str, Any]], otherwise: str, *, as_json: bool) -> None:
    """Print what became of memories that were to be restored, `otherwise` of those that stay as they were."""
    if not printed(records, as_json=as_json):
        table([acted(_BECAME[one["status"]] if one["changed"] else otherwise, one) for one in records])
        for one in records:
            if one["changed"] and one["status"] == "superseded":
                text(f"to have it hold again: memman insights reinstate {short(one['id'])}")
