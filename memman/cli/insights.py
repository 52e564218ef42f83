"""`memman insights`: list, show, protect, reinstate, and judge what waits for review."""

from collections import Counter
from typing import Any

import click

from memman.cli.group import Group
from memman.cli.keeping import COMMANDS
from memman.cli.options import json_option, limit_option, place, store_option
from memman.cli.person import confirm
from memman.cli.show import ago, as_data, ended, freshness, pairs, short, table, tallied, text, when
from memman.config.scope import PERSONAL
from memman.govern.insights import STATUSES
from memman.model.plural import counted
from memman.model.text import replaced, sourced
from memman.model.trust import SOURCES
from memman.model.vocabulary import CATEGORIES


@click.group(cls=Group)
@store_option
def insights() -> None:
    """List, show, protect and reinstate memories, review those held back, and tell what is stale."""


@insights.command("list")
@click.option("--category", type=click.Choice(CATEGORIES), help="Show only this category.")
@click.option("--source", type=click.Choice(SOURCES), help="Show only this source.")
@click.option(
    "--status", type=click.Choice(STATUSES), default="current", show_default=True, help="Show only this status."
)
@limit_option
@json_option
@store_option
def list_(category: str | None, source: str | None, status: str, limit: int, as_json: bool) -> None:
    """List memories, newest first."""
    from memman.govern import insights as govern

    records = govern.listed(place(), category=category, source=source, status=status, limit=limit)
    if as_json:
        as_data(records)
    else:
        table([row for record in records for row in _rows(record, marked=status != "current")])


@insights.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--history", is_flag=True, help="Also show earlier and later versions.")
@json_option
@store_option
def show(ids: tuple[str, ...], history: bool, as_json: bool) -> None:
    """Show all details of memories or queued notes."""
    from memman.govern import insights as govern

    records = govern.shown(place(), ids, history=history)
    if as_json:
        as_data(records)
        return
    for number, record in enumerate(records):
        if number:
            text("")
        (_note if record["kind"] == "note" else _memory)(record)


@insights.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--undo", is_flag=True, help="Remove the protection.")
@json_option
@store_option
def protect(ids: tuple[str, ...], undo: bool, as_json: bool) -> None:
    """Protect memories from being superseded automatically; `replace` and `forget` still work."""
    from memman.govern.protect import protect as govern

    _ask(ids, "Remove the protection of these memories?" if undo else "Protect these memories?")
    records = govern(place(), ids, wanted=not undo)
    if as_json:
        as_data(records)
        return
    said = "no longer protected" if undo else "protected"
    table([(said if one["changed"] else f"already {said}", short(one["id"]), one["text"]) for one in records])


@insights.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--undo", is_flag=True, help="Make them superseded again, as before.")
@json_option
@store_option
def reinstate(ids: tuple[str, ...], undo: bool, as_json: bool) -> None:
    """Make superseded memories current again, with their original dates and source.

    The memories that replaced them are kept; `memman forget` removes those.
    """
    from memman.govern import reinstate as govern

    records = (govern.undo if undo else govern.reinstate)(place(), ids)
    if as_json:
        as_data(records)
        return
    said = ("superseded again", "not reinstated") if undo else ("current again", "not superseded")
    table([(said[not one["changed"]], short(one["id"]), one["text"]) for one in records])
    for one in [one for one in records if one["changed"] and not undo]:
        text(f"{short(one['successor'])}, which had replaced it, is kept too; `memman forget` removes it")


@insights.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@store_option
def approve(ids: tuple[str, ...], as_json: bool) -> None:
    """Approve memories that were held back, so that recall shows them, still marked with their source.

    A memory that is maybe replaced is superseded by the newer one.
    """
    from memman.govern import review as govern

    _ask(ids, "Approve?")
    _judged(govern.approve(place(), ids), ("approved", "superseded by"), as_json=as_json)


@insights.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@store_option
def reject(ids: tuple[str, ...], as_json: bool) -> None:
    """Reject memories that were held back; `forget --undo` puts them back for review.

    A memory that is maybe replaced stays, without the mark, and so does the newer one.
    """
    from memman.govern import review as govern

    _ask(ids, "Reject?")
    _judged(govern.reject(place(), ids), ("rejected", "kept beside"), as_json=as_json)


