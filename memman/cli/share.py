"""`memman share` and `memman unshare`."""

import click

from memman.cli.options import json_option, place, store_option
from memman.cli.person import confirm
from memman.cli.show import acted, as_data, named, table


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@store_option
def share(ids: tuple[str, ...], as_json: bool) -> None:
    """Show memories of yours to all who share the store."""
    from memman.govern import insights, sharing

    where = place()
    sharing.refuse_unshared(where.data, where.name)
    confirm("Show these to all who share the store?", listed=map(named, insights.shown(where, ids)))
    _say(ids, "shared", as_json=as_json)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@store_option
def unshare(ids: tuple[str, ...], as_json: bool) -> None:
    """Take memories of yours back from those who share the store: from their machines at the next pull."""
    _say(ids, "private", as_json=as_json)


def _say(ids: tuple[str, ...], visibility: str, *, as_json: bool) -> None:
    from memman.govern import sharing

    records = sharing.show_to(place(), ids, visibility)
    if as_json:
        as_data(records)
        return
    told = {True: visibility, False: f"already {visibility}"}
    table([acted(told[one["changed"]], one) for one in records])
