"""The options of every verb, --data-dir and --readonly; with the second, a verb that would write is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from memman.config.places import kept_still
from memman.hot.global_options import apply_global_options
from memman.hot.grammar import EVERYWHERE
from memman.model.errors import ReadOnly
from memman.model.verbs import ALLOWED, PERSONS

# Of the verbs that agents are told of, those that look; of those that they may run besides, those that do not.
_LOOK = frozenset(("recall", "timeline", "status", "config get"))
_WRITE = frozenset(("scheduler drain", "scheduler trigger"))
LOOKING = (ALLOWED | _LOOK) - _WRITE


@dataclass(frozen=True, slots=True)
class _Obeying:
    """What a verb does, refused where it would write and nothing is to be written."""

    verb: str
    run: Callable[..., Any]

    def __call__(self, *args: Any, **given: Any) -> Any:
        writes = self.verb not in LOOKING or any(given.get(name) for name in PERSONS.get(self.verb, ()))
        if kept_still() and writes:
            raise ReadOnly(f"--readonly was given, and {self.verb} writes: nothing was done")
        return self.run(*args, **given)


def options(*, hidden: bool = False) -> list[click.Parameter]:
    """Make the options."""
    return [
        click.Option(
            [flag],
            metavar=takes or None,
            is_flag=not takes,
            default=None,
            expose_value=False,
            is_eager=True,
            hidden=hidden,
            help=text,
            callback=_heard,
        )
        for flag, (_, takes, text) in EVERYWHERE.items()
    ]


def obeys_readonly(command: click.Command) -> bool:
    """Whether a verb has them."""
    return isinstance(command.callback, _Obeying)


def obey_readonly(command: click.Command, verb: str) -> None:
    """Give a verb the options, unless it has them, and what they mean for it."""
    if command.callback is None:
        return
    if not any(param.name == "data_dir" for param in command.params):
        command.params += options(hidden=True)
    command.callback = _Obeying(verb, command.callback)


def _heard(_ctx: click.Context, param: click.Parameter, value: str | bool | None) -> None:
    if value is not None and param.name:
        apply_global_options({param.name: value})
