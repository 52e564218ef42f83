"""What a store knows of syncs, in tables of its own: the version of each value, how far each host has come.

They are made where a store is first synced, and change in the transaction that changes what they tell of.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from secrets import token_hex
from typing import Any, NamedTuple

import apsw

from memman.sqlite import LISTED
from memman.store.sqlite.registers import MEMORY, Place
from memman.sync.bundle import Version

_TABLES = """
CREATE TABLE IF NOT EXISTS sync_value(
    kind TEXT NOT NULL,
    whose TEXT NOT NULL,
    part TEXT NOT NULL,
    clock INTEGER NOT NULL,
    host TEXT NOT NULL,
    digest BLOB NOT NULL,
    unsaid INTEGER NOT NULL DEFAULT 0,
    waiting TEXT,
    PRIMARY KEY (kind, whose, part)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sync_unsaid ON sync_value(kind, whose, part) WHERE unsaid;
CREATE INDEX IF NOT EXISTS sync_marked ON sync_value(whose, part, digest) WHERE part GLOB 'mark *';
CREATE INDEX IF NOT EXISTS sync_waiting ON sync_value(kind, whose, part) WHERE waiting IS NOT NULL;
CREATE TABLE IF NOT EXISTS sync_born(
    memory TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    bundle INTEGER NOT NULL,
    fresh INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sync_fresh ON sync_born(memory) WHERE fresh;
CREATE TABLE IF NOT EXISTS sync_host(
    host TEXT PRIMARY KEY,
    bundle INTEGER NOT NULL,
    digest TEXT NOT NULL,
    seen TEXT NOT NULL,
    missing_since INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sync_outbox(bundle INTEGER PRIMARY KEY, whole INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS sync_state(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_HOST_BYTES = 8


class Value(NamedTuple):
    """What a store holds at a place: the version, and as JSON what waits for a memory that it names."""

    version: Version
    waiting: str | None


class Ledger:
    """The tables of an open store. What writes runs inside its caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'sync_state'").get:
            db.execute(_TABLES)

    def state(self, key: str) -> str:
        """Return one of: host, machine, was, bundle, base, clock, digest, judged, stamp; '' where unset."""
        return str(self.db.execute("SELECT value FROM sync_state WHERE key = ?", (key,)).get or "")

    def number(self, key: str) -> int:
        """Return a state that is a number."""
        return int(self.state(key) or 0)

    def keep(self, **states: str | int) -> None:
        """Set states."""
        self.db.executemany("INSERT OR REPLACE INTO sync_state VALUES (?, ?)", [(k, str(v)) for k, v in states.items()])

    def settle(self, machine: str) -> str:
        """Give this store's host an id of its own where it has none, or is on another machine; return why it got one.

        What it wrote under its former id stands, and is read like that of others.
        """
        if self.state("machine") == machine:
            return ""
        moved = bool(self.state("host"))
        self.rename(machine)
        return "this store was copied or moved from another data folder" if moved else ""

    def rename(self, machine: str) -> None:
        """Give this store's host a new id, which has said nothing yet."""
        former = self.state("host")
        if former:
            self.come_to(former, self.number("bundle"), self.state("digest"), self.seen())
        was = json.loads(self.state("was") or "[]")
        self.keep(
            host=token_hex(_HOST_BYTES),
            machine=machine,
            was=json.dumps([*was, former] if former else was),
            bundle=0,
            base=0,
            digest="",
            stamp="",
        )
        self.db.execute("DELETE FROM sync_outbox")

    def next(self, now: int) -> int:
        """Return the next moment of the hybrid clock: now, or just after the latest that this store has heard of."""
        return max(now, self.number("clock") + 1)

    def heard(self, clock: int) -> None:
        """Take note of a moment that another host has given."""
        if clock > self.number("clock"):
            self.keep(clock=clock)

    def values(self, kind: str, whose: Iterable[str] | None = None) -> dict[tuple[str, str], Value]:
        """Return what is known of a kind, or of some of it, by (whose, part)."""
        sql = "SELECT whose, part, clock, host, digest, waiting FROM sync_value WHERE kind = ?"
        given: tuple[str, ...] = (kind,)
        if whose is not None:
            sql, given = f"{sql} AND whose {LISTED}", (kind, json.dumps(list(whose)))
        return {(its, part): Value(Version(*v), waiting) for its, part, *v, waiting in self.db.execute(sql, given)}

    def marks(self) -> dict[tuple[str, str], bytes]:
        """Return the digests of the marks of memories, by (uid, part), without those that are no more."""
        sql = "SELECT whose, part, digest FROM sync_value WHERE part GLOB 'mark *' AND digest <> x''"
        return {(uid, part): value for uid, part, value in self.db.execute(sql)}

    def put(self, place: Place, version: Version, *, unsaid: bool = False, waiting: str | None = None) -> None:
        """Keep the version of a value."""
        values = (*place, version.clock, version.host, version.digest, unsaid, waiting)
        self.db.execute("INSERT OR REPLACE INTO sync_value VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def drop(self, memories: Iterable[str]) -> None:
        """Know nothing more of memories that are gone."""
        gone = json.dumps(list(memories))
        self.db.execute(f"DELETE FROM sync_value WHERE kind = ? AND whose {LISTED}", (MEMORY, gone))
        self.db.execute(f"DELETE FROM sync_born WHERE memory {LISTED}", (gone,))

    def vanished(self) -> list[str]:
        """Return the memories that are known here and are in the store no more."""
        sql = "SELECT memory FROM sync_born WHERE memory NOT IN (SELECT uid FROM memory)"
        return [uid for (uid,) in self.db.execute(sql)]

    def waiting(self) -> list[tuple[Place, Any]]:
        """Return the values that wait for memories that they name."""
        rows = self.db.execute("SELECT kind, whose, part, waiting FROM sync_value WHERE waiting IS NOT NULL")
        return [((kind, whose, part), json.loads(value)) for kind, whose, part, value in rows]

    def born(self, whose: Iterable[str] | None = None) -> dict[str, tuple[str, int]]:
        """Return the host of each memory, and in which of its bundles the memory first was."""
        if whose is None:
            rows = self.db.execute("SELECT memory, host, bundle FROM sync_born")
        else:
            sql = f"SELECT memory, host, bundle FROM sync_born WHERE memory {LISTED}"
            rows = self.db.execute(sql, (json.dumps(list(whose)),))
        return {uid: (host, number) for uid, host, number in rows}

    def bear(self, memory: str, host: str, number: int, *, fresh: bool) -> None:
        """Keep which host a memory is from; `fresh` is one that was not compared with the others yet."""
        self.db.execute("INSERT OR IGNORE INTO sync_born VALUES (?, ?, ?, ?)", (memory, host, number, fresh))

    def fresh(self) -> list[str]:
        """Return the memories that were not compared with the others yet."""
        return [uid for (uid,) in self.db.execute("SELECT memory FROM sync_born WHERE fresh")]

    def hosts(self) -> dict[str, tuple[int, str, dict[str, int], int | None]]:
        """Return of each other host: its last bundle here, that one's digest, what it saw, since when one lacks."""
        rows = self.db.execute("SELECT host, bundle, digest, seen, missing_since FROM sync_host")
        return {host: (number, name, json.loads(seen), since) for host, number, name, seen, since in rows}

    def come_to(self, host: str, number: int, digest: str, seen: Mapping[str, int]) -> None:
        """Keep how far a host's bundles have been taken in."""
        values = (host, number, digest, json.dumps(seen))
        self.db.execute("INSERT OR REPLACE INTO sync_host VALUES (?, ?, ?, ?, NULL)", values)

    def seen(self) -> dict[str, int]:
        """Return the last bundle of each other host that was taken in."""
        return dict(self.db.execute("SELECT host, bundle FROM sync_host"))

    def lacks(self, host: str, since: int | None) -> None:
        """Keep since when a bundle of a host has been missing."""
        self.db.execute("INSERT OR IGNORE INTO sync_host VALUES (?, 0, '', '{}', NULL)", (host,))
        self.db.execute("UPDATE sync_host SET missing_since = ? WHERE host = ?", (since, host))

    def outbox(self) -> Iterator[tuple[int, bool, bytes]]:
        """Yield the bundles that are to be written into the folder: number, whether it is whole, bytes."""
        rows: list[Any] = self.db.execute("SELECT * FROM sync_outbox ORDER BY bundle").fetchall()
        yield from ((number, bool(whole), sealed) for number, whole, sealed in rows)
