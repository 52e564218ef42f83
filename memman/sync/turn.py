"""A round of a store's sync: take in what is new elsewhere, compare what was learned apart, write what is new here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from memman.clock import now_ms
from memman.config import synced
from memman.model.errors import BadConfig, UsageError
from memman.pipeline.apart import COMPARED, apart, compare, to_compare
from memman.pipeline.plan import Tools
from memman.pipeline.vectors import JudgedVectors
from memman.recovery.taking_in import take_in
from memman.store.records import AHEAD_MS, Record
from memman.store.sqlite import record_log
from memman.store.sqlite.store import SqliteStore
from memman.sync.exchange import Exchange, Reach, exchange_purged, lagging
from memman.sync.folder import Folder, Key
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


def opened(data: str, name: str) -> tuple[Folder, Key]:
    """Return the folder and the key of a store's sync. Raises UsageError, BadConfig and CannotWrite."""
    path = synced.folder(data, name)
    if not path:
        raise UsageError(f"store {name} is not synced: memman sync --folder PATH begins")
    key = Key.load(data)
    if key is None:
        raise BadConfig("the key of the sync is gone: get its line by `memman sync --key` on another machine, and give"
                        f" it to `memman sync --folder {path} --key -`")  # fmt: skip
    return Folder(path), key


async def turn(
    store: SqliteStore,
    data: str,
    name: str,
    tools: Tools,
    reach: Reach,
    stopping: Callable[[], bool] = lambda: False,
    *,
    patient: bool = False,
) -> Done:
    """Make a round; one that is `patient` leaves to the next what takes long, since nobody waits for it.

    Whatever ends it, what was done is done, and the next round goes on. Raises what `opened` does.
    """
    folder, key = opened(data, name)
    done, last = Done(troubles=[*folder.troubles]), synced.last_round(data, name)
    if patient and _same(store, data, name, last):
        return done
    checked = now_ms() if not patient or not 0 <= now_ms() - last.get("checked", 0) < EVERY_MS else last["checked"]
    shared = Exchange(store.db, name, folder, key, reach, trusting=checked == last.get("checked"))
    reach("before:sync", None)
    _named(store, shared, done)
    reach("sync:named", None)
    before, found = record_log.complete(store.db), None
    while found is None or (found.more and not stopping()):  # what is lost here is read before it is written
        found = shared.arrived()
        done.troubles += [one for one in found.troubles if one not in done.troubles]
        if found.records:
            done.taken += len(take_in(store, data, name, found.records, partial(to_compare, seen=found.seen), reach))
            reach("sync:taken", None)
    done.retired = await reconcile(store, tools, stopping, AT_ONCE if patient else None)
    reach("sync:reconciled", None)
    newest = record_log.newest(store.db)  # what comes from here on the next round writes
    done.said = shared.write(before)
    exchange_purged(data, folder, shared.host, key)
    reach("sync:said", None)
    done.lagging, done.lost = lagging(store.db, folder), len(record_log.lost(store.db))
    _record(store, data, name, folder, done, newest=newest, checked=checked)
    return done


def _same(store: SqliteStore, data: str, name: str, last: dict[str, Any]) -> bool:
    """Whether neither the log nor the folder has changed since the last round, which left nothing to do."""
    same = last.get("newest") == record_log.newest(store.db) and not synced.unseen(data, name)
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


def _record(store: SqliteStore, data: str, name: str, folder: Folder, done: Done, **more: int) -> None:
    hosts, host = record_log.complete(store.db), record_log.host(store.db)
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
    saw = synced.seen(folder.path)
    came = Folder(folder.path).files != folder.files
    synced.keep_round(data, name, record, "" if came else saw)


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
    from memman.store.postgres.exchange import push

    came = exchanged(store, data, name, server, comparing=True)
    before = record_log.newest(store.db)
    await reconcile(store, tools, stopping, AT_ONCE)
    if record_log.newest(store.db) > before or came:
        push(store, server)
    return came


def exchanged(store: SqliteStore, data: str, name: str, server: "Server", *, comparing: bool = False) -> int:
    """Send what is ours and take in what is not, perhaps to be compared; return how many records came."""
    from memman.store.postgres.exchange import exchange

    def took(before: int, records: list[Record]) -> None:
        compared = dict.fromkeys((one.memory for one in records), before) if comparing else {}
        take_in(store, data, name, records, partial(to_compare, seen=compared))

    return exchange(store, server, took)
