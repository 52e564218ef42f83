"""`memman embed`: status, reembed, swap."""

import asyncio
import json
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import click

from memman.commands.person import confirm
from memman.commands.place import Place, expected
from memman.commands.printing import Progress, bar, pairs, text, unseen
from memman.commands.verb import Group, store_option
from memman.config import stores
from memman.config.env import PROVIDER, Settings, change_all, own
from memman.config.keys import KEYS
from memman.config.places import read_file, store_path, write_file
from memman.config.providers import EMBEDDERS
from memman.config.schedule import refuse_stopped
from memman.drain.stores import metered
from memman.embed import Embedder, LocalEmbedder
from memman.locks import drain_lock
from memman.model.errors import DamagedFile, UsageError
from memman.model.objects import record
from memman.model.plural import counted
from memman.model.records import Fingerprint
from memman.model.vocabulary import BUILTIN, ON_MACHINE
from memman.providers import embedder, outdated
from memman.providers.pool import Providers
from memman.store.sqlite import vectors
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.backfill import discard, fill, known, lacking, resolved

_KEYED = ("provider", "model", "endpoint", "dimension")
_PARTS = (*_KEYED, "store")
_KEY = "MEMMAN_EMBED_API_KEY"


@dataclass(frozen=True, slots=True)
class EmbedderSwap:
    """What the MEMMAN_EMBED_ keys will say, of one store or of all; empty means the key's default."""

    provider: str
    model: str = ""
    endpoint: str = ""
    dimension: str = ""
    store: str = ""

    @classmethod
    def of(cls, said: Mapping[str, object]) -> "EmbedderSwap":
        """Read a target from what a caller said, missing parts empty."""
        return cls(**{name: str(said.get(name) or "") for name in _PARTS})

    @classmethod
    def load(cls, data: str) -> "EmbedderSwap | None":
        """Return the target of the unfinished swap, None where there is none. Raises DamagedFile."""
        text = read_file(_path(data))
        if not text:
            return None
        found = record(cls, text)
        if found is None:
            raise DamagedFile(f"{_path(data)} is not readable: delete it and start the swap again")
        return found

    def save(self, data: str) -> None:
        """Keep the target until the swap is over."""
        write_file(_path(data), json.dumps(asdict(self)) + "\n")

    @property
    def keys(self) -> dict[str, str | None]:
        """The settings that put the target in force."""
        said = asdict(self)
        forgotten = {_KEY: None} if self.provider == BUILTIN else {}
        return {f"MEMMAN_EMBED_{name.upper()}": said[name] or None for name in _KEYED} | forgotten

    def in_force(self, settings: Settings) -> bool:
        """Whether `settings` say the same."""
        return all(settings[name] == (value or KEYS[name].default) for name, value in self.keys.items())

    def __str__(self) -> str:
        return "/".join(part for part in (self.provider, self.model, self.dimension) if part)


def forget(data: str) -> None:
    """Drop the target: the swap is over."""
    with suppress(FileNotFoundError):
        os.remove(_path(data))


def _path(data: str) -> str:
    return data + "/swap.json"


def status(data: str, store: str) -> dict[str, Any]:
    """Say which vectors `store` holds and which it lacks, and how far a swap has got."""
    return asyncio.run(_status(data, store, Settings.load(data, store)))


def reembed(data: str, store: str, progress: Progress = unseen) -> int:
    """Embed what lacks a vector of the built-in or the configured embedder; return how many vectors were made."""
    if not stores.exists(data, store):
        return 0
    with drain_lock(data):
        return asyncio.run(_reembed(data, store, progress))


def swap(data: str, target: Mapping[str, object] | None, progress: Progress = unseen, *, resume: bool = False) -> str:
    """Embed every store with `target`, or the store it names, then put it in force; say what was done.

    The old embedder stays in force until the last store is complete. What was cut short goes on with `resume`. Raises
    UsageError, BadConfig, Busy, and what a provider raises.
    """
    with drain_lock(data):
        chosen = _chosen(data, target, resume=resume)
        return asyncio.run(_swap(data, chosen, progress))


def abort(data: str) -> str:
    """Give an unfinished swap up: drop the vectors it made. One that only has to tidy up is finished instead."""
    with drain_lock(data):
        target = EmbedderSwap.load(data)
        if target is None:
            raise UsageError("there is no unfinished swap")
        if target.in_force(Settings.load(data, target.store)):
            return asyncio.run(_swap(data, target, unseen))
        return asyncio.run(_abort(data, target))


async def _status(data: str, name: str, settings: Settings) -> dict[str, Any]:
    target, providers = EmbedderSwap.load(data), Providers(data, settings)
    with Catalogue.open(store_path(data, name)) as catalogue:
        db = catalogue.reader.db
        local = providers.local().fingerprint
        configured = resolved(db, providers.embedder().fingerprint)
        goal = resolved(db, _made_by(data, providers, target)) if target and name in _meant(data, target) else None
        memories, counted = vectors.memories(db), vectors.tally(db)
    await providers.close()

    def held(made: Fingerprint) -> dict[str, Any]:
        count = counted.get(made, 0)
        return {"fingerprint": str(made), "vectors": count, "missing": memories - count}

    others = [held(made) for made, count in counted.items() if count and made not in {local, configured, goal}]
    return {
        "store": name,
        "memories": memories,
        "builtin": held(local),
        "configured": held(configured),
        "others": others,
        "swap": {"target": str(goal), "done": held(goal)["vectors"], "left": held(goal)["missing"]} if goal else None,
    }


async def _reembed(data: str, name: str, progress: Progress) -> int:
    async with metered(data, Settings.load(data, name)) as opened:
        store, providers = opened.store(name), opened.providers
        work = [(store, source) for source in dict.fromkeys((providers.local(), providers.embedder()))]
        done = await _filled(work, progress)
        store.maintain()
    return done


