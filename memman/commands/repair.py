"""`memman repair`."""

from dataclasses import asdict

import click

from memman.commands.person import confirm
from memman.commands.printing import printed, text
from memman.commands.verb import Command, data_options, place
from memman.model.plural import counted

# Lost memories that are named; --json names all.
_NAMED = 20


def _names(uids: tuple[str, ...]) -> str:
    return ", ".join(uids[:_NAMED]) + (" and others" if len(uids) > _NAMED else "")


@click.command(cls=Command)
@click.option("--queue", is_flag=True, help="Repair the queue instead of a store.")
@data_options
def repair(queue: bool, as_json: bool) -> None:
    """Rebuild a damaged store from its log, and from the last backup; the damaged file is kept.

    The exit code is 0 even if something was lost; the output says so. Changes nothing if nothing is wrong.
    """
    from memman.recovery.recover import recover, recover_queue

    where = place()
    what = "the queue" if queue else f"store {where.name!r}"
    confirm(f"Rebuild {what} from what is still sound?")
    done = recover_queue(where.data) if queue else recover(where.data, where.name)
    if printed(asdict(done), as_json=as_json):
        return
    if not done.wrong:
        text(f"nothing is wrong with {done.what}")
        return
    text(f"{done.what} was damaged: {done.wrong}")
    text(f"kept {counted(done.kept, 'note' if queue else 'memory')}; the damaged file was moved to {done.aside}")
    if done.damaged:
        there = f"{done.replaced} came from the last backup, {done.damaged - done.replaced} are lost"
        text(f"{counted(done.damaged, 'record')} of the log could not be read: {there}")
    if done.anew:
        text(f"told anew, as the index had them, without their history: {_names(done.anew)}")
    if done.lost:
        text(f"lost {len(done.lost)}: {_names(done.lost)}")
    if done.lost or done.damaged > done.replaced or not done.kept:
        text("`memman backup list` shows the backups that may have the rest")
    if done.doubtful:
        text(
            f"parked because their text may be damaged: {', '.join(done.doubtful)};"
            " `memman scheduler queue show` shows them"
        )
    if not queue:
        text("the text index, built-in vectors and edges were made anew; the next drains go over the edges once more")
