"""A branch: a copy of a store for an experiment, whose log goes on by itself until it is merged or removed."""

import json
import os
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

from memman.config import stores
from memman.config.places import fsync_folder, store_path
from memman.locks import exchanging, quiet
from memman.model.errors import UnknownStore, UsageError
from memman.model.vocabulary import BRANCH_OF, CONNECTED
from memman.pipeline.plan import Tools
from memman.queue.view import QueueView
from memman.recovery.backup import fill
from memman.recovery.repair import workplace
from memman.recovery.taking_in import take_in
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.sqlite import record_log
from memman.store.sqlite.store import SqliteStore
from memman.sync.turn import reconcile
from memman.upkeep.rules import publish

_MEMORIES = "SELECT uid, text, status FROM memory ORDER BY valid_from, uid"


class Change(NamedTuple):
    """A memory that one store holds and the other does not: how it got there, or what became of it in the other."""

    store: str
    what: str
    memory: str
    text: str


class Merged(NamedTuple):
    """What a merge did: records added to `store`, and memories there that a newer one of the other side replaced.

    `waiting` are the notes of the branch that no drain has read yet.
    """

    branch: str
    store: str
    records: int
    replaced: int
    waiting: int


def branch(data: str, parent: str, name: str) -> None:
    """Make a store that starts with all that another one holds. Raises UsageError, UnknownStore and Busy."""
    stores.known(data, parent)
    if stores.exists(data, stores.harmless(name)):
        raise UsageError(f"store {name!r} already exists: use another name")
    path = store_path(data, name)
    with quiet(data), workplace(path) as place:
        copy = f"{place}/memman.db"
        source = store_path(data, parent)
        with TranslatedErrors(source), closing(open_reader(source)) as db:
            fill(copy, db, "WAL")
        with TranslatedErrors(copy), closing(SqliteStore(copy)) as store, store.unit() as unit:
            unit.set_meta(CONNECTED, None)
            unit.set_meta(BRANCH_OF, json.dumps([parent, record_log.host(unit.db)]))
            record_log.renew_host(unit.db)
        with TranslatedErrors(path), exchanging(data):
            os.rename(copy, path)
            fsync_folder(os.path.dirname(path))
    publish(data)


def parent_of(data: str, name: str) -> str:
    """Return the store that one is a branch of. Raises UsageError and UnknownStore."""
    path = store_path(data, stores.known(data, name))
    with TranslatedErrors(path), closing(open_reader(path)) as db:
        said: str | None = db.execute("SELECT value FROM meta WHERE key = ?", (BRANCH_OF,)).get
    if not said:
        raise UsageError(f"store {name!r} is not a branch: `memman store branch NAME` makes one")
    parent, host = json.loads(said)
    if stores.exists(data, parent):
        path = store_path(data, parent)
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            if host in record_log.known(db):
                return str(parent)
    raise UnknownStore(f"store {parent!r}, of which {name!r} is a branch, is gone")


def diff(data: str, name: str) -> list[Change]:
    """Return what a branch and its parent hold that the other does not, the branch's first."""
    sides = (name, parent_of(data, name))
    held: list[dict[str, tuple[str, str]]] = []
    for one in sides:
        path = store_path(data, one)
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            held.append({uid: (text, status) for uid, text, status in db.execute(_MEMORIES)})
    return [
        Change(side, f"{known[uid][1]} in {other}" if uid in known else f"not in {other}", uid, text)
        for side, mine, other, known in ((sides[0], held[0], sides[1], held[1]), (sides[1], held[1], sides[0], held[0]))
        for uid, (text, status) in mine.items()
        if status == "current" and known.get(uid, ("", ""))[1] != "current"
    ]


async def merge(store: SqliteStore, data: str, name: str, tools: Tools, reach: Callable[[str, None], None]) -> Merged:
    """Add to the parent what a branch did but for purges, and compare what both learned; run again it adds what is new.

    The caller holds off drains, and opened the parent.
    """
    parent, path = parent_of(data, name), store_path(data, name)
    with TranslatedErrors(path), closing(open_reader(path)) as db:
        seen = record_log.known(db).get(record_log.host(store.db), 0)
        found = [*record_log.every(db)]
    new = [one for one in record_log.missing(store.db, found) if one.kind != "purged"]  # agreed to there
    compared = dict.fromkeys((one.memory for one in new), seen)
    records = len(take_in(store, data, parent, new, compared, reach))
    replaced = await reconcile(store, tools, lambda: False)
    with closing(QueueView(data)) as queue:
        return Merged(name, parent, records, replaced, len(queue.of(name)))
