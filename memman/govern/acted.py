"""What a verb did to memories: a record for each, with what may make it doubtful that it still holds."""

from collections.abc import Mapping
from typing import Any

from memman.govern.held import veiled
from memman.govern.stores import Chosen
from memman.store.sqlite.catalogue import freshness
from memman.store.sqlite.reader import SqliteReader


def acted(place: Chosen, reader: SqliteReader, changed: Mapping[int, bool]) -> list[dict[str, Any]]:
    """Return a record for each memory, by row, with whether it was changed."""
    rows, fresh = reader.rows(changed), freshness(reader, changed)
    return [
        veiled(place, reader, rows[row].uid, {"id": rows[row].uid, "text": rows[row].text, "changed": did} | fresh[row])
        for row, did in changed.items()
    ]
