"""`memman self-update`: what is installed, how, and how to update it; whether there is a newer one, only if asked."""

from typing import Any

import click

from memman import __version__
from memman.commands.printing import text
from memman.commands.verb import verb
from memman.config.installed import installed
from memman.config.places import data_dir
from memman.model.errors import BadReply, ProviderError, ProviderUnavailable

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
@click.option("--check", is_flag=True, help="Ask the package index, pypi.org, which version is the newest.")
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
