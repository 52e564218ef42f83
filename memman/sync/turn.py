"""A round of a store's sync: take in what is new elsewhere, compare what was learned apart, write what is new here."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from memman.clock import now_ms
from memman.config import synced
from memman.pipeline.apart import COMPARED, apart, compare
from memman.pipeline.plan import Tools
from memman.pipeline.vectors import JudgedVectors
from memman.recovery.taking_in import Reach, Take, take_in
from memman.store.records import AHEAD_MS
from memman.store.sqlite import record_log
from memman.store.sqlite.store import SqliteStore
from memman.sync.exchange import Exchange, lagging
from memman.sync.folder import Folder
from memman.upkeep.backfill import fill

if TYPE_CHECKING:  # the driver of a server is not everywhere
    from memman.store.postgres.server import Server

# Memories that a drain compares in one round, a few seconds' work.
AT_ONCE = 200
# How often a drain reads what this host has written, to see whether it is sound.
EVERY_MS = 3_600_000


@dataclass(slots=True)
class Done:
    """What a round did: records written and taken in, memories retired, what stands in its way.

    `lagging` are the hosts that have yet to take out of the folder what was purged, `lost` counts the records of which
    only the number is known.
    """

    said: int = 0
    taken: int = 0
    retired: int = 0
    troubles: list[str] = field(default_factory=list)
    lagging: list[str] = field(default_factory=list)
    lost: int = 0

    @property
    def changed(self) -> bool:
        """Whether it did anything."""
        return bool(self.said or self.taken or self.retired)


async def turn_by_folder(
    store: SqliteStore,
    data: str,
    name: str,
    tools: Tools,
    reach: Reach,
    stopping: Callable[[], bool] = lambda: False,
    *,
    patient: bool = False,
) -> Done:
    """Make a round of a store that is synced by a folder; one that is `patient` leaves what takes long to the next."""
    shared, take = Exchange(store.db, data, name, reach), partial(take_in, store, data, name, reach=reach)
    compare = partial(reconcile, store, tools, stopping, AT_ONCE if patient else None)
    return await turn(store, shared, take, compare, stopping, patient=patient)


async def turn(
    store: SqliteStore,
    shared: Exchange,
    take: Take,
    compare: Callable[[], Awaitable[int]],
    stopping: Callable[[], bool],
    *,
    patient: bool,
) -> Done:
    """Make a round: read what is new in the folder, compare it, write what is new here, keep what was found.

    One that is `patient` looks once an hour whether what it has written is sound. Whatever ends it, what was done is
    done, and the next round goes on.
    """
    done, last = Done(troubles=[*shared.folder.troubles]), synced.last_round(shared.data, shared.name)
    if patient and _same(store, shared, last):
        return done
    checked = now_ms() if not patient or not 0 <= now_ms() - last.get("checked", 0) < EVERY_MS else last["checked"]
    shared.trusting = checked == last.get("checked")
    shared.reach("before:sync", None)
    _named(store, shared, done)
    shared.reach("sync:named", None)
    before, found = record_log.complete(store.db), None
    while found is None or (found.more and not stopping()):  # what is lost here is read before it is written
        found = shared.arrived()
        done.troubles += [one for one in found.troubles if one not in done.troubles]
        if found.records:
            done.taken += len(take(found.records, found.seen))
            shared.reach("sync:taken", None)
    done.retired = await compare()
    shared.reach("sync:reconciled", None)
    newest = record_log.newest(store.db)  # what comes from here on the next round writes
    done.said = shared.write(before)
    shared.exchange_purged()
    shared.reach("sync:said", None)
    done.lagging, done.lost = lagging(store.db, shared.folder), len(record_log.lost(store.db))
    _record(store, shared, done, newest=newest, checked=checked)
    return done


def _same(store: SqliteStore, shared: Exchange, last: dict[str, Any]) -> bool:
    """Whether neither the log nor the folder has changed since the last round, which left nothing to do."""
    same = last.get("newest") == record_log.newest(store.db) and not synced.unseen(shared.data, shared.name)
    return same and not last["troubles"] and not store.reader.meta(COMPARED)


def failed(data: str, name: str, why: str) -> None:
    """Record that a round could not be made."""
    synced.keep_round(data, name, {**synced.last_round(data, name), "at": now_ms(), "troubles": [why]})


def _named(store: SqliteStore, shared: Exchange, done: Done) -> None:
    """See to it that nobody else writes as this host or from a time to come, and that nobody waits for what is lost."""
    with store.unit() as unit:
        record_log.fill_gaps(unit.db)
        former, latest = shared.host, now_ms() + AHEAD_MS
        first = [one.at for one in record_log.every(unit.db, former, limit=1)]
        if max(first, default=latest) < latest > record_log.newest_of_others(unit.db):  # or else today's clock is wrong
            unit.follow(record_log.set_back(unit.db, latest))
        agreed = shared.parted()
        if agreed is not None:
            unit.follow(record_log.renew_host(unit.db, agreed))
    if agreed is not None:
        done.troubles.append(
            f"another machine writes as host {former}, or this store was restored from a backup:"
            " it continues under a new host id"
        )


def _record(store: SqliteStore, shared: Exchange, done: Done, **more: int) -> None:
    hosts, host = record_log.complete(store.db), shared.host
    record = {
        "at": now_ms(),
        "troubles": done.troubles,
        "lagging": done.lagging,
        "lost": done.lost,
        "host": host,
        "number": hosts.pop(host),
        "hosts": dict(sorted(hosts.items())),
        **more,
    }
    saw = synced.seen(shared.folder.path)
    came = Folder(shared.folder.path).files != shared.folder.files
    synced.keep_round(shared.data, shared.name, record, "" if came else saw)


async def reconcile(store: SqliteStore, tools: Tools, stopping: Callable[[], bool], most: int | None = None) -> int:
    """Compare what has come with what is ours, up to `most` memories at once; return how many were retired."""
    found = apart(store)
    # Hosts of which one has the vectors of what another has not would find different ones.
    for embedder in (tools.local, JudgedVectors(tools.judge)) if found.rows else ():
        await fill(store, embedder)
    return await compare(store, tools, found, stopping, most)


async def turn_by_server(
    store: SqliteStore, data: str, name: str, server: "Server", tools: Tools, stopping: Callable[[], bool]
) -> int:
    """Make a round of a store that is on a server; return how many records came. Raises as `exchange` does."""
    from memman.store.postgres.exchange import exchange, push

    came = exchange(store, server, partial(take_in, store, data, name))
    before = record_log.newest(store.db)
    await reconcile(store, tools, stopping, AT_ONCE)
    if record_log.newest(store.db) > before or came:
        push(store, server)
    return came
