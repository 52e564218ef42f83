"""`memman help`, `version`, `completion` and `self-update`: what is installed, and how it is updated."""

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any
from urllib.parse import unquote, urlsplit

import click
from click.shell_completion import get_completion_class

from memman import __version__
from memman.commands.printing import text
from memman.commands.verb import Command, verb
from memman.config.command import quoted
from memman.config.launcher import in_cache, kept_path
from memman.config.places import data_dir
from memman.model.errors import BadReply, ProviderError, ProviderUnavailable

SHELLS = ("bash", "zsh", "fish")


@verb(store=False, shows=text)
def version() -> str:
    """Print the version."""
    return f"memman {__version__}"


@click.command(cls=Command)
@click.argument("verbs", nargs=-1, metavar="[VERB]...")
@click.option("--all", "every", is_flag=True, help="Explain every verb.")
@click.pass_context
def help(ctx: click.Context, verbs: tuple[str, ...], every: bool) -> None:  # noqa: A001 - the verb's name
    """Print this help, or the help of a verb."""
    from memman.commands.root import ALL

    page = ctx.find_root()
    page.meta[ALL] = every
    for word in verbs:
        if not isinstance(page.command, click.Group):
            page.fail(f"{page.command_path} has no subcommands")
        _, command, _ = page.command.resolve_command(page, [word])
        if command:
            page = click.Context(command, page, word)
    click.echo(page.get_help())


@verb(store=False)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the shell completion script.

    For bash: memman completion bash >> ~/.bashrc
    """
    from memman.commands.root import COMPLETE, NAME, root

    kind = get_completion_class(shell)
    assert kind is not None, "click knows each of SHELLS"  # noqa: S101 - a table of ours
    sys.stdout.write(kind(root, {}, NAME, COMPLETE).source() + "\n")


_RUN_AGAIN = "uvx memman@latest install"
# What installers leave in an environment of their own -> (what they are called, what updates it).
_MARKS = {
    "pipx_metadata.json": ("pipx", "pipx upgrade memman"),
    "uv-receipt.toml": ("uv tool", "uv tool upgrade memman"),
}


def installed(data: str) -> tuple[str, str]:
    """Return what installed it, and the command that updates it."""
    if in_cache(sys.prefix):
        return "nothing: it runs from a cache", _RUN_AGAIN
    if os.path.dirname(sys.prefix) == os.path.realpath(kept_path(data)):
        return "memman install, as a copy of what uvx or pipx ran", _RUN_AGAIN
    for mark, told in _MARKS.items():
        if os.path.isfile(f"{sys.prefix}/{mark}"):
            return told
    if checkout := _checkout():
        return f"pip, as the checkout in {checkout}", f"git -C {quoted(checkout)} pull"
    return "pip", f"{quoted(sys.executable)} -m pip install --upgrade memman"


def _checkout() -> str:
    """Return the folder of an editable installation, '' where it is none."""
    try:
        told = json.loads(distribution("memman").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    return unquote(urlsplit(told["url"]).path) if told.get("dir_info", {}).get("editable") else ""


INDEX = "https://pypi.org/pypi/memman/json"
_PATIENCE = 10.0  # seconds


def _print(record: dict[str, Any]) -> None:
    text(f"memman {record['version']}, installed by {record['by']}")
    newest = record["newest"]
    if newest and not record["newer"]:
        text(f"the newest is {newest}: there is nothing to update")
        return
    text((f"the newest is {newest}; " if newest else "") + f"to update: {record['update']}")


@verb("self-update", store=False, shows=_print)
@click.option("--check", is_flag=True, help="Ask pypi.org for the newest version.")
def self_update(*, check: bool = False) -> dict[str, Any]:
    """Print how memman was installed, and the command that updates it.

    Nothing is updated, and without --check nothing is asked over the network.
    """
    by, update = installed(data_dir())
    newest = _newest() if check else None
    newer = newest is not None and _numbers(newest) > _numbers(__version__)
    return {"version": __version__, "by": by, "update": update, "newest": newest, "newer": newer}


def _newest() -> str:
    """Ask the index. Raises ProviderUnavailable and BadReply."""
    import asyncio

    try:
        told = asyncio.run(_asked())
    except BadReply:
        raise
    except ProviderError as error:
        raise ProviderUnavailable(f"the package index does not say which version is the newest: {error}") from error
    info = told.get("info")
    version = info.get("version") if isinstance(info, dict) else None
    if not (isinstance(version, str) and _numbers(version)):
        raise BadReply(f"{INDEX} names no version")
    return version


async def _asked() -> dict[str, Any]:
    from memman.http import Http, Policy

    http = Http(Policy(timeout=_PATIENCE, connect_timeout=_PATIENCE, tries=1))
    try:
        return await http.get(INDEX, {})
    finally:
        await http.close()


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with."""
    parts = version.split(".")
    end = next((n for n, part in enumerate(parts) if not (part.isascii() and part.isdigit())), len(parts))
    return tuple(map(int, parts[:end]))


globals()["self-update"] = self_update  # where the table of verbs looks for it
