"""`memman learned` and `memman diff`."""

import itertools

import click

from memman.cli.options import json_option, limit_option, place, store_option
from memman.cli.show import as_data, labelled, listed, short, text
from memman.config.scope import PERSONAL
from memman.model.plural import counted

since_option = click.option(
    "--since", metavar="TIME", default="7d", show_default=True, help="From when on: 2026-11-01, 7d, 12h."
)


@click.command()
@since_option
@limit_option
@json_option
@store_option
def learned(since: str, limit: int, as_json: bool) -> None:
    """Show what was learned, by day and repository."""
    from memman.govern.recent import learned as govern
    from memman.hot.moment import moment

    groups = listed(
        lambda most: govern(place(), moment(since, "since"), most),
        limit,
        lambda groups: sum(len(group["memories"]) for group in groups),
    )
    if as_json:
        as_data(groups)
        return
    for group in groups:
        text(f"{group['day']}  {group['scope'] or PERSONAL}  {counted(group['count'], 'memory')}")
        for one in group["memories"]:
            text(f"  {short(one['uid'])}  {labelled(one)}  {one['text']}")
    if not groups:
        text("nothing learned since then")


@click.command()
@since_option
@limit_option
@json_option
@store_option
def diff(since: str, limit: int, as_json: bool) -> None:
    """Show what memory holds now and did not then (+), holds no more (-), and what is changed (~), by scope."""
    from memman.govern.recent import diff as govern
    from memman.hot.moment import moment

    changes = listed(lambda most: govern(place(), moment(since, "since"), most), limit)
    if as_json:
        as_data(changes)
        return
    for scope, these in itertools.groupby(changes, key=lambda one: str(one["scope"])):
        text(scope or PERSONAL)
        for one in these:
            what = "" if one["sign"] == "+" else f"  ({', '.join(dict.fromkeys(one['verbs']))})"
            text(f"{one['sign']} {short(one['uid'])}  {labelled(one)}  {one['text']}{what}")
    if not changes:
        text("nothing changed since then")
