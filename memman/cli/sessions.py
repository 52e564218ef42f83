"""`memman sessions`."""

from typing import Any

import click

from memman.cli.group import Group
from memman.cli.options import json_option, limit_option, place, store_option
from memman.cli.show import as_data, labelled, listed, pairs, short, table, text, when
from memman.config.scope import label
from memman.model.plural import counted


class Listing(Group):
    """A group that lists where no verb is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the group's own options."""
        return super().parse_args(ctx, args if args or ctx.resilient_parsing else ["list"])


@click.group(cls=Listing)
@store_option
def sessions() -> None:
    """Show the sessions that gave memories, and were shown some; without a verb, list them."""


@sessions.command("list")
@limit_option
@json_option
@store_option
def list_(limit: int, as_json: bool) -> None:
    """List sessions, the latest first."""
    from memman.govern import recent as govern

    records = listed(lambda most: govern.listed(place(), most), limit)
    if as_json:
        as_data(records)
        return
    for one in records:
        counts = f"{counted(one['notes'], 'note')}, {counted(one['made'], 'memory')}, {one['shown']} shown"
        where = " ".join(filter(None, (one["agent"], one["session"], label(one["repository"], ""))))
        text(f"{when(one['last'])}  {where}  {counts}, {one['tokens']} tokens")


@sessions.command()
@click.argument("id_", metavar="ID")
@json_option
@store_option
def show(id_: str, as_json: bool) -> None:
    """Show a session, the memories it gave, and those it was shown; ID may be the beginning of one."""
    from memman.govern.recent import session

    one = session(place(), id_)
    if as_json:
        as_data(one)
        return
    pairs({name: one[name] for name in ("session", "agent", "repository")} | {"notes": one["notes"]})
    pairs({"began": when(one["began"]), "last": when(one["last"]), "tokens": one["tokens"]})
    rows = [
        (side, short(memory["uid"]), _standing(memory), memory["text"])
        for side in ("made", "shown")
        for memory in one[side]
    ]
    if rows:
        table(rows)


def _standing(memory: dict[str, Any]) -> str:
    """Write whose word a memory is, what makes it doubtful, and how it stands where it is not recalled."""
    return ", ".join((labelled(memory), *([] if memory["status"] == "current" else [memory["status"]])))
