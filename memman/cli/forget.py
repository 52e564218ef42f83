"""`memman forget`."""

import sys
from typing import TYPE_CHECKING, Any

import click

from memman.cli.options import json_option, place, store_option
from memman.cli.show import as_data, short, table, text
from memman.model.errors import UsageError

if TYPE_CHECKING:
    from memman.govern.purge import Receipt, Target


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--undo", is_flag=True, help="Bring forgotten memories back.")
@click.option("--purge", is_flag=True, help="Delete for good: nothing brings it back.")
@click.option("--yes", is_flag=True, help="Do not ask before deleting.")
@json_option
@store_option
def forget(ids: tuple[str, ...], undo: bool, purge: bool, yes: bool, as_json: bool) -> None:
    """Retire memories, or with --undo bring them back.

    ID names a memory, everything that came of a note, or a note that still waits.
    """
    if purge:
        _purge(ids, undo=undo, yes=yes, as_json=as_json)
        return
    from memman.govern import forget as govern

    records = (govern.restore if undo else govern.forget)(place(), ids)
    if as_json:
        as_data(records)
    else:
        table([_row(record, undo=undo) for record in records])
        for old in [old for record in records if record["changed"] for old in record.get("replaced", ())]:
            text(
                f"It had replaced {short(old['id'])}, out of force still; remember that anew to go back: {old['text']}"
            )


def _purge(ids: tuple[str, ...], *, undo: bool, yes: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from memman.govern import purge as govern

    if undo:
        raise UsageError("what is purged cannot come back: give --undo or --purge")
    where = place()
    if not yes:
        _ask(govern.targeted(where, ids))
    receipt = govern.purge(where, ids)
    if as_json:
        as_data(asdict(receipt))
    else:
        _tell(receipt)


def _ask(target: "Target") -> None:
    if not sys.stdin.isatty():
        raise UsageError("deleting for good needs --yes")
    table([("will be deleted", short(memory["uid"]), memory["text"]) for memory in target.memories])
    table([("will be deleted", short(row["uid"], note=True), row["text"]) for row in target.waiting])
    click.confirm("delete this for good?", abort=True, err=True)


def _tell(receipt: "Receipt") -> None:
    for uid in receipt.memories:
        text(f"deleted memory {short(uid)}")
    for uid in receipt.notes:
        text(f"deleted note {short(uid, note=True)}")
    if not receipt.scrubbed:
        text("a reader, or too full a disk, keeps its bytes in the file: the next drain wipes them out")
    for name in receipt.backups:
        text(f"backup {name} still holds it: memman backup remove {name}")
    for path in receipt.files:
        text(f"{path} still holds it: remove it when you need it no more")


def _row(record: dict[str, Any], *, undo: bool) -> tuple[str, str, str]:
    changed, unchanged = ("restored", "was not forgotten") if undo else ("forgotten", "was forgotten already")
    done = changed if record["changed"] else unchanged
    return done, short(record["id"], note=record["kind"] == "note"), record["text"]
