"""Vectors for memories that lack some embedder's, batch by batch, under the drain lock."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import apsw

from memman.config.providers import EMBEDDERS
from memman.embed.base import Embedder, LocalEmbedder, Vectors, planes
from memman.model.errors import Busy, CannotWrite, Refused, StoreError
from memman.model.records import Fingerprint
from memman.model.vocabulary import BUILTIN, FILLED, JUDGE, ON_MACHINE
from memman.pipeline.vectors import embed_in_context, made_by
from memman.sqlite import TranslatedErrors
from memman.store.sqlite import vectors
from memman.store.sqlite.store import SqliteStore

# Texts a provider call, and memories a transaction.
BATCH = 64
# Memories that are given vectors at the end of one drain: five to ten seconds' work.
AT_ONCE = 400


async def fill(
    store: SqliteStore,
    embedder: Embedder,
    *,
    after: int = 0,
    limit: int | None = None,
    progress: Callable[[int], None] = lambda memories: None,  # noqa: ARG005 - nobody looks on by default
) -> int:
    """Embed what has no vector of `embedder` yet, or an outdated one, a batch a transaction; return how many."""
    fingerprint, done = await known(embedder), 0
    with store.unit() as unit:
        number = unit.embedder(fingerprint)
    while limit is None or done < limit:
        with TranslatedErrors(store.path):
            rows = vectors.outdated(store.db, BATCH) if fingerprint.provider == BUILTIN else []
            if not rows:
                rows = vectors.missing(store.db, number, after, BATCH, forgotten=fingerprint.provider in ON_MACHINE)
                after = rows[-1][0] if rows else after
        if not rows:
            break
        if isinstance(embedder, LocalEmbedder):
            embedder.vectors([text for _, text in rows])  # remembered, so that the transaction is short
            with store.unit() as unit:
                embed_in_context(unit, embedder, store.cell, [memory for memory, _ in rows])
            done += len(rows)
        else:
            done += await _embed(store, number, embedder, rows)
        progress(len(rows))
    if fingerprint.provider in ON_MACHINE:
        _advance(store, number)
    return done


async def _embed(store: SqliteStore, number: int, embedder: Embedder, rows: Sequence[tuple[int, str]]) -> int:
    """Embed memories, one by one where the embedder refuses one of them; return how many it embedded."""
    try:
        embedding = await embedder.embed([text for _, text in rows])
    except Refused:
        return sum([await _embed(store, number, embedder, [row]) for row in rows]) if len(rows) > 1 else 0
    _put(store, number, [memory for memory, _ in rows], embedding.vectors)
    return len(rows)


async def known(embedder: Embedder) -> Fingerprint:
    """Return the embedder's fingerprint, its dimension asked for where it is not known yet."""
    if embedder.fingerprint.dimension:
        return embedder.fingerprint
    return made_by(embedder, (await embedder.embed(["How long is a vector?"])).vectors)


def lacking(store: SqliteStore, fingerprint: Fingerprint) -> int:
    """Count the memories that `fill` would embed."""
    with TranslatedErrors(store.path):
        number = store.reader.embedder_id(fingerprint)
        forgotten, renewed = fingerprint.provider in ON_MACHINE, fingerprint.provider == BUILTIN
        return vectors.lacking(store.db, number, forgotten=forgotten, renewed=renewed)


def resolved(db: apsw.Connection, fingerprint: Fingerprint) -> Fingerprint:
    """Return `fingerprint`, an unknown dimension taken from the newest vectors of its model in a store."""
    if fingerprint.dimension:
        return fingerprint
    named = (fingerprint.provider, fingerprint.model)
    found = [made for made in vectors.embedders(db) if (made.provider, made.model) == named]
    return found[-1] if found else fingerprint


def discard(store: SqliteStore, number: int, limit: int | None = None) -> None:
    """Drop the vectors of an embedder, up to `limit`, once recall is told."""
    with store.unit() as unit:
        unit.set_meta(_mark(number), None)
    left = limit
    while left is None or left > 0:
        with store.unit() as unit:
            gone = vectors.drop(unit.db, number, BATCH)
        if gone < BATCH:
            return
        left = None if left is None else left - gone