async def _swap(data: str, target: EmbedderSwap, progress: Progress) -> str:
    async with metered(data, _under(data, target)) as opened:
        wanted = opened.providers.embedder()
        made = await known(wanted)
        if not isinstance(wanted, LocalEmbedder):
            target = replace(target, model=made.model, dimension=str(made.dimension))
        target.save(data)
        meant = [opened.store(name) for name in _meant(data, target)]
        done = await _filled([(store, wanted) for store in meant], progress)
        change_all(data, target.keys, target.store)
        for store in meant:
            _keep_only(store, {made})
            store.maintain()
        forget(data)
    where = f"store {target.store!r}" if target.store else counted(len(meant), "store")
    return f"now using {made} in {where}: {counted(done, 'vector')} created"


async def _abort(data: str, target: EmbedderSwap) -> str:
    async with metered(data, Settings.load(data, target.store)) as opened:
        providers = opened.providers
        for store in [opened.store(name) for name in _meant(data, target)]:
            made = resolved(store.db, _made_by(data, providers, target))
            now = resolved(store.db, providers.embedder().fingerprint)
            _keep_only(store, vectors.embedders(store.db).keys() - ({made} - {now}))
    forget(data)
    return f"the swap to {target} was cancelled; nothing changed"


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


def _keep_only(store: SqliteStore, kept: Collection[Fingerprint]) -> None:
    for made, number in vectors.embedders(store.db).items():
        if made not in kept and made.provider not in ON_MACHINE:
            discard(store, made, number)


def _chosen(data: str, said: Mapping[str, object] | None, *, resume: bool) -> EmbedderSwap:
    """Return what to swap to. Raises UsageError where that is not clear, or is in force already."""
    unfinished = EmbedderSwap.load(data)
    if resume:
        if unfinished is None:
            raise UsageError("there is no unfinished swap")
        return unfinished
    target = EmbedderSwap.of(said or {})
    if unfinished is not None:
        raise UsageError(
            f"the swap to {unfinished} is not finished: continue it with --resume or cancel it with --abort"
        )
    settings = Settings.load(data, target.store)
    if target.in_force(settings):
        raise UsageError(f"{target} is already in use; `memman embed reembed` creates missing vectors")
    if EMBEDDERS[settings[PROVIDER]].by_http and _KEY in outdated(settings, target.keys):
        raise UsageError(
            f"{_KEY} is for {settings[PROVIDER]}: `memman embed swap --to builtin` forgets it, then set the key of"
            f" {target.provider} and swap to that"
        )
    return target


def _under(data: str, target: EmbedderSwap) -> Settings:
    """Return the settings with `target` in force."""
    if target.store:
        return Settings.load(data, target.store, target.keys)
    return Settings.load(data).replaced(target.keys)


def _meant(data: str, target: EmbedderSwap) -> list[str]:
    """Return the stores that a swap is about: its own, or all but those that have named an embedder of their own."""
    if target.store:
        return [target.store]
    return [name for name in stores.names(data) if PROVIDER not in own(data, name)]


def _made_by(data: str, providers: Providers, target: EmbedderSwap) -> Fingerprint:
    """Name what `target` makes, without asking it anything."""
    return embedder(_under(data, target), providers.http, providers.local()).fingerprint


@click.group(cls=Group)
@store_option
def embed() -> None:
    """Show and change the embedding model."""


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_flat(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return "; ".join(map(_flat, value))
    return "" if value is None else str(value)


@embed.verb("status", shows=lambda record: pairs({name: _flat(value) for name, value in record.items()}))
def status_verb(place: Place) -> dict[str, Any]:
    """Show which model made the store's vectors, and how many there are."""
    return status(place.data, expected(place).name)


@embed.verb(
    "reembed",
    shows=lambda done: text(f"embedded {counted(done['embedded'], 'memory')} of store {done['store']!r}"),
    bar=("embedding", "finished vectors are kept; run the same command again to continue"),
)
def reembed_verb(place: Place, *, progress: Progress) -> dict[str, Any]:
    """Create missing vectors with the current embedding model."""
    expected(place)
    refuse_stopped(place.data, "embed reembed")
    return {"store": place.name, "embedded": reembed(place.data, place.name, progress)}


@embed.verb("swap", shows=text)
@click.option("--to", "provider", type=click.Choice([*EMBEDDERS]), help="The new provider.")
@click.option("--model", default="", help="Its model.")
@click.option("--endpoint", default="", help="Its base URL.")
@click.option("--dimension", type=click.IntRange(8, 16_384), help="Dimension of its vectors.")
@click.option("--resume", is_flag=True, help="Continue an interrupted swap.")
@click.option("--abort", "give_up", is_flag=True, help="Cancel a swap and keep the old vectors.")
def swap_verb(place: Place, *, provider: str | None, resume: bool, give_up: bool, **named: object) -> str:
    """Switch all stores, or with --store one, to another embedding model; recall keeps working meanwhile."""
    if sum((bool(provider), resume, give_up)) != 1:
        raise UsageError("give --to PROVIDER, --resume or --abort")
    store = expected(place).name if place.named else ""
    refuse_stopped(place.data, "embed swap")
    if provider and provider != BUILTIN:
        whose = f"every memory of store {store!r}" if store else "every memory"
        where = f" at {named['endpoint']}" if named["endpoint"] else ""
        confirm(f"Send the text of {whose} to {provider}{where}?")
    if give_up:
        return abort(place.data)
    with bar("embedding", "the old embedder stays in use; continue with `memman embed swap --resume`") as progress:
        target = None if resume else {"provider": provider, "store": store, **named}
        return swap(place.data, target, progress, resume=resume)
