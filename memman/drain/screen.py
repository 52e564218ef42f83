"""Looking through a store once for what older versions, with fewer rules, left of secrets; recall then need not."""

import json
from collections.abc import Sequence
from typing import Any

from memman.model.secret_words import SCREEN
from memman.model.secrets import cleaned
from memman.model.vocabulary import SCREENED
from memman.sqlite import Guard
from memman.store.sqlite.reader import LISTS, TEXTS
from memman.store.sqlite.store import SqliteStore

# Memories looked at in one drain: a few tenths of a second.
AT_ONCE = 2_000
# In place of the row the look has come to, where one with a secret was found: `memman scan --fix` takes it out.
LEAKY = "leaky"
_NEXT = f"SELECT id, {', '.join(TEXTS)} FROM memory WHERE id > ? ORDER BY id LIMIT {AT_ONCE}"


def screen(store: SqliteStore) -> None:
    """Look at the next memories; once all are seen and none held a secret, the store is marked by today's rules."""
    rules, _, come_to = store.reader.meta(SCREENED).partition(" ")
    if rules == SCREEN and come_to in {"", LEAKY}:
        return
    after = int(come_to) if rules == SCREEN and come_to.isdecimal() else 0
    with Guard(store.path):
        rows: list[Any] = store.db.execute(_NEXT, (after,)).fetchall()
    if any(map(_leaky, (texts for _, *texts in rows))):
        said = f"{SCREEN} {LEAKY}"
    else:
        said = SCREEN if len(rows) < AT_ONCE else f"{SCREEN} {rows[-1][0]}"
    with store.unit() as unit:
        unit.set_meta(SCREENED, said)


def _leaky(texts: Sequence[str]) -> bool:
    """Whether a text holds a secret, or a name in a list of names."""
    said = [_listed(text) if name in LISTS else text for name, text in zip(TEXTS, texts, strict=True)]
    return bool(cleaned(said) != said)


def _listed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # the row is damaged, and not shown
        return None
