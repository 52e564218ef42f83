"""One round of a store's sync: say what is new here, take in what is new elsewhere, settle what was learned apart."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from memman.clock import now_ms
from memman.config.places import text_at, write_file
from memman.config.synced import folder as chosen_folder
from memman.config.synced import last_round, round_path, seen
from memman.model.errors import BadConfig, UsageError
from memman.pipeline.plan import Tools
from memman.store.sqlite import renumber
from memman.store.sqlite.store import SqliteStore
from memman.sync.bundle import named, unpacked
from memman.sync.folder import Folder
from memman.sync.key import Key, Unreadable, load
from memman.sync.ledger import Ledger
from memman.sync.reconcile import reconcile
from memman.sync.say import Reach, say
from memman.sync.take import Reading, take

# Memories that a drain compares in one round, a few seconds' work.
AT_ONCE = 200


@dataclass(slots=True)
class Done:
    """What a round did: values said, and taken in, memories retired, and what stands in its way."""

    said: int = 0
    taken: int = 0
    retired: int = 0
    troubles: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether it did anything."""
        return bool(self.said or self.taken or self.retired)


def opened(data: str, name: str) -> tuple[Folder, Key]:
    """Return the folder and the key of a store's sync. Raises UsageError, BadConfig and CannotWrite."""
    path = chosen_folder(data, name)
    if not path:
        raise UsageError(f"store {name} is not synced: memman sync --folder PATH begins")
    key = load(data)
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
    """Make a round; `patient` is one that nobody waits for: it leaves to the next what takes long.

    Whatever ends it, what was done is done, and the next round goes on. Raises what `opened` does.
    """
    folder, key = opened(data, name)
    done = Done(troubles=[*folder.troubles])
    reach("before:sync", None)
    with store.transaction():
        if why := _own(Ledger(store.db), folder, key, data, name):
            done.troubles.append(f"{why}: it goes on under a host id of its own")
    reach("sync:named", None)
    done.said = say(store, name, data, key, folder, reach, patient=patient)
    reach("sync:said", None)
    more = True
    while more and not stopping():
        found = Reading(store, folder, key, name, patient=patient).arrived()
        done.troubles += [one for one in found.troubles if one not in done.troubles]
        if found.bundles or renumber.moves(store.db):
            done.taken += take(store, data, name, found.bundles, reach)
            reach("sync:taken", None)
        more = found.more
    _take_back(store, folder)
    done.retired = await reconcile(store, tools, stopping, AT_ONCE if patient else None)
    reach("sync:reconciled", None)
    done.said += say(store, name, data, key, folder, reach, patient=True)
    reach("sync:answered", None)
    _record(data, name, folder, Ledger(store.db), done)
    return done


def failed(data: str, name: str, why: str) -> None:
    """Record that a round could not be made."""
    last = last_round(data, name)
    _write(data, name, {**last, "at": now_ms(), "troubles": [why]}, "")


def machine(data: str, name: str) -> str:
    """Return what tells this store of this data folder from a copy of it."""
    host = text_at("/etc/machine-id").strip() or os.uname().nodename
    return sha256(f"{host}\n{data}\n{name}".encode()).hexdigest()[:16]


def _own(ledger: Ledger, folder: Folder, key: Key, data: str, name: str) -> str:
    """See to it that nobody else writes as this host; say why it got another id, if it did."""
    why = ledger.settle(machine(data, name))
    host, number, base = ledger.state("host"), ledger.number("bundle"), ledger.number("base")
    there = set(folder.bundles.get(host, ()))
    if base and not there.issuperset({*range(base, number + 1)} - {one for one, _, _ in ledger.outbox()}):
        ledger.keep(base=0)  # the folder was emptied, or is another one
    ahead = [one for one in there if one >= max(number, 1)]
    if not why and not all(_ours(ledger, folder, key, host, one) for one in ahead):
        why = f"another machine writes as host {host}, or this store was restored from a backup"
        ledger.rename(machine(data, name))
    return why


def _ours(ledger: Ledger, folder: Folder, key: Key, host: str, number: int) -> bool:
    """Whether a bundle under this host's id is what it wrote, or was damaged: then it is written anew."""
    if any(number == waits for waits, _, _ in ledger.outbox()):
        return True
    try:
        sealed = folder.read(host, number)
        if number == ledger.number("bundle") and named(sealed) == ledger.state("digest"):
            return True
        unpacked(sealed, host, number, key)
    except Unreadable:
        ledger.keep(base=0)
        return True
    return False


def _take_back(store: SqliteStore, folder: Folder) -> None:
    """Ask for nothing that has come."""
    ledger = Ledger(store.db)
    with store.transaction():
        host, hosts = ledger.state("host"), ledger.hosts()
        former = set(json.loads(ledger.state("was") or "[]"))
        for asking, other, number in list(folder.requests):
            if asking == host and (other not in hosts or hosts[other][0] >= number):
                folder.take_back(host, other, number)
            elif asking in former:
                folder.take_back(asking, other, number)


def _record(data: str, name: str, folder: Folder, ledger: Ledger, done: Done) -> None:
    hosts = {host: number for host, (number, *_) in sorted(ledger.hosts().items())}
    record = {
        "at": now_ms(),
        "troubles": done.troubles,
        "host": ledger.state("host"),
        "bundle": ledger.number("bundle"),
        "hosts": hosts,
    }
    _write(data, name, record, seen(folder.path))


def _write(data: str, name: str, record: dict[str, Any], saw: str) -> None:
    text = json.dumps({key: value for key, value in record.items() if key != "seen"}, ensure_ascii=False)
    write_file(round_path(data, name), (f"{text[:-1]}, {saw}}}" if saw else text) + "\n")
