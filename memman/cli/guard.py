"""The verbs of a person, refused to agents."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import click

from memman.cli.ancestors import asking
from memman.model.errors import ForPeople
from memman.model.verbs import AGENT_VERBS, ALLOWED, ASKED, PERSONS


@dataclass(frozen=True, slots=True)
class _Guarded:
    """What a person's verb does, refused to an agent."""

    verb: str
    run: Callable[..., Any]

    def __call__(self, *args: Any, **given: Any) -> Any:
        who = asking()
        if who and persons(self.verb, [name for name, value in given.items() if value]):
            raise refusal(who)
        return self.run(*args, **given)


def persons(verb: str, given: Iterable[str]) -> bool:
    """Whether a verb, with the values `given` on its command line, is a person's."""
    return not (verb in AGENT_VERBS or verb in ALLOWED) or any(name in PERSONS.get(verb, ()) for name in given)


def guard(command: click.Command, verb: str) -> None:
    """Refuse a verb, or the options of one, to agents where that is a person's; its help says when it asks."""
    run = command.callback
    if run is None or isinstance(run, _Guarded) or not persons(verb, PERSONS.get(verb, ())):
        return
    command.callback = _Guarded(verb, run)
    if verb in ASKED:
        command.epilog = f"Asks for confirmation at the terminal{ASKED[verb] and ', ' + ASKED[verb]}."


def refusal(who: str) -> ForPeople:
    """Say that the agent `who` may not do this."""
    return ForPeople(f"only a person may do this, and {who} is running it: run it in your own terminal")
