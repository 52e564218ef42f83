"""`memman why`."""

from typing import Any

import click

from memman.cli.hot import recall_options
from memman.cli.log import change
from memman.cli.options import json_option, place, store_option
from memman.cli.ranking import explain
from memman.cli.show import apart, as_data, labelled, pairs, short, text, when
from memman.config.scope import PERSONAL
from memman.model.errors import UsageError
from memman.model.plural import counted


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--query", metavar="TEXT", help="Show why `recall TEXT` shows what it shows, and not the memories of ID.")
@recall_options
@json_option
@store_option
def why(ids: tuple[str, ...], query: str | None, as_json: bool, **given: Any) -> None:
    """Show where a memory comes from, its causes and effects, what became of it, and where it was shown.

    What its note said is shown to people only, while the queue still has it.

    With --query show what put each hit of that recall where it stands, and of each ID its place, or which options
    would show it. The other options are those of `recall`.
    """
    from memman.govern import looking_back

    if query is not None:
        explain(query, ids, given, as_json=as_json)
        return
    if options := [name for name, value in given.items() if value not in {None, False}]:
        raise UsageError(f"--{options[0].replace('_', '-')} goes with --query")
    if not ids:
        raise UsageError("give an ID, or a question with --query")
    records = looking_back.why(place(), ids)
    if as_json:
        as_data(records)
    else:
        apart(records, _print)


def _print(record: dict[str, Any]) -> None:
    came = record["provenance"] or {}
    pairs(
        {
            "id": record["uid"],
            "text": record["text"],
            "status": record["status"],
            "scope": record["scope"] or PERSONAL,
            "source": labelled(record),
            **{name.replace("_", " "): record[name] for name in ("author", "visibility", "retired_by")},
            "note": record["note"],
            "said": record["said"],
            **{name: came.get(name) for name in ("agent", "session", "repository", "revision", "drain")},
            "recorded": when(record["recorded_at"]),
            "made by": _makers(record["models"]) or ("the built-in models" if came.get("models") else ""),
            "replaced": ", ".join(short(other["uid"]) for other in record["before"]),
            "replaced by": short(record["superseded_by"] or ""),
            "stands behind": f"{short(record['stands_behind'])} until {when(record['until'])}"
            if record["until"]
            else "",
            "evidence": ", ".join(f"{one['kind']} {when(one['at'])}" for one in record["evidence"]),
        }
    )
    for one in record["causes"]:
        text(f"{one['says']:<7}  {short(one['uid'])}  {labelled(one)}  {one['text']}")
    for one in record["changes"]:
        text(f"{when(one['at'])}  {one['verb']:<9}  {change(one)}".rstrip())
    for one in record["shown"]:
        where = " ".join(filter(None, (one["way"], one["agent"], one["session"])))
        text(f"{when(one['at'])}  shown      {where}, {counted(one['times'], 'time')}, {one['tokens']} tokens")


def _makers(models: dict[str, str]) -> str:
    return ", ".join(f"{stage}: {model}" for stage, model in models.items())
