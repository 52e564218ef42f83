"""`memman graph`: related, link, rebuild."""

from typing import Any

import click

from memman.cli.group import Group
from memman.cli.options import json_option, limit_option, place, store_option
from memman.cli.progress import bar
from memman.cli.show import as_data, freshness, short, table, text
from memman.model.plural import counted
from memman.model.text import sourced
from memman.model.vocabulary import EDGE_KINDS


@click.group(cls=Group)
@store_option
def graph() -> None:
    """Show the edges between memories, add one, or rebuild them."""


@graph.command()
@click.argument("id_", metavar="ID")
@click.option("--edge", type=click.Choice(EDGE_KINDS), help="Follow only edges of this kind.")
@click.option("--depth", type=click.IntRange(1, 5), default=1, show_default=True, help="Maximum distance in edges.")
@limit_option
@json_option
@store_option
def related(id_: str, edge: str | None, depth: int, limit: int, as_json: bool) -> None:
    """Show related memories: nearest and strongest first, those related only in time last."""
    from memman.govern import graph as govern

    found = govern.related(place(), id_, kind=edge, depth=depth, limit=limit)
    if as_json:
        as_data(found)
        return
    asked = found["memory"]
    text(f"{short(asked['uid'])}  {sourced(asked['source'])}  {asked['text']}")
    table(
        [
            (
                one["depth"],
                one["direction"],
                one["kind"],
                f"{one['weight']:.2f}",
                short(one["uid"]),
                sourced(one["source"]),
                one["scope"],
                ", ".join(freshness(one)),
                _said(one),
            )
            for one in found["related"]
        ]
    )


@graph.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--type", "kind", type=click.Choice(EDGE_KINDS), default="semantic", show_default=True, help="Its kind.")
@click.option("--weight", type=float, default=1.0, show_default=True, help="Strength of the edge.")
@click.option("--note", default="", help="Why the two are related.")
@json_option
@store_option
def link(a: str, b: str, kind: str, weight: float, note: str, as_json: bool) -> None:
    """Add an edge from A to B that no rebuild changes or removes.

    A causal edge means that A led to B.
    """
    from memman.govern import graph as govern

    made = govern.link(place(), (a, b), kind, weight, note)
    if as_json:
        as_data(made)
    else:
        text(f"linked {short(made['src'])} to {short(made['dst'])}: {kind}, weight {weight:g}, {made['detail']}")


@graph.command()
@json_option
@store_option
def rebuild(as_json: bool) -> None:
    """Recompute all edges; those added by hand are kept."""
    from memman.govern.rebuild import rebuild as relink

    where = place()
    with bar("relinking", "what is done stays; `memman graph rebuild` goes on with the rest") as progress:
        count = relink(where.data, where.name, progress)
    if as_json:
        as_data({"store": where.name, "relinked": count})
    else:
        text(f"rebuilt the edges of {counted(count, 'memory')} in store {where.name!r}")


def _said(one: dict[str, Any]) -> str:
    return one["text"] if one["status"] == "current" else f"({one['status']}) {one['text']}"
