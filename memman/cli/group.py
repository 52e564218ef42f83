"""A click group whose mistakes are one line: the nearest verb is named, and a missing one is asked for."""

import click

from memman.cli.guard import guard
from memman.cli.readonly import obey_readonly, obeys_readonly
from memman.cli.synonyms import meant
from memman.config.command import runnable
from memman.model.spelling import similar


class Group(click.Group):
    """A group of verbs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the group's own options; without a verb, say which there are."""
        if not args and not ctx.resilient_parsing:
            ctx.fail(f"which one? {', '.join(self.list_commands(ctx))}")
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that `args` begin with."""
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            ctx.fail(_unknown(args[0], self.list_commands(ctx), ctx.command_path.partition(" ")[2]))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a verb; a person's is refused to agents."""
        command = self.load(ctx, name)
        if command is not None and not isinstance(command, click.Group) and not obeys_readonly(command):
            verb = f"{ctx.command_path} {name}".partition(" ")[2]
            guard(command, verb)
            obey_readonly(command, verb)
        return command

    def load(self, ctx: click.Context, name: str) -> click.Command | None:
        """Find a verb."""
        return super().get_command(ctx, name)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        """Return the verbs in the order they were written."""
        return list(self.commands)


def _unknown(verb: str, verbs: list[str], group: str) -> str:
    says = f"there is no verb {verb[:40]!a}"
    if command := meant(verb, verbs, group):
        return runnable(f"{says}; `memman {command}` does it")
    nearest = similar(verb, verbs)
    return f"{says}; did you mean {nearest!r}?" if nearest else says
