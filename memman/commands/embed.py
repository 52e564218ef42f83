"""`memman embed`: status, reembed, swap."""

from typing import Any

import click

from memman.commands.person import confirm
from memman.commands.place import expected
from memman.commands.printing import bar, pairs, printed, text
from memman.commands.verb import Group, data_options, place, said_store, store_option
from memman.config.providers import EMBEDDERS
from memman.config.schedule import refuse_stopped
from memman.govern import embedding as govern
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.vocabulary import BUILTIN


@click.group(cls=Group)
@store_option
def embed() -> None:
    """Show and change the embedding model."""


@embed.command()
@data_options
def status(as_json: bool) -> None:
    """Show which model made the store's vectors, and how many there are."""
    where = expected(place())
    record = govern.status(where.data, where.name)
    if not printed(record, as_json=as_json):
        pairs({name: _flat(value) for name, value in record.items()})


@embed.command()
@store_option
def reembed() -> None:
    """Create missing vectors with the current embedding model."""
    where = expected(place())
    refuse_stopped(where.data, "embed reembed")
    with bar("embedding", "finished vectors are kept; run the same command again to continue") as progress:
        count = govern.reembed(where.data, where.name, progress)
    text(f"embedded {counted(count, 'memory')} of store {where.name!r}")


@embed.command()
@click.option("--to", "provider", type=click.Choice([*EMBEDDERS]), help="The new provider.")
@click.option("--model", default="", help="Its model.")
@click.option("--endpoint", default="", help="Its base URL.")
@click.option("--dimension", type=click.IntRange(8, 16_384), help="Dimension of its vectors.")
@click.option("--resume", is_flag=True, help="Continue an interrupted swap.")
@click.option("--abort", is_flag=True, help="Cancel a swap and keep the old vectors.")
@store_option
def swap(provider: str | None, model: str, endpoint: str, dimension: int | None, resume: bool, abort: bool) -> None:
    """Switch all stores, or with --store one, to another embedding model; recall keeps working meanwhile."""
    if sum((bool(provider), resume, abort)) != 1:
        raise UsageError("give --to PROVIDER, --resume or --abort")
    data, store = place().data, expected(place()).name if said_store() else ""
    refuse_stopped(data, "embed swap")
    if provider != BUILTIN and not (resume or abort):
        whose = f"every memory of store {store!r}" if store else "every memory"
        confirm(f"Send the text of {whose} to {provider}{endpoint and ' at ' + endpoint}?")
    if abort:
        text(govern.abort(data))
        return
    target = {"provider": provider, "model": model, "endpoint": endpoint, "dimension": dimension, "store": store}
    kept = "the old embedder stays in use; continue with `memman embed swap --resume`"
    with bar("embedding", kept) as progress:
        text(govern.swap(data, None if resume else target, progress, resume=resume))


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_flat(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return "; ".join(map(_flat, value))
    return "" if value is None else str(value)
