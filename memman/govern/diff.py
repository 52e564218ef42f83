"""What memory holds now that it did not hold at a moment, what it holds no more, and what is changed."""

from typing import Any

from memman.govern.held import veiled
from memman.govern.stores import Chosen, answering, reading
from memman.store.sqlite import recent

# Verbs of the log that bring a memory in, held back or not.
_NEW = {"add", "hold"}
_GONE = {"superseded", "forgotten"}


@answering
def diff(place: Chosen, since: int, limit: int) -> list[dict[str, Any]]:
    """Return the newest `limit` changes, by scope: `sign` is + or - or ~, `verbs` are those of the log.

    What came and went since then is left out.
    """
    with reading(place) as catalogue:
        verbs = recent.changed(catalogue.reader.db, since)
        changes = [
            {"sign": sign, "verbs": [*verbs[record["id"]]]} | veiled(place, catalogue.reader, record["uid"], record)
            for record in catalogue.memories([*verbs])
            if (sign := _sign(verbs[record["id"]], record))
        ]
    return sorted(changes[-limit:], key=lambda change: (change["scope"], "+-~".index(change["sign"])))


def _sign(verbs: tuple[str, ...], record: dict[str, Any]) -> str:
    new, gone = not _NEW.isdisjoint(verbs), record["status"] in _GONE
    return "" if new and gone else "+" if new else "-" if gone else "~"
