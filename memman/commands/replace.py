"""`memman replace`: remember, with something to take the place of."""

from typing import Any

import click

from memman.commands.hot import params, split
from memman.commands.place import chosen
from memman.commands.verb import Command, said_store
from memman.govern.replace import target
from memman.hot.grammar import REMEMBER
from memman.hot.remember import remember


def _replace(old: str, **given: Any) -> int:
    """Save a note that replaces a memory.

    OLD is the id of a memory, or of a note that waits. What is not said of
    category, importance and entities is taken over from it. The text comes as
    words, from a pipe, or with -.
    """
    values, words = split(given)
    named = values.get("store", said_store())
    place = chosen(named if isinstance(named, str) else None)
    uid, hints = target(place, old)
    return remember(words, hints | values | {"store": place.name}, uid)


_OLD = click.Argument(["old"], metavar="ID")
replace = Command("replace", callback=_replace, params=[_OLD, *params(REMEMBER)], help=_replace.__doc__)
