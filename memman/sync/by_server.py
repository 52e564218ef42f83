"""One round of a store that is on a server: what its machines tell each other, and what was learned apart."""

from collections.abc import Callable
from contextlib import closing

from memman.pipeline.plan import Tools
from memman.queue.notes import Queue
from memman.store.postgres.exchange import Progress, exchange, push
from memman.store.postgres.server import Server
from memman.store.records import Record
from memman.store.sqlite import record_log
from memman.store.sqlite.store import SqliteStore
from memman.sync.reconcile import reconcile
from memman.sync.take import Arrived, take
from memman.sync.turn import AT_ONCE
from memman.upkeep.idle import UPGRADING

_UNSEEN: Progress = lambda done, total: None  # noqa: ARG005, E731 - nobody looks on


async def turn(
    store: SqliteStore, data: str, name: str, server: Server, tools: Tools, stopping: Callable[[], bool]
) -> int:
    """Make a round; return how many records came. Raises as `exchange` does."""
    came = _exchanged(store, data, name, server, _UNSEEN, compare=tools.judge is not None)
    before = record_log.newest(store.db)
    await reconcile(store, tools, stopping, AT_ONCE)
    if record_log.newest(store.db) > before or came:
        push(store, server)
    return came


def exchanged(store: SqliteStore, data: str, name: str, server: Server, progress: Progress = _UNSEEN) -> int:
    """Send what is ours and take in what is not, and compare nothing; return how many records came."""
    return _exchanged(store, data, name, server, progress, compare=False)


def _exchanged(store: SqliteStore, data: str, name: str, server: Server, progress: Progress, *, compare: bool) -> int:
    def took(seen: int, records: list[Record]) -> None:
        found = Arrived(records, {one.memory: seen for one in records})
        take(store, data, name, found, lambda point, note: None, compare=compare)  # noqa: ARG005

    came = exchange(store, server, took, progress)
    if came:
        with closing(Queue(data)) as queue:
            queue.set_meta(UPGRADING, "1")  # the judge has not read all of it yet
    return came
