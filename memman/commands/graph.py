"""`memman graph`: related, about, link, rebuild."""

from typing import Any

import click

from memman.commands.person import confirm
from memman.commands.printing import ago, bar, holds, labelled, listed, printed, short, table, text
from memman.commands.verb import Group, data_options, limit_option, place, store_option
from memman.govern import graph as govern
from memman.model.plural import counted
from memman.model.vocabulary import EDGE_KINDS, NEWER


@click.group(cls=Group)
@store_option
def graph() -> None:
    """Show the edges between memories, add one, or rebuild them."""


_ANSWERS = {
    "temporal": "what happened around it",
    "entity": "what names the same things",
    "causal": "why it is so, and what it led to",
    "semantic": "what is alike: says the same again, or otherwise",
    NEWER: "what newer memory may say otherwise",
}
_all_scopes = click.option(
    "--all-scopes", "everywhere", is_flag=True, help="Show what belongs to other repositories too, labelled."
)


@graph.command()
@click.argument("id_", metavar="ID")
@click.option(
    "--edge",
    type=click.Choice(EDGE_KINDS),
    help="Follow only edges of this kind; " + "; ".join(f"{kind}: {said}" for kind, said in _ANSWERS.items()) + ".",
)
@click.option(
    "--depth",
    type=click.IntRange(1, 5),
    help="Maximum distance in edges  [default: 1; with --edge temporal or entity 2, causal 5]",
)
@_all_scopes
@limit_option
@data_options
def related(id_: str, edge: str | None, depth: int | None, everywhere: bool, limit: int, as_json: bool) -> None:
    """Show related memories: nearest and strongest first, those related only in time last.

    A cause is marked "because", an effect "led to", and what is alike "says the same" or "says otherwise" where the
    judge is sure.
    """
    found = listed(
        lambda most: govern.related(place(), id_, kind=edge, depth=depth, limit=most, everywhere=everywhere),
        limit,
        lambda found: len(found["related"]),
    )
    if printed(found, as_json=as_json):
        return
    asked = found["memory"]
    text(f"{short(asked['uid'])}  {labelled(asked)}  {_said(asked)}")
    table(
        [
            (
                one["depth"],
                one["direction"],
                one["kind"],
                one["says"],
                f"{one['weight']:.2f}",
                short(one["uid"]),
                labelled(one, holds(one)),
                _said(one),
            )
            for one in found["related"]
        ],
        heads=("steps", "", "kind", "says", "weight", "id", "source", "text"),
    )
    if found["elsewhere"]:
        text(f"{found['elsewhere']} more in other repositories: --all-scopes shows them")


@graph.command()
@click.argument("name")
@click.option("--history", is_flag=True, help="Show superseded memories too.")
@_all_scopes
@limit_option
@data_options
def about(name: str, history: bool, everywhere: bool, limit: int, as_json: bool) -> None:
    """Show everything that mentions a name, newest first: a service, a host, a file, a ticket, a person."""
    found = listed(
        lambda most: govern.about(place(), name, limit=most, history=history, everywhere=everywhere),
        limit,
        lambda found: len(found["memories"]),
    )
    if printed(found, as_json=as_json):
        return
    table(
        [
            (short(one["uid"]), ago(one["valid_from"]), labelled(one, holds(one)), _said(one))
            for one in found["memories"]
        ],
        heads=("id", "age", "source", "text"),
    )


@graph.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--type", "kind", type=click.Choice(EDGE_KINDS), default="semantic", show_default=True, help="Its kind.")
@click.option("--weight", type=float, default=1.0, show_default=True, help="Strength of the edge.")
@click.option("--note", default="", help="Why the two are related.")
@data_options
def link(a: str, b: str, kind: str, weight: float, note: str, as_json: bool) -> None:
    """Add an edge from A to B that no rebuild changes or removes.

    A causal edge means that A led to B, a newer one that A may change B.
    """
    made = govern.link(place(), (a, b), kind, weight, note)
    if not printed(made, as_json=as_json):
        text(f"linked {short(made['src'])} to {short(made['dst'])}: {kind}, weight {weight:g}, {made['detail']}")


@graph.command()
@click.option("--dry-run", is_flag=True, help="Say how many edges would be added and dropped; change nothing.")
@click.option("--stale-only", is_flag=True, help="Look only at what an older version, or other vectors, have linked.")
@click.option("--with-model", is_flag=True, help="Then ask the configured model what caused what.")
@data_options
def rebuild(dry_run: bool, stale_only: bool, with_model: bool, as_json: bool) -> None:
    """Recompute all edges but causal and newer ones; those added by hand are kept.

    With a model, causal edges are added where it names a cause among memories that no model has compared yet. It is
    billed for that; the calls count in the ledger and within the daily budget, and the next run goes on from there.
    """
    from memman.govern import rebuild as govern

    where = place()
    cost = govern.estimate(where.data, where.name) if with_model else None
    if dry_run:
        with bar("comparing", "nothing was changed") as progress:
            found = govern.foreseen(where.data, where.name, progress, stale_only=stale_only)
        _print_foreseen(found | ({"model": cost._asdict()} if cost else {}), where.name, as_json=as_json)
        return
    if cost and cost.questions:
        confirm(f"Ask {_taken(cost._asdict())}?")
    with bar("relinking", "what is done stays; `memman graph rebuild` goes on with the rest") as progress:
        done = {"relinked": govern.rebuild(where.data, where.name, progress, stale_only=stale_only)}
    if cost:
        with bar("asking", "the answers are kept; the same command goes on with the rest") as progress:
            done |= govern.ask(where.data, where.name, progress)
    if printed({"store": where.name} | done, as_json=as_json):
        return
    text(f"rebuilt the edges of {counted(done['relinked'], 'memory')} in store {where.name!r}")
    if cost:
        text(f"{counted(done['asked'], 'answer')} of {cost.provider}, {counted(done['causes'], 'causal edge')}")


def _taken(cost: dict[str, Any]) -> str:
    return f"{cost['provider']} {counted(cost['questions'], 'question')}, about {cost['tokens']:,} tokens at most"


def _print_foreseen(found: dict[str, Any], store: str, *, as_json: bool) -> None:
    if printed({"store": store} | found, as_json=as_json):
        return
    table([(kind, f"{one['added']} to add", f"{one['dropped']} to drop") for kind, one in found["edges"].items()])
    text(f"{counted(found['stale'], 'memory')} in store {store!r} would get other edges; nothing was changed")
    if "model" in found:
        text(f"to be asked: {_taken(found['model'])}")


def _said(one: dict[str, Any]) -> str:
    return one["text"] if one["status"] == "current" else f"({one['status']}) {one['text']}"
