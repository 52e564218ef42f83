"""Reading what other hosts have said in a folder, and what of it is to be compared with what was learned here."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

import apsw

from memman.clock import now_ms
from memman.model.errors import NewerSchema
from memman.recovery.taking_in import take_in
from memman.secrets import screened
from memman.store.records import KIND_OF, KINDS, Record, lost
from memman.store.shapes import harmless, wrong
from memman.store.sqlite import record_log
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit
from memman.sync import segment
from memman.sync.folder import Folder
from memman.sync.key import Key, TooLarge, Unreadable
from memman.sync.say import Reach
from memman.sync.segment import Header, Name


class Malformed(Exception):
    """A record that is not what memman writes, or that only a newer memman understands."""


def read(line: str, host: str, number: int) -> Record:
    """Read the record that has a number in a segment. Raises Malformed, which says why."""
    try:
        found = Record(*json.loads(line))
        if found == lost(host, number):
            return found
        if found.kind not in KINDS or (found.body and json.loads(found.body)["how"] not in KIND_OF):
            raise Malformed(f"record {number} of host {host} was written by a newer memman: upgrade this one")
        says = wrong(found, now_ms()) or ("" if (found.host, found.n) == (host, number) else "it has another number")
        if says or not (found.body or found.kind != "purged"):
            raise Malformed(f"record {number} of host {host} is not what memman writes: {says or 'it is empty'}")
        return harmless(found, screened)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Malformed(f"record {number} of host {host} is not what memman writes") from error


# Records taken in at once.
_PART = 20_000
# Store setting: memories that have come and are to be compared with ours, each with the first record of ours that its
# host had not seen, as JSON.
COMPARED = "sync:compared"
# Store setting: up to which memory, by when it was said, that is done.
REACHED = "sync:reached"


@dataclass(slots=True)
class Arrived:
    """Records that may be added, by memory how far its host had come with ours, and what is wrong with others."""

    records: list[Record] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    more: bool = False


class Reading:
    """A folder read by one host for one store."""

    def __init__(self, db: apsw.Connection, name: str, folder: Folder, key: Key) -> None:
        self.db, self.name, self.folder, self.key = db, name, folder, key
        self.host = record_log.host(db)

    def arrived(self) -> Arrived:
        """Read the records that others have written since, of each host up to the first that cannot be had.

        What this machine has lost is read wherever it is.
        """
        found, known = Arrived(), record_log.complete(self.db)
        for host, gone in groupby(record_log.lost(self.db), key=itemgetter(0)):
            found.records += self._found_again(host, {n for _, n in gone})
        for other in sorted(self.folder.segments.keys() - {self.host}):
            if len(found.records) >= _PART:
                found.more = True
                break
            if why := self._read(other, known.get(other, 0), found):
                found.troubles.append(why)
        return found

    def _read(self, host: str, at: int, found: Arrived) -> str:
        """Read what a host has beyond its record `at`; return what is in the way."""
        trouble, before = "", len(found.records)
        for name in sorted(self.folder.segments[host]):
            if name.last <= at:
                continue
            if len(found.records) - before >= _PART:
                found.more = True
                return ""
            if name.first > at + 1:
                return trouble or f"record {at + 1} of host {host} is missing; waiting for it"
            try:
                header, lines = self.read(host, name)
            except Unreadable as error:
                says = "is larger than one may be" if isinstance(error, TooLarge) else "is damaged or has another key"
                trouble = f"segment {name.first} of host {host} {says}; waiting until that host writes it again"
                continue
            except NewerSchema as error:
                return str(error)
            if header.store != self.name:
                return ""
            try:
                for n in range(at + 1, name.last + 1):
                    found.records.append(read(lines[n - name.first], host, n))
                    found.seen.setdefault(found.records[-1].memory, header.seen.get(self.host, 0))
                    at = n
            except Malformed as error:
                return f"{error}; nothing after it was taken in"
        return trouble if trouble and any(name.last > at for name in self.folder.segments[host]) else ""

    def _found_again(self, host: str, lost: set[int]) -> Iterator[Record]:
        """Yield those of the lost records of a host that the folder has."""
        sums = record_log.sums(self.db, host)
        for name in sorted(self.folder.segments.get(host, ())):
            here = [n for n in lost if name.first <= n <= name.last]
            if not here or name == Name.of(name.first, sums[name.first - 1 : name.last], self.key):
                continue
            with suppress(Unreadable, NewerSchema, Malformed):
                header, lines = self.read(host, name)
                if header.store == self.name:
                    told = [read(lines[n - name.first], host, n) for n in here]
                    yield from (one for one in told if not one.lost)

    def read(self, host: str, name: Name) -> tuple[Header, list[str]]:
        """Read a segment. Raises Unreadable and NewerSchema."""
        return segment.unpacked(self.folder.read(host, name.file), host, name, self.key)

    def parted(self) -> int | None:
        """Return how many of our records the folder has as we do, where somebody else writes as this host; else None.

        Whoever does has a copy of this store, or this one was restored and is behind what it wrote before.
        """
        sums, other = record_log.sums(self.db, self.host), False
        agreed = len(sums)
        for name in self.folder.segments.get(self.host, ()):
            if name.last <= len(sums) and name == Name.of(name.first, sums[name.first - 1 : name.last], self.key):
                continue
            try:
                lines = self.read(self.host, name)[1]
                theirs = [read(line, self.host, n) for n, line in enumerate(lines, name.first)]
            except (Unreadable, NewerSchema, Malformed):
                continue  # it is written again
            ours = {one.n: one for one in record_log.every(self.db, self.host, name.first - 1, len(theirs))}
            same = next((one.n - 1 for one in theirs if one.n not in ours or _differ(ours[one.n], one)), name.last)
            if same < name.last:
                agreed, other = min(agreed, same), True
        return agreed if other else None


def _differ(one: Record, other: Record) -> bool:
    """Whether two records are of different acts; a purge may have emptied either, or it is lost."""
    return not (one.lost or other.lost) and one._replace(body="", author="") != other._replace(body="", author="")


def take(store: SqliteStore, data: str, name: str, found: Arrived, reach: Reach, *, compare: bool) -> int:
    """Add records, all of them or none, with what follows from them; return how many were new."""

    def compared(unit: SqliteUnit, new: list[Record]) -> None:
        if compare:
            _to_compare(unit, new, found)

    return len(take_in(store, data, name, found.records, compared, reach))


def _to_compare(unit: SqliteUnit, new: Iterable[Record], found: Arrived) -> None:
    """Keep which memories have come and are to be compared with those of ours that their hosts had not seen."""
    learned = {one.memory: found.seen[one.memory] for one in new if one.kind == "learned" and one.memory in found.seen}
    if learned:
        known: Any = unit.db.execute("SELECT value FROM meta WHERE key = ?", (COMPARED,)).get
        unit.set_meta(COMPARED, json.dumps(json.loads(known or "{}") | learned))
        unit.set_meta(REACHED, None)
