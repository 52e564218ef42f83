"""`memman insights`: list, show, protect, reinstate."""

from collections import Counter
from typing import Any

import click

from memman.belief import SOURCES
from memman.commands.keeping import COMMANDS
from memman.commands.person import confirm
from memman.commands.printing import (
    acted,
    aged,
    ago,
    apart,
    holds,
    labelled,
    listed,
    named,
    pairs,
    printed,
    short,
    table,
    tallied,
    text,
    when,
)
from memman.commands.verb import Group, data_options, limit_option, place, store_option
from memman.config.scope import PERSONAL
from memman.govern import insights as govern
from memman.govern.insights import STATUSES
from memman.model.plural import counted
from memman.model.vocabulary import CATEGORIES


@click.group(cls=Group)
@store_option
def insights() -> None:
    """List, show, protect and reinstate memories, and tell what is stale."""


@insights.command("list")
@click.option("--category", type=click.Choice(CATEGORIES), help="Show only this category.")
@click.option("--source", type=click.Choice(SOURCES), help="Show only this source.")
@click.option(
    "--status", type=click.Choice(STATUSES), default="current", show_default=True, help="Show only this status."
)
@limit_option
@data_options
def list_(category: str | None, source: str | None, status: str, limit: int, as_json: bool) -> None:
    """List memories, newest first."""
    where = place()
    records = listed(
        lambda most: govern.listed(where, category=category, source=source, status=status, limit=most), limit
    )
    records = aged(where, records)
    if not printed(records, as_json=as_json):
        other = ["status"] if status != "current" else []
        heads = ("id", "age", "category", "importance", "source", *other, "text")
        table([_row(record, *([_status(record)] if other else [])) for record in records], heads=heads)


@insights.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@data_options
def show(ids: tuple[str, ...], as_json: bool) -> None:
    """Show all details of memories or queued notes."""
    where = place()
    records = aged(where, govern.shown(where, ids))
    if not printed(records, as_json=as_json):
        apart(records, lambda record: (_note if record["kind"] == "note" else _memory)(record))


@insights.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--undo", is_flag=True, help="Remove the protection.")
@data_options
def protect(ids: tuple[str, ...], undo: bool, as_json: bool) -> None:
    """Protect memories from being superseded automatically; `replace` and `forget` still work."""
    from memman.govern.freshness import protect as govern

    _ask(ids, "Remove the protection of these memories?" if undo else "Protect these memories?")
    records = govern(place(), ids, wanted=not undo)
    if printed(records, as_json=as_json):
        return
    said = "no longer protected" if undo else "protected"
    table([acted(said if one["changed"] else f"already {said}", one) for one in records])


@insights.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--undo", is_flag=True, help="Make them superseded again, as before.")
@data_options
def reinstate(ids: tuple[str, ...], undo: bool, as_json: bool) -> None:
    """Make superseded memories current again, with their original dates and source.

    The memories that replaced them are kept; `memman forget` removes those.
    """
    from memman.govern import reinstate as govern

    records = (govern.undo if undo else govern.reinstate)(place(), ids)
    if printed(records, as_json=as_json):
        return
    said = ("superseded again", "not reinstated") if undo else ("current again", "not superseded")
    table([acted(said[not one["changed"]], one) for one in records])
    for one in [one for one in records if one["changed"] and not undo]:
        text(f"{short(one['successor'])}, which had replaced it, is kept too; `memman forget` removes it")


def _ask(ids: tuple[str, ...], question: str) -> None:
    confirm(question, listed=map(named, govern.shown(place(), ids)))


def _status(record: dict[str, Any]) -> str:
    return f"{record['status']}: {record['why']}" if "why" in record else str(record["status"])


def _row(record: dict[str, Any], *mark: str) -> tuple[object, ...]:
    shown = (short(record["uid"]), ago(record["valid_from"]), record["category"], record["importance"])
    return (*shown, labelled(record, holds(record)), *mark, record["text"])


def _memory(record: dict[str, Any]) -> None:
    came = record["provenance"] or {}
    until = when(record["valid_to"])
    pairs(
        {
            "id": record["uid"],
            "text": record["text"],
            "summary": record["summary"],
            "status": record["status"],
            "superseded by": record["superseded_by"],
            "maybe replaced by": record["maybe_replaced_by"],
            "maybe replaces": ", ".join(record["maybe_replaces"]),
            "stands behind": f"{record['stands_behind']} until {when(record['until'])}" if record["until"] else "",
            "stands before": ", ".join(record["stands_before"]),
            "against": ", ".join(record["against"]),
            "contradicted by": ", ".join(record["contradicted_by"]),
            "protected": "since " + when(record["protected"]) if record["protected"] else "",
            "category": f"{record['category']}, importance {record['importance']}",
            "entities": ", ".join(record["entities"]),
            "keywords": ", ".join(record["keywords"]),
            "scope": record["scope"] or PERSONAL,
            **{name.replace("_", " "): record[name] for name in ("author", "visibility", "retired_by")},
            "valid": f"from {when(record['valid_from'])}" + (f" to {until}" if until else ""),
            "recorded": when(record["recorded_at"]),
            "retired": when(record["retired_at"]),
            "holds until": when(record["ends_at"]),
            "verified": when(record["verified_at"]),
            "files": ", ".join(path + (" (changed since)" if at else "") for path, at in record["files"].items()),
            "evidence": _evidence(record),
            "source": labelled(record),
            "held back": record.get("why", ""),
            "note": record["note"],
            **{name: came.get(name) for name in ("agent", "session", "cwd", "repository", "revision", "host", "user")},
            "edges": tallied(record["edges"]),
            "shown": counted(record["uses"], "time"),
        }
    )


def _evidence(record: dict[str, Any]) -> str:
    """Write who bore a memory out, or spoke against it."""
    kinds = Counter(kind for kind, _, _ in record["evidence"])
    return f"reliability {record['reliability']:.2f}: {tallied(kinds)}" if kinds else ""


def _note(record: dict[str, Any]) -> None:
    shown = ("text", "state", "category", "importance", "entities", "replaces", "source", "agent", "session", "cwd")
    rest = ("repository", "revision", "host", "user", "error")
    times = {"queued": when(record["queued_at"])}
    pairs({"note": record["uid"]} | {name: record[name] for name in shown} | times | {n: record[n] for n in rest})


for command in COMMANDS:
    insights.add_command(command)
