"""Records from elsewhere taken in: into the log, and from there into all that recall reads; purges are carried out."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from types import MappingProxyType
from typing import Any

import apsw

from memman.clock import now_ms
from memman.locks import exchanging
from memman.model.vocabulary import BUILTIN
from memman.pipeline.apart import to_compare
from memman.queue.notes import Queue
from memman.recovery.purge import follow, scrubbed
from memman.secrets.leaks import within
from memman.sqlite import LISTED
from memman.store import records
from memman.store.records import Record
from memman.store.sqlite import index, purge, record_log, rules, vectors, words
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.idle import UPGRADING
from memman.upkeep.rules import publish

# Called at points at which a test may end the process.
Reach = Callable[[str, None], None]
# Adds records, and is told by memory how far their host had come with ours; returns those that were new.
Take = Callable[[Sequence[Record], Mapping[str, int]], list[Record]]


def take_in(
    store: SqliteStore,
    data: str,
    name: str,
    found: Sequence[Record],
    seen: Mapping[str, int] = MappingProxyType({}),
    reach: Reach = lambda point, note: None,  # noqa: ARG005
) -> list[Record]:
    """Add records, all of them or none, with what follows from them; return the new ones.

    Memories in `seen` are to be compared with those of our records that their host had not seen: from that one on.
    The caller holds off drains, which make the vectors and edges of nearness.
    """
    gone = purged(store.db, found)
    with exchanging(data), closing(Queue(data)) as queue:
        made = follow(data, name, queue, gone).rules if gone else ()
        reach("sync:purged", None)
        with store.unit() as unit:
            around = words.touched(unit.db, [*store.reader.located(gone)])
            new = record_log.add(unit.db, found)
            again = _redacted(unit.db, new)
            unit.follow([*new, *again])
            if gone:
                rules.purge(unit, [one["uid"] for one in made if index.state(unit.db, one["uid"])], now_ms())
                vectors.wipe(unit.db, around, BUILTIN)
                purge.forget_samples(unit.db)
            to_compare(unit, new, seen)
        store.reader.forget_partitions()
        if new:
            queue.set_meta(UPGRADING, "1")  # the judge has not read all of it yet
        reach("sync:added", None)
        if gone:
            scrubbed(data, queue, {name: store})
        for one in new:
            if one.kind == "noted" and one.said.get("set", {}).get(records.RECEIPT, {}).get("outcome") == purge.OUTCOME:
                queue.drop(one.memory)
    if any(one.kind in {"rule", "purged"} or records.RULE in one.body for one in new):
        publish(data)
    return new


def purged(db: apsw.Connection, records: Iterable[Record]) -> list[str]:
    """Return what was purged elsewhere and is still here, memories and rules."""
    uids = json.dumps([one.memory for one in records if one.kind == "purged"])
    sql = f"SELECT uid FROM memory WHERE uid {LISTED} UNION SELECT uid FROM rule WHERE uid {LISTED}"
    return [uid for (uid,) in db.execute(sql, (uids, uids))]


def _redacted(db: apsw.Connection, new: Iterable[Record]) -> list[Record]:
    """Take the secrets out of what is known here of memories out of which they were taken elsewhere."""
    found = []
    for uid in dict.fromkeys(one.memory for one in new if one.kind == "redacted"):
        rows: list[Any] = db.execute("SELECT id, body FROM record WHERE memory = ?", (uid,)).fetchall()
        for number, body in rows:
            if body and (clean := within(body)) != body:
                record_log.rewrite(db, number, clean)
                found += record_log.of_each(db, [uid])[uid]
    return found
