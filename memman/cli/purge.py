"""`memman purge`."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memman.cli.options import json_option, place, store_option
from memman.cli.person import confirm, typed
from memman.cli.show import as_data, short, text

if TYPE_CHECKING:
    from memman.govern.purge import Receipt, Target


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@store_option
def purge(ids: tuple[str, ...], as_json: bool) -> None:
    """Delete memories for good: nothing brings them back.

    ID names a memory, everything that came of a note, or a note that still waits. `memman forget` retires, and can be
    undone.
    """
    from memman.govern import purge as govern

    where = place()
    _ask(govern.targeted(where, ids))
    receipt = govern.purge(where, ids)
    if as_json:
        as_data(asdict(receipt))
    else:
        _tell(receipt)


def _ask(target: "Target") -> None:
    texts = {short(memory["uid"]): memory["text"] for memory in target.memories}
    texts |= {short(row["uid"], note=True): row["text"] for row in target.waiting}
    question = "Delete it for good?" if len(texts) == 1 else f"Delete these {len(texts)} for good?"
    confirm(question, typed(list(texts)), (f"{id_}  {said}" for id_, said in texts.items()))


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
