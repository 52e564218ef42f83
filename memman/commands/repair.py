"""`memman repair`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from memman.commands.person import confirm
from memman.commands.place import Place
from memman.commands.printing import lines
from memman.commands.verb import verb
from memman.model.plural import counted

if TYPE_CHECKING:
    from memman.recovery.repair import Repaired

# Lost memories that are named; --json names all.
_NAMED = 20


def _names(uids: tuple[str, ...]) -> str:
    return ", ".join(uids[:_NAMED]) + (" and others" if len(uids) > _NAMED else "")


def _ask(place: Place, *, queue: bool) -> None:
    confirm(f"Rebuild {'the queue' if queue else f'store {place.name!r}'} from what is still sound?")


def told(done: "Repaired") -> Iterator[str]:
    """Say what became of a damaged database."""
    if not done.wrong:
        yield f"nothing is wrong with {done.what}"
        return
    queue = done.what == "queue"
    yield f"{done.what} was damaged: {done.wrong}"
    yield f"kept {counted(done.kept, 'note' if queue else 'memory')}; the damaged file was moved to {done.aside}"
    if done.damaged:
        there = f"{done.replaced} came from the last backup, {done.damaged - done.replaced} are lost"
        yield f"{counted(done.damaged, 'record')} of the log could not be read: {there}"
    if done.lost:
        yield f"lost {len(done.lost)}: {_names(done.lost)}"
    if done.lost or done.damaged > done.replaced or not done.kept:
        yield "`memman backup list` shows the backups that may have the rest"
    if not queue:
        yield "the text index, built-in vectors and edges were made anew; the next drains go over the edges once more"


@verb(asks=_ask, shows=lambda done: lines(told(done)))
@click.option("--queue", is_flag=True, help="Repair the queue instead of a store.")
def repair(place: Place, *, queue: bool = False) -> "Repaired":
    """Rebuild a damaged store from its log, and from the last backup.

    The damaged file is kept. The exit code is 0 even if something was lost; the output says so. Changes nothing if
    nothing is wrong.
    """
    from memman.recovery import repair as recovery

    return recovery.repair_queue(place.data) if queue else recovery.repair(place.data, place.name)
