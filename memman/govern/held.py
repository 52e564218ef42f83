"""What is held back is a person's to read: where an agent asks, a constant stands in place of what it says."""

from collections.abc import Mapping
from typing import Any

from memman.commands.place import Place
from memman.model.vocabulary import HELD, WITHHELD
from memman.store.sqlite.catalogue import freshness
from memman.store.sqlite.reader import SqliteReader

_SAYS: dict[str, Any] = {"text": WITHHELD, "summary": "", "entities": [], "keywords": []}


def veiled(place: Place, reader: SqliteReader, uid: str, record: dict[str, Any]) -> dict[str, Any]:
    """Return what may be told of the memory `uid`: less where an agent asks and nobody has approved it."""
    if not (place.agent and reader.meta(HELD + uid)):
        return record
    return record | {name: said for name, said in _SAYS.items() if name in record}


def acted(place: Place, reader: SqliteReader, changed: Mapping[int, bool]) -> list[dict[str, Any]]:
    """Return a record for each memory, by row, with whether it was changed."""
    rows, fresh = reader.rows(changed), freshness(reader, changed)
    return [
        veiled(place, reader, rows[row].uid, {"id": rows[row].uid, "text": rows[row].text, "changed": did} | fresh[row])
        for row, did in changed.items()
    ]
