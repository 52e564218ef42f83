"""`memman purge`."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memman.cli.options import json_option, place, store_option
from memman.cli.person import confirm, typed
from memman.cli.show import as_data, short, text

if TYPE_CHECKING:
    from memman.recovery.purge import Receipt, Selection


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@store_option
def purge(ids: tuple[str, ...], as_json: bool) -> None:
    """Delete memories permanently: this cannot be undone.

    ID is a memory, a note (all memories from it), or a note still in the queue. `memman forget` hides them and can be
    undone.
    """
    from memman.govern.ids import all_named
    from memman.govern.stores import looking
    from memman.recovery import purge as recovery

    where = place()
    with looking(where) as (catalogue, queue):
        uids = [one.uid for one in all_named(ids, catalogue, queue, where.name)]
    _ask(recovery.targeted(where.data, where.name, uids))
    receipt = recovery.purge(where.data, where.name, uids)
    if as_json:
        as_data(asdict(receipt))
    else:
        _tell(receipt)


def _ask(target: "Selection") -> None:
    texts = {short(memory["uid"]): memory["text"] for memory in target.memories}
    texts |= {short(row["uid"], note=True): row["text"] for row in target.waiting}
    question = "Delete this permanently?" if len(texts) == 1 else f"Delete these {len(texts)} permanently?"
    confirm(question, typed(list(texts)), (f"{id_}  {said}" for id_, said in texts.items()))


def _tell(receipt: "Receipt") -> None:
    for uid in receipt.memories:
        text(f"deleted memory {short(uid)}")
    for uid in receipt.notes:
        text(f"deleted note {short(uid, note=True)}")
    if not receipt.scrubbed:
        text(
            "the file still holds the deleted bytes (it is in use, or the disk is full); the next drain overwrites them"
        )
    for name in receipt.backups:
        text(f"backup {name} still contains it; to delete that too: memman backup remove {name}")
    for path in receipt.files:
        text(f"{path} still contains it; delete that file when you no longer need it")
