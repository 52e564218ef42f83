"""`memman why`."""

from typing import Any

import click

from memman.cli.log import change
from memman.cli.options import json_option, place, store_option
from memman.cli.show import as_data, pairs, short, text, when
from memman.config.scope import PERSONAL
from memman.model.plural import counted
from memman.model.text import sourced


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@store_option
def why(ids: tuple[str, ...], as_json: bool) -> None:
    """Show where a memory comes from, what became of it, and where it was shown.

    What its note said is shown to people only, while the queue still has it.
    """
    from memman.govern import looking_back

    records = looking_back.why(place(), ids)
    if as_json:
        as_data(records)
        return
    for number, record in enumerate(records):
        if number:
            text("")
        _print(record)


def _print(record: dict[str, Any]) -> None:
    came = record["provenance"] or {}
    pairs(
        {
            "id": record["uid"],
            "text": record["text"],
            "status": record["status"],
            "scope": record["scope"] or PERSONAL,
            "source": sourced(record["source"]),
            "note": record["note"],
            "said": record["said"],
            **{name: came.get(name) for name in ("agent", "session", "repository", "revision", "drain")},
            "recorded": when(record["recorded_at"]),
            "made by": ", ".join(f"{stage}: {model}" for stage, model in record["models"].items()),
            "replaced": ", ".join(short(other["uid"]) for other in record["before"]),
            "replaced by": short(record["superseded_by"] or ""),
            "evidence": ", ".join(f"{one['kind']} {when(one['at'])}" for one in record["evidence"]),
        }
    )
    for one in record["changes"]:
        text(f"{when(one['at'])}  {one['verb']:<9}  {change(one)}".rstrip())
    for one in record["shown"]:
        where = " ".join(filter(None, (one["way"], one["agent"], one["session"])))
        text(f"{when(one['at'])}  shown      {where}, {counted(one['times'], 'time')}, {one['tokens']} tokens")
