"""`memman learned`, `diff`, `sessions` and `cost`."""

import itertools
from typing import Any

import click

from memman.commands.printing import labelled, listed, printed, short, table, text, when
from memman.commands.verb import Command, data_options, limit_option, place
from memman.config.scope import PERSONAL, label
from memman.model.plural import counted

since_option = click.option(
    "--since", metavar="TIME", default="7d", show_default=True, help="From when on: 2026-11-01, 7d, 12h."
)


@click.command(cls=Command)
@limit_option
@data_options
def sessions(limit: int, as_json: bool) -> None:
    """List the sessions that gave memories, and were shown some, the latest first."""
    from memman.govern import recent as govern

    records = listed(lambda most: govern.listed(place(), most), limit)
    if printed(records, as_json=as_json):
        return
    for one in records:
        counts = f"{counted(one['notes'], 'note')}, {counted(one['made'], 'memory')}, {one['shown']} shown"
        where = " ".join(filter(None, (one["agent"], one["session"], label(one["repository"], ""))))
        text(f"{when(one['last'])}  {where}  {counts}, {one['tokens']} tokens")


@click.command(cls=Command)
@since_option
@data_options
def cost(since: str, as_json: bool) -> None:
    """Show what models cost, and how many tokens of memories were shown.

    What was spent is counted by day (UTC), stage, model and repository, in all stores. Of what was shown the lines of
    memories count, not what stands around them; the drain counts what the last hooks showed.
    """
    from memman.govern import looking_back
    from memman.hot.moment import moment

    record = looking_back.cost(place(), moment(since, "since"))
    if printed(record, as_json=as_json):
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


@click.command(cls=Command)
@since_option
@limit_option
@data_options
def learned(since: str, limit: int, as_json: bool) -> None:
    """Show what was learned, by day and repository."""
    from memman.govern.recent import learned as govern
    from memman.hot.moment import moment

    groups = listed(
        lambda most: govern(place(), moment(since, "since"), most),
        limit,
        lambda groups: sum(len(group["memories"]) for group in groups),
    )
    if printed(groups, as_json=as_json):
        return
    for group in groups:
        text(f"{group['day']}  {group['scope'] or PERSONAL}  {counted(group['count'], 'memory')}")
        for one in group["memories"]:
            text(f"  {short(one['uid'])}  {labelled(one)}  {one['text']}")
    if not groups:
        text("nothing learned since then")


@click.command(cls=Command)
@since_option
@limit_option
@data_options
def diff(since: str, limit: int, as_json: bool) -> None:
    """Show what memory holds now and did not then (+), holds no more (-), and what is changed (~), by scope."""
    from memman.govern.recent import diff as govern
    from memman.hot.moment import moment

    changes = listed(lambda most: govern(place(), moment(since, "since"), most), limit)
    if printed(changes, as_json=as_json):
        return
    for scope, these in itertools.groupby(changes, key=lambda one: str(one["scope"])):
        text(scope or PERSONAL)
        for one in these:
            what = "" if one["sign"] == "+" else f"  ({', '.join(dict.fromkeys(one['verbs']))})"
            text(f"{one['sign']} {short(one['uid'])}  {labelled(one)}  {one['text']}{what}")
    if not changes:
        text("nothing changed since then")
