"""`memman scheduler queue`: list, failed, show, retry, reconsider, purge."""

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from memman.commands.person import confirm
from memman.commands.printing import ago, listed, pairs, printed, short, table, text, when
from memman.commands.verb import Group, data_options, limit_option, place, said_store, store_option
from memman.config.drain_by_write import ask
from memman.model.errors import UsageError
from memman.model.plural import counted

if TYPE_CHECKING:
    from memman.queue.notes import Queue
    from memman.queue.view import QueueView

STATES = ("pending", "running", "done", "parked")


@click.group(cls=Group)
@store_option
def queue() -> None:
    """Inspect the queue, and retry parked notes."""


@queue.command("list")
@click.option("--state", type=click.Choice(STATES), help="Show only notes in this state; default: all except done.")
@limit_option
@data_options
def list_(state: str | None, limit: int, as_json: bool) -> None:
    """List notes, newest first."""
    states = (state,) if state else ("pending", "running", "parked")
    _print(listed(lambda most: _listed(states, most), limit), as_json=as_json)
    if as_json:
        return
    from memman.govern.status import waits

    with closing(_view()) as view:
        if why := waits(place().data, view):
            text(f"notes wait: {why}")


@queue.command()
@limit_option
@data_options
def failed(limit: int, as_json: bool) -> None:
    """List parked notes with their errors."""
    notes = listed(lambda most: _listed(("parked",), most), limit)
    if printed(notes, as_json=as_json):
        return
    for note in notes:
        tries = counted(note["attempts"], "attempt")
        text(f"{short(note['uid'], note=True)}  {note['store']}  {tries}  {note['error']}")
        text(f"    {note['text'][:200]}")


@queue.command()
@click.argument("id_", metavar="ID")
@data_options
def show(id_: str, as_json: bool) -> None:
    """Show all details of a note."""
    with closing(_view()) as view:
        record = view.show(view.find(id_))
    if printed(record, as_json=as_json):
        return
    times = {name: when(record[name] or None) for name in ("queued_at", "changed_at", "retry_at")}
    pairs(record | times | {"journal": ", ".join(record["journal"])})


@queue.command()
@click.argument("id_", metavar="ID", required=False)
@click.option("--all", "every", is_flag=True, help="All parked notes.")
@store_option
def retry(id_: str | None, every: bool) -> None:
    """Retry parked notes."""
    if every == bool(id_):
        raise UsageError("give the id of a parked note, or --all")
    with closing(_queue()) as notes:
        parked = (note["uid"] for note in _of_store(notes.listed(("parked",), -1)))
        chosen = list(parked) if every else [notes.find(str(id_))]
        done = [uid for uid in chosen if notes.retry(uid)]
    if done:
        ask(place().data)
    if id_ and not done:
        raise UsageError(f"note {id_} is not parked")
    text(f"{counted(len(done), 'note')} will be retried")


@queue.command()
def reconsider() -> None:
    """Ask the model about notes of the last 7 days on which the judge decided while it could not be asked."""
    with closing(_queue()) as notes:
        count = notes.reconsider()
    if count:
        ask(place().data)
    text(f"{counted(count, 'note')} queued again")


@queue.command()
@click.option("--done", is_flag=True, help="Notes already stored as memories.")
@click.option("--parked", is_flag=True, help="Notes that failed for good; their text is stored nowhere else.")
def purge(done: bool, parked: bool) -> None:
    """Delete notes from the queue."""
    if not (done or parked):
        raise UsageError("nothing selected: give --done, --parked or both")
    if parked:
        _ask_to_purge()
    with closing(_queue()) as notes:
        counts = {state: notes.purge(state) for state, wanted in (("done", done), ("parked", parked)) if wanted}
    text("deleted " + ", ".join(f"{count} {state}" for state, count in counts.items()))


def _ask_to_purge() -> None:
    with closing(_view()) as view:
        notes = view.listed(("parked",), -1)
    confirm(
        "Delete the parked notes? Their text is stored nowhere else.",
        listed=(f"{short(note['uid'], note=True)}  {note['text']}" for note in notes),
    )


def _view() -> "QueueView":
    from memman.queue.view import QueueView

    return QueueView(place().data)


def _queue() -> "Queue":
    from memman.queue.notes import Queue

    return Queue(place().data)


def _listed(states: tuple[str, ...], limit: int) -> list[dict[str, Any]]:
    with closing(_view()) as view:
        return list(_of_store(view.listed(states, -1 if said_store() else limit)))[:limit]


def _of_store(notes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    store = said_store()
    return (note for note in notes if store in {None, note["store"]})


def _print(notes: list[dict[str, Any]], *, as_json: bool) -> None:
    if printed(notes, as_json=as_json):
        return
    table(
        [
            (short(n["uid"], note=True), n["store"], n["channel"], n["state"], ago(n["queued_at"]), n["text"])
            for n in notes
        ],
        80,
        ("id", "store", "kind", "state", "age", "text"),
    )