async def catch_up(
    names: Iterable[str],
    opened: Callable[[str], SqliteStore],
    makers: Sequence[Embedder],
    stopping: Callable[[], bool] = lambda: False,
    tick: Callable[[], None] = lambda: None,
) -> bool:
    """Give memories the vectors of this machine that they lack and drop those of before; return whether some are left.

    About AT_ONCE at once; `tick` is called after each part. Stores that cannot be written are passed over, and those
    that a newer memman embeds.
    """
    room = AT_ONCE
    for name in names:
        with suppress(StoreError, CannotWrite, Busy):
            store, before = opened(name), room
            if _newer(store, makers):
                continue
            try:
                while (lagging := _lagging(store, makers)) or (old := _left_over(store, makers)):
                    if room <= 0 or stopping():
                        return True
                    if lagging:
                        room -= max([await _next(store, made) for made in lagging])
                    else:
                        discard(store, old[0], BATCH)
                        room -= BATCH
                    tick()
                    await asyncio.sleep(0)
            finally:
                if room < before:
                    store.maintain()
    return False


async def _next(store: SqliteStore, made: Embedder) -> int:
    """Make the vectors of the next batch of memories; return how many, one at least."""
    number = store.reader.embedder_id(made.fingerprint)
    return max(1, await fill(store, made, after=0 if number is None else _filled(store, number), limit=1))


def _lagging(store: SqliteStore, makers: Iterable[Embedder]) -> list[Embedder]:
    return [made for made in makers if behind(store, made.fingerprint)]


def _newer(store: SqliteStore, makers: Iterable[Embedder]) -> bool:
    """Whether a store has vectors of a newer version of one of `makers`; versions are told by the number at the end."""
    known = [(_version(made), number) for made, number in vectors.embedders(store.db).items()]
    return any(
        name == mine and version > own and vectors.has(store.db, number)
        for mine, own in (_version(one.fingerprint) for one in makers)
        for (name, version), number in known
    )


def _version(made: Fingerprint) -> tuple[str, int]:
    name, _, number = made.model.rpartition("-v")
    return f"{made.provider}/{name}", int(number) if number.isdecimal() else 0


def _left_over(store: SqliteStore, makers: Iterable[Embedder]) -> list[int]:
    """Return whose vectors nobody searches: earlier versions of `makers`, and providers that memman no longer has."""
    made = {one.fingerprint for one in makers}
    kept = {*EMBEDDERS, JUDGE} - {one.provider for one in made}
    known = vectors.embedders(store.db).items()
    return [number for one, number in known if one not in made and one.provider not in kept]


def behind(store: SqliteStore, fingerprint: Fingerprint) -> bool:
    """Whether some memory may lack a vector of a local embedder, or has an outdated one."""
    number = store.reader.embedder_id(fingerprint)
    lacks = (_filled(store, number) if number is not None else 0) < store.reader.last()
    return lacks or (fingerprint.provider == BUILTIN and bool(vectors.outdated(store.db, 1)))


def _filled(store: SqliteStore, number: int) -> int:
    """Return the row up to which every memory is known to have a vector of `number`."""
    return int(store.reader.meta(_mark(number)) or 0)


def _advance(store: SqliteStore, number: int) -> None:
    """Note how far vectors of `number` go without a gap, in one transaction with the look at it."""
    with store.unit() as unit:
        gap = vectors.missing(unit.db, number, _filled(store, number), 1, forgotten=True)
        unit.set_meta(_mark(number), str(gap[0][0] - 1 if gap else store.reader.last()))


def _mark(number: int) -> str:
    return f"{FILLED}{number}"


def _put(store: SqliteStore, number: int, memories: Sequence[int], rows: Vectors) -> None:
    with store.unit() as unit:
        packed = [(m, store.cell(number, row), *planes(row)) for m, row in zip(memories, rows, strict=True)]
        vectors.put(unit.db, number, packed)
