"""What a replacing note takes over from what it replaces."""

from memman.commands.memories import Named, named
from memman.commands.place import Place, looking
from memman.config.schedule import refuse_stopped
from memman.model.errors import UsageError
from memman.model.text import SHORT_ID
from memman.queue.view import QueueView
from memman.store.sqlite.catalogue import Catalogue


def target(place: Place, part: str) -> tuple[str, dict[str, str]]:
    """Return the whole uid that `part` names and the hints it hands on. Raises UsageError for what is not current."""
    refuse_stopped(place.data, "replace")
    with looking(place) as (catalogue, queue):
        found = named(part, catalogue, queue, place.name)
        return found.uid, _waiting(found.note, queue) if found.note else _stored(found, catalogue)


def _waiting(uid: str, queue: QueueView) -> dict[str, str]:
    note = queue.show(uid)
    return _hints(note["category"], note["importance"], note["entities"].split("\n"))


def _stored(found: Named, catalogue: Catalogue) -> dict[str, str]:
    memories = catalogue.memories(found.memories)
    for memory in memories:
        _check_current(memory["id"], memory["uid"], memory["status"], catalogue)
    first = memories[0]
    return _hints(first["category"], first["importance"], first["entities"])


def _check_current(row: int, uid: str, status: str, catalogue: Catalogue) -> None:
    shown = uid[:SHORT_ID]
    if status == "forgotten":
        raise UsageError(f"{shown} is forgotten: `memman forget --undo {shown}` brings it back")
    if status == "review":
        raise UsageError(f"{shown} is held back for review: approve it first with `memman review approve`")
    if status == "superseded":
        last = catalogue.successors(row)[-1]["uid"][:SHORT_ID]
        raise UsageError(f"{shown} is already superseded: replace {last} instead")


def _hints(category: str | None, importance: int | None, entities: list[str]) -> dict[str, str]:
    """Write hints as the options of `remember`, those that are there."""
    said = {"category": category, "importance": importance and str(importance), "entities": ",".join(entities)}
    return {name: value for name, value in said.items() if value}
