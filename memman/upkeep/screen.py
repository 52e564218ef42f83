"""Looking for secrets, by today's rules, in what was stored by others; bounded work for each drain."""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from memman.model.errors import Busy, CannotWrite, StoreError
from memman.secrets import screened as clean
from memman.sqlite import TranslatedErrors
from memman.store import LISTS, TEXTS
from memman.store.sqlite import screened
from memman.store.sqlite.store import SqliteStore

# Memories looked at in one drain, a second or two, and in one transaction.
AT_ONCE = 20_000
PART = 1_000


async def screen(
    names: Iterable[str], opened: Callable[[str], SqliteStore], stopping: Callable[[], bool], tick: Callable[[], None]
) -> bool:
    """Look at AT_ONCE more memories by today's rules where that can be written; return whether some are left."""
    room = AT_ONCE
    for name in names:
        with suppress(StoreError, CannotWrite, Busy):
            store = opened(name)
            while seen := _part(store, min(PART, room)):
                room -= seen
                tick()
                await asyncio.sleep(0)
                if room <= 0 or stopping():
                    return True
    return False


def _part(store: SqliteStore, limit: int) -> int:
    """Look at the next memories of a store, and say of each what came of it; return how many those were."""
    with TranslatedErrors(store.path):
        rows = screened.next_rows(store.db, limit)
    if rows:
        leaky = [memory for memory, *texts in rows if _leaky(texts)]
        with store.unit() as unit:
            screened.mark(unit.db, (row[0] for row in rows))
            screened.mark(unit.db, leaky, leaky=True)
    return len(rows)


def _leaky(texts: Sequence[str]) -> bool:
    """Whether a text holds a secret, or a name in a list of names."""
    return any(
        any(clean(one) != one for one in (_listed(text) if name in LISTS else [text]))
        for name, text in zip(TEXTS, texts, strict=True)
    )


def _listed(text: str) -> list[str]:
    try:
        return list(map(str, json.loads(text)))
    except (ValueError, TypeError, RecursionError):  # the row is damaged, and not shown
        return []
