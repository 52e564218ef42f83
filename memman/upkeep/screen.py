"""Looking through stores for what older versions, with fewer rules, left of secrets; recall then need not.

Bounded work a drain, gone on with by the next one, notes or none: an upgrade slows no recall for long.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from memman.model.errors import Busy, CannotWrite, StoreError
from memman.model.vocabulary import LEAKS, LEAKY, SCREENED
from memman.secrets import SCREEN
from memman.secrets.leaks import cleaned
from memman.sqlite import Guard
from memman.store.sqlite import screened
from memman.store.sqlite.reader import LISTS, TEXTS
from memman.store.sqlite.store import SqliteStore

# Memories looked at in one drain, a second or two, and in one transaction.
AT_ONCE = 20_000
PART = 1_000
_NEXT = f"SELECT id, {', '.join(TEXTS)} FROM memory WHERE id > ? ORDER BY id LIMIT ?"


async def screen(
    names: Iterable[str], opened: Callable[[str], SqliteStore], stopping: Callable[[], bool], tick: Callable[[], None]
) -> bool:
    """Look at the next memories of stores that are not marked by today's rules, AT_ONCE at most; say if some are left.

    `tick` is called after each part. Stores that are damaged, or cannot be written now, are passed over.
    """
    room = AT_ONCE
    for name in names:
        with suppress(StoreError, CannotWrite, Busy):
            store = opened(name)
            while not screened.complete(store.reader.meta(SCREENED)):
                if room <= 0 or stopping():
                    return True
                room -= _part(store, min(PART, room))
                tick()
                await asyncio.sleep(0)
    return False


def _part(store: SqliteStore, limit: int) -> int:
    """Look at the next memories of a store; mark those that hold a secret, and how far all were seen."""
    mark = store.reader.meta(SCREENED)
    after = screened.reached(mark)
    with Guard(store.path):
        rows: list[Any] = store.db.execute(_NEXT, (after, limit)).fetchall()
    leaky = [memory for memory, *texts in rows if _leaky(texts)]
    with store.unit() as unit:
        if not after:
            screened.unmarked(unit.db)
        for memory in leaky:
            unit.set_meta(f"{LEAKS}{memory}", "1")
        seen = f"{SCREEN} {rows[-1][0]}" if len(rows) == limit else SCREEN
        if seen == SCREEN and screened.marked(unit.db):
            seen = f"{SCREEN} {LEAKY}"
        unit.set_meta(SCREENED, seen)
    return len(rows)


def _leaky(texts: Sequence[str]) -> bool:
    """Whether a text holds a secret, or a name in a list of names."""
    said = [_listed(text) if name in LISTS else text for name, text in zip(TEXTS, texts, strict=True)]
    return bool(cleaned(said) != said)


def _listed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # the row is damaged, and not shown
        return None
