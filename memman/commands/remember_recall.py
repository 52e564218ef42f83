"""The hot verbs as click commands, made from the same tables that the fast parser reads."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from memman.belief import SOURCES
from memman.commands.verb import Command, complete_store, said_store, starting
from memman.hot.grammar import EVERYWHERE, RECALL, REMEMBER, SHORT
from memman.hot.recall import recall as run_recall
from memman.hot.remember import remember as run_remember
from memman.model.vocabulary import CATEGORIES, IMPORTANCES, INTENTS, VISIBILITIES

Table = Mapping[str, tuple[str, str, str]]
Values = dict[str, str | bool]

# Options of recall that say how it prints.
_PRINTING = {"--store", "--budget", "--json", *EVERYWHERE}
# What a shell may complete the value of an option with.
_WORDS = {
    "category": CATEGORIES,
    "importance": IMPORTANCES,
    "intent": INTENTS,
    "source": SOURCES,
    "visibility": VISIBILITIES,
}


def option(flag: str, dest: str, takes: str, text: str) -> click.Option:
    """Make click's option from a row of the grammar."""
    flags = [flag, *(short for short, full in SHORT.items() if full == flag), dest]
    if not takes:
        return click.Option(flags, is_flag=True, help=text)
    complete = complete_store if dest == "store" else _complete(dest)
    return click.Option(flags, metavar=takes, type=click.UNPROCESSED, help=text, shell_complete=complete)


def _complete(dest: str) -> Any:
    return lambda ctx, param, begun: starting(_WORDS.get(dest, ()), begun)  # noqa: ARG005 - click's own signature


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
    """Save a note and print its id; the text comes as words, from a pipe, or with -."""
    values, words = split(given)
    return run_remember(words, {"store": said_store(), **values})


def _recall(**given: Any) -> int:
    """Search memory for what answers a question."""
    values, words = split(given)
    return run_recall(words, {"store": said_store(), **values})


remember = Command("remember", callback=_remember, params=params(REMEMBER), help=_remember.__doc__)
recall = Command("recall", callback=_recall, params=params(RECALL), help=_recall.__doc__)
