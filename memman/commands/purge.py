"""`memman purge`."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from memman.belief import SOURCES
from memman.commands.person import confirm, typed
from memman.commands.printing import as_data, labelled, printed, short, text
from memman.commands.verb import Command, data_options, place
from memman.model.errors import UsageError
from memman.store.opening import is_shared

if TYPE_CHECKING:
    from memman.commands.place import Place
    from memman.recovery.purge import Receipt, Selection


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--session", default="", metavar="S", help="Purge all that a session wrote.")
@click.option("--repository", default="", metavar="R", help="Purge all of a repository; `memman scope list` names it.")
@click.option("--source", type=click.Choice(SOURCES), help="Purge all from this source.")
@click.option("--query", default="", metavar="WORDS", help="Purge what has all these words, and what recall finds.")
@click.option("--dry-run", is_flag=True, help="Only show what would be purged.")
@data_options
def purge(
    ids: tuple[str, ...], session: str, repository: str, source: str | None, query: str, dry_run: bool, as_json: bool
) -> None:
    """Delete memories permanently: this cannot be undone.

    ID is a memory, a note (all memories from it), a note still in the queue, or a rule, which may be removed already.
    Rules that were made of a memory go with it. `memman forget` hides memories and can be undone. What was purged is
    not stored again, unless you `remember` it yourself.
    """
    from memman.govern.purge_selection import Meant, uids
    from memman.recovery import purge as recovery

    where = place()
    if sum(map(bool, (ids, session, repository, source, query))) != 1:
        raise UsageError("give IDs, or just one of --session, --repository, --source and --query")
    found = [*ids, *(_found(where, query) if query else ())]
    meant = uids(where, Meant(found, session, repository, source or "", query))
    target = recovery.targeted(where.data, where.name, meant)
    if dry_run:
        _show(target, as_json=as_json)
        return
    _ask(target)
    receipt = recovery.purge(where.data, where.name, meant)
    told = not is_shared(where.data, where.name) or _told(where)
    if not printed(asdict(receipt), as_json=as_json):
        _tell(receipt)
        _beyond(where)
        if not told:
            text("the server is out of reach and has it still: the next drain that reaches it purges it there")


def _told(where: "Place") -> bool:
    from memman.commands.team import told

    return told(where.data, where.name)


def _found(where: "Place", query: str) -> list[str]:
    """Return what recall finds anywhere, superseded memories too."""
    from memman.hot.recall_session import found
    from memman.store.filters import Filters

    return [hit.row.uid for hit in found(where.data, where.name, query, Filters(history=True, anywhere=True), 50, None)]


def _show(target: "Selection", *, as_json: bool) -> None:
    if as_json:
        kinds = {"memories": target.memories, "notes": target.waiting, "rules": target.rules}
        as_data({kind: [one["uid"] for one in rows] for kind, rows in kinds.items()})
        return
    for id_, said in _texts(target).items():
        text(f"{id_}  {said}")
    text("nothing was deleted: this was a dry run")


def _texts(target: "Selection") -> dict[str, str]:
    texts = {short(memory["uid"]): f"{labelled(memory)}  {memory['text']}" for memory in target.memories}
    texts |= {short(row["uid"], note=True): row["text"] for row in target.waiting}
    return texts | {short(rule["uid"]): f"{_ruled(rule)}: {rule['text']}" for rule in target.rules}


def _ruled(rule: dict[str, Any]) -> str:
    """Say what a rule does."""
    if not rule["action"]:
        return "removed rule"
    return f"rule, {rule['action']}: {rule['pattern']}" if rule["pattern"] else "standing rule"


def _ask(target: "Selection") -> None:
    texts = _texts(target)
    question = "Delete this permanently?" if len(texts) == 1 else f"Delete these {len(texts)} permanently?"
    confirm(question, typed(list(texts)), (f"{id_}  {said}" for id_, said in texts.items()))


def _beyond(where: "Place") -> None:
    """Say what other machines have yet to do."""
    from memman.config.synced import folder

    if shared := folder(where.data, where.name):
        text(
            f"machines that share {shared} delete it at their next round; `memman sync --status` says which have yet to"
        )


def _tell(receipt: "Receipt") -> None:
    for uid in receipt.memories:
        text(f"deleted memory {short(uid)}")
    for uid in receipt.notes:
        text(f"deleted note {short(uid, note=True)}")
    for uid in receipt.rules:
        text(f"deleted rule {short(uid)}")
    if not receipt.scrubbed:
        text(
            "the file still holds the deleted bytes (it is in use, or the disk is full); the next drain overwrites them"
        )
    for name in receipt.backups:
        text(f"backup {name} still contains it; to delete that too: memman backup remove {name}")
    for path in receipt.files:
        text(f"{path} still contains it; delete that file when you no longer need it")
