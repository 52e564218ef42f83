"""What a person decides: refused to an agent, some of it to a script, unless --consent says that a person agrees."""

import sys

import click

from memman.hot.provenance import agent
from memman.model.errors import ForPeople
from memman.model.verbs import AGENT_VERBS, ALLOWED, PERSONS

FLAG = "--consent"
_GIVEN = "memman.consent"


def asks(verb: str, given: list[str]) -> bool:
    """Whether a verb, with the values `given` on its command line, is a person's."""
    return not (verb in AGENT_VERBS or verb in ALLOWED) or any(name in PERSONS.get(verb, ()) for name in given)


def guard(command: click.Command, verb: str) -> None:
    """Give a verb that may be a person's the option that agrees to it, and with it the question whether it is."""
    if asks(verb, list(PERSONS.get(verb, ()))) and not any(FLAG in param.opts for param in command.params):
        command.params.append(
            click.Option([FLAG], is_flag=True, expose_value=False, callback=_judge, help="A person agrees to this.")
        )


def need_person(what: str) -> None:
    """Raise ForPeople unless a person sits at a terminal or has agreed."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not (click.get_current_context().meta.get(_GIVEN) or any(stream.isatty() for stream in streams)):
        raise ForPeople(f"{what} is for a person at a terminal; with their leave, add {FLAG}")


def _judge(ctx: click.Context, _: click.Parameter, given: bool) -> None:
    """Raise ForPeople where an agent runs what is a person's. Values given on the command line are read before this."""
    if given:
        ctx.meta[_GIVEN] = True
        return
    verb, who = ctx.command_path.partition(" ")[2], agent()
    if who and asks(verb, [name for name, value in ctx.params.items() if value]):
        raise ForPeople(f"this is for a person, and {who} runs it: with their leave, add {FLAG}")
