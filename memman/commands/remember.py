"""`memman remember`, `recall` and `replace`, made from the same tables that the fast parser reads."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from memman.commands.place import Named, Opened, Place, chosen, opened
from memman.commands.verb import Command, said_store
from memman.config.schedule import refuse_stopped
from memman.hot.grammar import EVERYWHERE, RECALL, REMEMBER, SHORT
from memman.hot.recall import recall as run_recall
from memman.hot.remember import remember as run_remember
from memman.model.errors import UsageError
from memman.model.text import SHORT_ID

Table = Mapping[str, tuple[str, str, str]]
Values = dict[str, str | bool]

# Options of recall that say how it prints.
_PRINTING = {"--store", "--budget", "--json", *EVERYWHERE}


def option(flag: str, dest: str, takes: str, text: str) -> click.Option:
    """Make click's option from a row of the grammar."""
    flags = [flag, *(short for short, full in SHORT.items() if full == flag), dest]
    if not takes:
        return click.Option(flags, is_flag=True, help=text)
    return click.Option(flags, metavar=takes, type=click.UNPROCESSED, help=text)


def params(table: Table) -> list[click.Parameter]:
    """Make click's parameters from a table of the grammar."""
    words = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED, metavar="TEXT...")
    return [*(option(flag, *row) for flag, row in table.items()), words]


def recall_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `recall` that say what it finds, not how it prints."""
    for flag, row in reversed(RECALL.items()):
        if flag not in _PRINTING:
            one = option(flag, *row)
            kind: dict[str, Any] = {"type": one.type, "is_flag": one.is_flag, "metavar": one.metavar, "help": one.help}
            command = click.option(*one.opts, one.name, **kind)(command)
    return command


def split(given: Mapping[str, Any]) -> tuple[Values, list[str]]:
    """Take click's values apart: those that were said, and the words."""
    return said({name: value for name, value in given.items() if name != "words"}), list(given["words"])


def said(given: Mapping[str, Any]) -> Values:
    """Return those of click's values that were given."""
    return {name: value for name, value in given.items() if value not in {None, False}}


def click_parse(args: Sequence[str], table: Table) -> tuple[Values, list[str]]:
    """Parse as click does. Raises its UsageError, or Exit where help is asked for."""
    command = Command("verb", params=params(table))
    return split(command.make_context("verb", list(args)).params)


def _remember(**given: Any) -> int:
    """Save a note and print its id; the text is given as words, by a pipe, or with -."""
    values, words = split(given)
    return run_remember(words, {"store": said_store(), **values})


def _recall(**given: Any) -> int:
    """Search memory for what answers a question."""
    values, words = split(given)
    return run_recall(words, {"store": said_store(), **values})


remember = Command("remember", callback=_remember, params=params(REMEMBER), help=_remember.__doc__)
recall = Command("recall", callback=_recall, params=params(RECALL), help=_recall.__doc__)


def target(place: Place, part: str) -> tuple[str, dict[str, str]]:
    """Return the whole uid that `part` names and the hints it hands on. Raises UsageError for what is not current."""
    refuse_stopped(place.data, "replace")
    with opened(place) as store:
        found = store.find(part)
        if found.note:
            row = store.queue.show(found.note)
            row["entities"] = row["entities"].split("\n")
        else:
            row = _current(store, found)
    importance = row["importance"] and str(row["importance"])
    hints = {"category": row["category"], "importance": importance, "entities": ",".join(row["entities"])}
    return found.uid, {name: value for name, value in hints.items() if value}


def _current(store: Opened, found: Named) -> dict[str, Any]:
    """Return the first of the memories, all of them current."""
    memories = store.memories(found.memories)
    for memory in memories:
        shown, status = memory["uid"][:SHORT_ID], memory["status"]
        if status == "forgotten":
            raise UsageError(f"{shown} is forgotten: `memman forget --undo {shown}` brings it back")
        if status == "review":
            raise UsageError(f"{shown} is held back for review: approve it first with `memman review approve`")
        if status == "superseded":
            last = store.successors(memory["id"])[-1]["uid"][:SHORT_ID]
            raise UsageError(f"{shown} is already superseded: replace {last} instead")
    return memories[0]


def _replace(old: str, **given: Any) -> int:
    """Save a note that replaces a memory.

    ID is a memory, or a note that waits. Category, importance and entities stay unless given. The text is given as
    words, by a pipe, or with -.
    """
    values, words = split(given)
    name = values.get("store", said_store())
    place = chosen(name if isinstance(name, str) else None)
    uid, hints = target(place, old)
    return run_remember(words, hints | values | {"store": place.name}, uid)


_OLD = click.Argument(["old"], metavar="ID")
replace = Command("replace", callback=_replace, params=[_OLD, *params(REMEMBER)], help=_replace.__doc__)