def _ask(ids: tuple[str, ...], question: str) -> None:
    from memman.govern import insights as govern

    here = place()
    records = govern.shown(here, ids)
    newer = {one["uid"]: one["maybe_replaced_by"] for one in records if one.get("maybe_replaced_by")}
    told = {one["uid"]: one for one in govern.shown(here, sorted(set(newer.values())))} if newer else {}
    shown = []
    for one in records:
        shown.append((short(one["uid"], note=one["kind"] == "note"), sourced(one["source"]), one["text"]))
        if other := told.get(newer.get(one["uid"], "")):
            shown.append(("maybe replaced by " + short(other["uid"]), sourced(other["source"]), other["text"]))
    confirm(question, listed=map("  ".join, shown))


def _judged(records: list[dict[str, Any]], said: tuple[str, str], *, as_json: bool) -> None:
    """Print what became of each memory: `said` of one that was held back, and of one that was maybe replaced."""
    if as_json:
        as_data(records)
        return
    done = [f"{said[1]} {short(one['newer'])}" if one["newer"] else said[0] for one in records]
    table(
        [
            (what if one["changed"] else "not held back", short(one["id"]), one["text"])
            for what, one in zip(done, records, strict=True)
        ]
    )


def _rows(record: dict[str, Any], *, marked: bool) -> list[tuple[object, ...]]:
    """Return the line of a memory, and below one that is to be reviewed that of what maybe replaces it."""
    status = record["status"] + (f": {record['why']}" if "why" in record else "")
    if "newer" not in record:
        return [_row(record, *([status] if marked else []))]
    newer = record["newer"]
    return [_row(record, replaced(newer["uid"])), _row(newer, "maybe replaces " + short(record["uid"]))]


def _row(record: dict[str, Any], *mark: str) -> tuple[object, ...]:
    shown = (short(record["uid"]), ago(record["valid_from"]), record["category"], record["importance"])
    source = sourced(record["source"], unconfirmed=record["unconfirmed"])
    return (*shown, source, record["scope"], ", ".join(freshness(record)), *mark, record["text"])


def _memory(record: dict[str, Any]) -> None:
    came = record["provenance"] or {}
    until = when(record["valid_to"])
    pairs(
        {
            "id": record["uid"],
            "text": record["text"],
            "summary": record["summary"],
            "status": record["status"],
            "damaged": "the stored text does not match its checksum; run `memman doctor`" if record["damaged"] else "",
            "superseded by": record["superseded_by"],
            "maybe replaced by": record["maybe_replaced_by"],
            "maybe replaces": ", ".join(record["maybe_replaces"]),
            "protected": "since " + when(record["protected"]) if record["protected"] else "",
            "category": f"{record['category']}, importance {record['importance']}",
            "entities": ", ".join(record["entities"]),
            "keywords": ", ".join(record["keywords"]),
            "scope": record["scope"] or PERSONAL,
            "valid": f"from {when(record['valid_from'])}" + (f" to {until}" if until else ""),
            "recorded": when(record["recorded_at"]),
            "retired": when(record["retired_at"]),
            "holds until": when(record["ends_at"]) + (" (past)" if ended(record) else ""),
            "verified": when(record["verified_at"]),
            "files": ", ".join(path + (" (changed since)" if at else "") for path, at in record["files"].items()),
            "evidence": _evidence(record),
            "source": sourced(record["source"], unconfirmed=record["unconfirmed"]),
            "held back": record.get("why", ""),
            "note": record["note"],
            **{name: came.get(name) for name in ("agent", "session", "cwd", "repository", "revision", "host", "user")},
            "edges": tallied(record["edges"]),
            "shown": counted(record["uses"], "time"),
        }
    )
    for side in ("before", "after"):
        for other in record.get(side, ()):
            text(f"{side}  {short(other['uid'])}  {when(other['valid_from'])}  {other['status']}  {other['text']}")


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
