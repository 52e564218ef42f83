"""`memman cost`."""

from typing import Any

import click

from memman.cli.options import json_option, place, store_option
from memman.cli.show import as_data, table, text, when
from memman.model.plural import counted


@click.command()
@click.option("--since", metavar="TIME", default="7d", show_default=True, help="From when on: 2026-11-01, 7d, 12h.")
@json_option
@store_option
def cost(since: str, as_json: bool) -> None:
    """Show what models cost, and how many tokens of memories were shown.

    What was spent is counted by day (UTC), stage, model and repository, in all stores. Of what was shown the lines of
    memories count, not what stands around them; the drain counts what the last hooks showed.
    """
    from memman.govern import looking_back
    from memman.hot.moment import moment

    record = looking_back.cost(place(), moment(since, "since"))
    if as_json:
        as_data(record)
        return
    spent = [(one["day"], one["stage"], _model(one), one["repository"], _bill(one)) for one in record["spent"]]
    shown = [
        (when(one["at"]), one["way"], one["agent"], one["session"], f"{one['memories']} shown, {one['tokens']} tokens")
        for one in record["shown"]
    ]
    for head, rows in (("spent", spent), ("shown", shown)):
        text(head if rows else f"{head}: nothing")
        if rows:
            table(rows)


def _model(one: dict[str, Any]) -> str:
    return f"{one['provider']}/{one['model']}"


def _bill(one: dict[str, Any]) -> str:
    unpriced = " and what has no price" if one["unpriced"] else ""
    tokens = f"{one['tokens_in']} tokens in, {one['tokens_out']} out"
    return f"{counted(one['calls'], 'call')}, {tokens}, {one['cost']:.4f} USD{unpriced}"
