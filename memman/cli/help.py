"""`memman help`."""

import click


@click.command()
@click.argument("verbs", nargs=-1, metavar="[VERB]...")
@click.pass_context
def help(ctx: click.Context, verbs: tuple[str, ...]) -> None:  # noqa: A001 - the verb's name
    """Print this help, or the help of a verb."""
    page = ctx.find_root()
    for verb in verbs:
        if not isinstance(page.command, click.Group):
            page.fail(f"{page.command_path} has no subcommands")
        _, command, _ = page.command.resolve_command(page, [verb])
        if command:
            page = click.Context(command, page, verb)
    click.echo(page.get_help())
