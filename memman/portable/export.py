"""A store written as JSON lines: everything that recall depends on, and where it came from."""

from collections.abc import Iterator
from typing import Any

from memman import __version__
from memman.clock import now_ms
from memman.config.tombstones import Tombstones
from memman.portable import lines
from memman.secrets.leaks import cleaned
from memman.store.sqlite import dump
from memman.store.sqlite.catalogue import Catalogue


def records(data: str, store: str, catalogue: Catalogue, *, vectors: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the header and every line, without secrets."""
    db = catalogue.reader.db
    left_out = [] if vectors else dump.remade_elsewhere(db)
    about = {"by": __version__, "at": now_ms(), "store": store, "left_out": left_out}
    yield lines.header(**about, memories=db.execute("SELECT count(*) FROM memory").get)
    for record in dump.memories(db, vectors=vectors):
        packed = {"vectors": record.pop("vectors")} if "vectors" in record else {}
        yield {"kind": lines.MEMORY} | cleaned(record) | packed
    for kind, rows in (
        (lines.NOTE, dump.receipts(db)),
        (lines.RULE, dump.rules(db)),
        (lines.REJECTED, dump.rejected(db)),
        (lines.SETTING, dump.settings(db)),
        (lines.PURGED, _purged(data)),
    ):
        for record in rows:
            yield {"kind": kind} | cleaned(record)


def _purged(data: str) -> Iterator[dict[str, Any]]:
    for note, memory in sorted(set(Tombstones.rows(data))):
        yield {"note": note, "memory": memory}
