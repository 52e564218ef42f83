"""Better vectors for what is stored, made by a slower local embedder in bounded parts, store after store."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from memman.embed import LocalEmbedder
from memman.model.errors import StoreError
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.backfill import renew

# Memories at the end of one drain: 5 to 10 seconds of MiniLM.
AT_ONCE = 500


async def upgrade(
    names: Iterable[str], opened: Callable[[str], SqliteStore], source: LocalEmbedder, tick: Callable[[], None]
) -> bool:
    """Embed with `source` what it has not yet, AT_ONCE at most; return whether some may be left.

    `tick` is called after each part. Raises ProviderMisconfigured.
    """
    left = AT_ONCE
    for name in names:
        with suppress(StoreError):
            store = opened(name)
            if done := await renew(store, source, left, lambda memories: tick()):  # noqa: ARG005 - the part is over
                store.maintain()
                left -= done
        if left <= 0:
            return True
    return False
