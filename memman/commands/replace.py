"""`memman replace`: remember, with something to take the place of."""

from typing import Any

import click

from memman.commands.memories import Named, named
from memman.commands.place import Place, chosen, looking
from memman.commands.remember_recall import params, split
from memman.commands.verb import Command, said_store
from memman.config.schedule import refuse_stopped
from memman.hot.grammar import REMEMBER
from memman.hot.remember import remember
from memman.model.errors import UsageError
from memman.model.text import SHORT_ID
from memman.store.sqlite.catalogue import Catalogue


def target(place: Place, part: str) -> tuple[str, dict[str, str]]:
    """Return the whole uid that `part` names and the hints it hands on. Raises UsageError for what is not current."""
    refuse_stopped(place.data, "replace")
    with looking(place) as (catalogue, queue):
        found = named(part, catalogue, queue, place.name)
        if found.note:
            row = queue.show(found.note)
            row["entities"] = row["entities"].split("\n")
        else:
            row = _current(found, catalogue)
    importance = row["importance"] and str(row["importance"])
    hints = {"category": row["category"], "importance": importance, "entities": ",".join(row["entities"])}
    return found.uid, {name: value for name, value in hints.items() if value}


def _current(found: Named, catalogue: Catalogue) -> dict[str, Any]:
    """Return the first of the memories, all of them current."""
    memories = catalogue.memories(found.memories)
    for memory in memories:
        shown, status = memory["uid"][:SHORT_ID], memory["status"]
        if status == "forgotten":
            raise UsageError(f"{shown} is forgotten: `memman forget --undo {shown}` brings it back")
        if status == "review":
            raise UsageError(f"{shown} is held back for review: approve it first with `memman review approve`")
        if status == "superseded":
            last = catalogue.successors(memory["id"])[-1]["uid"][:SHORT_ID]
            raise UsageError(f"{shown} is already superseded: replace {last} instead")
    return memories[0]


def _replace(old: str, **given: Any) -> int:
    """Save a note that replaces a memory.

    OLD is the id of a memory, or of a note that waits. What is not said of
    category, importance and entities is taken over from it. The text comes as
    words, from a pipe, or with -.
    """
    values, words = split(given)
    name = values.get("store", said_store())
    place = chosen(name if isinstance(name, str) else None)
    uid, hints = target(place, old)
    return remember(words, hints | values | {"store": place.name}, uid)


_OLD = click.Argument(["old"], metavar="ID")
replace = Command("replace", callback=_replace, params=[_OLD, *params(REMEMBER)], help=_replace.__doc__)
