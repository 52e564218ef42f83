"""`memman embed`: which model makes the vectors, and changing it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import click

from memman.commands.person import confirm
from memman.commands.place import Place, expected
from memman.commands.printing import Progress, bar, pairs, text, unseen
from memman.commands.verb import Group, store_option
from memman.config import stores
from memman.config.env import PROVIDER, Settings, change_all, own
from memman.config.keys import KEYS
from memman.config.places import store_path
from memman.config.providers import EMBEDDERS
from memman.config.schedule import refuse_stopped
from memman.drain.stores import metered
from memman.embed.base import Embedder, LocalEmbedder
from memman.locks import drain_lock
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.records import Fingerprint
from memman.model.vocabulary import BUILTIN, ON_MACHINE
from memman.providers.chosen import outdated
from memman.providers.pool import Providers
from memman.store.sqlite import vectors
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.backfill import discard, fill, known, lacking, resolved

_PARTS = ("provider", "model", "endpoint", "dimension")
_KEY = "MEMMAN_EMBED_API_KEY"


async def _status(data: str, name: str) -> dict[str, Any]:
    providers = Providers(data, Settings.load(data, name))
    with Catalogue.open(store_path(data, name)) as catalogue:
        db = catalogue.reader.db
        local, configured = providers.local().fingerprint, resolved(db, providers.embedder().fingerprint)
        memories, tally = vectors.memories(db), vectors.tally(db)
    await providers.close()

    def held(made: Fingerprint) -> dict[str, Any]:
        count = tally.get(made, 0)
        return {"fingerprint": str(made), "vectors": count, "missing": memories - count}

    others = [held(made) for made, count in tally.items() if count and made not in {local, configured}]
    return {
        "store": name,
        "memories": memories,
        "builtin": held(local),
        "configured": held(configured),
        "others": others,
    }


async def _reembed(data: str, name: str, progress: Progress) -> int:
    async with metered(data, Settings.load(data, name)) as opened:
        store, providers = opened.store(name), opened.providers
        sources = [*dict.fromkeys((providers.local(), providers.embedder()))]
        done = await _filled([(store, source) for source in sources], progress)
        _keep_only(store, await known(providers.embedder()))
    return done


def swap(data: str, said: Mapping[str, object], progress: Progress = unseen) -> str:
    """Embed every store with what `said` names, or its `store` alone, then put that in force; say what was done.

    The old embedder stays in force until the last store is complete. Cut short, the same again goes on. Raises
    UsageError, BadConfig, Busy, and what a provider raises.
    """
    store, parts = str(said.get("store") or ""), {name: str(said.get(name) or "") for name in _PARTS}
    keys = {f"MEMMAN_EMBED_{name.upper()}": value or None for name, value in parts.items()}
    if parts["provider"] == BUILTIN:
        keys[_KEY] = None
    settings = Settings.load(data, store)
    if all(settings[name] == (value or KEYS[name].default) for name, value in keys.items()):
        named = "/".join(parts[name] for name in ("provider", "model", "dimension") if parts[name])
        raise UsageError(f"{named} is already in use; `memman embed reembed` creates missing vectors")
    if EMBEDDERS[settings[PROVIDER]].by_http and _KEY in outdated(settings, keys):
        raise UsageError(
            f"{_KEY} is for {settings[PROVIDER]}: `memman embed swap --to builtin` forgets it, then set the key of"
            f" {parts['provider']} and swap to that"
        )
    with drain_lock(data):
        return asyncio.run(_swap(data, keys, store, progress))


async def _swap(data: str, keys: dict[str, str | None], only: str, progress: Progress) -> str:
    settings = Settings.load(data, only, keys) if only else Settings.load(data).replaced(keys)
    async with metered(data, settings) as opened:
        wanted = opened.providers.embedder()
        made = await known(wanted)
        if not isinstance(wanted, LocalEmbedder):
            keys |= {"MEMMAN_EMBED_MODEL": made.model, "MEMMAN_EMBED_DIMENSION": str(made.dimension)}
        # A store that names an embedder of its own is left out of a swap of all.
        names = [only] if only else [name for name in stores.names(data) if PROVIDER not in own(data, name)]
        meant = [opened.store(name) for name in names]
        done = await _filled([(store, wanted) for store in meant], progress)
        change_all(data, keys, only)
        for store in meant:
            _keep_only(store, made)
    where = f"store {only!r}" if only else counted(len(meant), "store")
    return f"now using {made} in {where}: {counted(done, 'vector')} created"


async def _filled(work: Sequence[tuple[SqliteStore, Embedder]], progress: Progress) -> int:
    """Fill stores one after the other, telling `progress` of the whole."""
    total = sum([lacking(store, await known(source)) for store, source in work])
    done = 0

    def more(memories: int) -> None:
        nonlocal done
        done += memories
        progress(done, total)

    for store, source in work:
        await fill(store, source, progress=more)
    return done


def _keep_only(store: SqliteStore, kept: Fingerprint) -> None:
    """Drop the vectors of every embedder elsewhere but one."""
    for made, number in vectors.embedders(store.db).items():
        if made != kept and made.provider not in ON_MACHINE:
            discard(store, number)
    store.maintain()


@click.group(cls=Group)
@store_option
def embed() -> None:
    """Show and change the embedding model."""


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {inner}" for name, inner in value.items())
    return "; ".join(map(_flat, value)) if isinstance(value, list) else str(value)


@embed.verb(shows=lambda record: pairs({name: _flat(value) for name, value in record.items()}))
def status(place: Place) -> dict[str, Any]:
    """Show which model made the store's vectors, and how many there are; no provider is asked."""
    return asyncio.run(_status(place.data, expected(place).name))


@embed.verb(
    shows=lambda done: text(f"embedded {counted(done['embedded'], 'memory')} of store {done['store']!r}"),
    bar=("embedding", "finished vectors are kept; run the same command again to continue"),
)
def reembed(place: Place, *, progress: Progress = unseen) -> dict[str, Any]:
    """Create missing vectors with the current embedding model, and drop those of models that are not in use."""
    refuse_stopped(place.data, "embed reembed")
    if not expected(place).exists:
        return {"store": place.name, "embedded": 0}
    with drain_lock(place.data):
        return {"store": place.name, "embedded": asyncio.run(_reembed(place.data, place.name, progress))}


@embed.verb("swap", shows=text)
@click.option("--to", "provider", type=click.Choice([*EMBEDDERS]), required=True, help="The new provider.")
@click.option("--model", default="", help="Its model.")
@click.option("--endpoint", default="", help="Its base URL.")
@click.option("--dimension", type=click.IntRange(8, 16_384), help="Dimension of its vectors.")
def swap_verb(place: Place, *, provider: str, **named: object) -> str:
    """Switch all stores, or with --store one, to another embedding model; recall keeps working meanwhile.

    If it is interrupted, run the same command again, or drop what it left with `memman embed reembed`.
    """
    store = expected(place).name if place.named else ""
    refuse_stopped(place.data, "embed swap")
    if provider != BUILTIN:
        whose = f"every memory of store {store!r}" if store else "every memory"
        where = f" at {named['endpoint']}" if named["endpoint"] else ""
        confirm(f"Send the text of {whose} to {provider}{where}?")
    with bar("embedding", "the old embedder stays in use; run the same command again to continue") as progress:
        return swap(place.data, {"provider": provider, "store": store, **named}, progress)
