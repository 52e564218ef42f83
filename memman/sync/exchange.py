"""What a host writes into the folder, its records as its log has them now, and what it reads there of others.

What was purged in a data folder hosts tell one another beside that: ids and keyed digests, and not a word.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

import apsw

from memman.clock import now_ms
from memman.config import purged, synced
from memman.config.purged import Tombstones, bury
from memman.model.errors import BadConfig, MemmanError, NewerSchema, UsageError
from memman.recovery.taking_in import Reach
from memman.secrets import screened
from memman.store.records import KIND_OF, KINDS, Record, harmless, lost, wrong
from memman.store.sqlite import record_log
from memman.sync.folder import PART_BYTES, Folder, Header, Key, Name, Unreadable, lines, packed, parsed

# Segments after which a host writes all it has anew, in as few as it needs.
MOST = 100
# Records taken in at once.
_PART = 20_000
# What each host has purged.
FILE = "purged.age"
_KEY = re.compile(r"[0-9a-f]{64}")
# A digest of a text, or the ids of a note and a memory, or of a note of which all was purged.
_MARK = re.compile(r"[0-9a-f]{32}|[^\s]{1,200} [^\s]{1,200}")


@dataclass(slots=True)
class Arrived:
    """Records that may be added, by memory how far its host had come with ours, and what is wrong with others."""

    records: list[Record] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    more: bool = False


class Exchange:
    """A store and the folder by which it is shared: what its host writes there, and what it reads of others.

    Where it is `trusting`, a segment is believed to say what its name tells. Raises UsageError, BadConfig and
    CannotWrite.
    """

    def __init__(
        self,
        db: apsw.Connection,
        data: str,
        name: str,
        reach: Reach = lambda point, note: None,  # noqa: ARG005
    ) -> None:
        self.db, self.data, self.name, self.reach, self.trusting = db, data, name, reach, False
        path, key = synced.folder(data, name), Key.load(data)
        if not path:
            raise UsageError(f"store {name} is not synced: memman sync --folder PATH begins")
        if key is None:
            raise BadConfig(
                "the key of the sync is gone: get its line by `memman sync --key` on another machine, and give it to"
                f" `memman sync --folder {path} --key -`"
            )
        self.key, self.folder = key, Folder(path)

    @property
    def host(self) -> str:
        """The name of this machine in the store."""
        return record_log.host(self.db)

    def write(self, seen: Mapping[str, int]) -> int:
        """Bring the folder in line with the log; return how many records were written. `seen` stands in each header."""
        host, former = self.host, record_log.former_hosts(self.db)
        count = self._bring(host, seen)
        for other in record_log.known(self.db):
            gone = not self.folder.segments.get(other) and other not in self.folder.links
            if other != host and (other in former or gone or not self.trusting):
                count += self._bring(other, seen, emptied=not gone, ours=other in former)
        return count

    def _bring(self, host: str, seen: Mapping[str, int], *, emptied: bool = False, ours: bool = True) -> int:
        """Write what the folder lacks of a host's records; where it has all, those `emptied` or found since."""
        sums = record_log.sums(self.db, host)
        there = [one for one in self.folder.segments.get(host, ()) if one.last <= len(sums)]
        if emptied and not any(self._behind(host, one, sums[one.first - 1 : one.last], ours=ours) for one in there):
            return 0
        right = [] if len(there) > MOST else [one for one in there if self._right(host, one, sums)]
        left, missing = _missing(right, len(sums))
        written = [self._write(host, *part, sums, seen) for part in self._parts(host, missing)]
        self.folder.drop(host, [one for one in there if one not in left and one not in written])
        return sum(one.last - one.first + 1 for one in written)

    def _behind(self, host: str, name: Name, sums: Sequence[int], *, ours: bool) -> bool:
        """Whether the log has less than a segment, of one of `ours`, or more than the number of a lost record."""
        if ours and name.emptied < sums.count(0):
            return True
        if self.trusting or name == Name.of(name.first, sums, self.key):
            return False
        with suppress(Unreadable, MemmanError):
            said = self.folder.segment(host, name, self.key)[1]
            none = lines(lost(host, n) for n in range(name.first, name.last + 1))
            return any(line == gone.rstrip() and one > 0 for line, gone, one in zip(said, none, sums, strict=True))
        return False

    def _right(self, host: str, name: Name, sums: Sequence[int]) -> bool:
        """Whether a segment says what the log has, and can be read, unless its name is trusted."""
        if name != Name.of(name.first, sums[name.first - 1 : name.last], self.key):
            return False
        if self.trusting:
            return True
        try:
            self.folder.segment(host, name, self.key)
        except (Unreadable, MemmanError):
            return False
        return True

    def _parts(self, host: str, missing: Sequence[tuple[int, int]]) -> Iterator[tuple[int, list[str]]]:
        """Cut what is missing into what fits into a segment each."""
        for first, last in missing:
            start, size, part = first, 0, list[str]()
            for line in lines(record_log.sound(self.db, host, first - 1, last - first + 1)):
                if part and size + len(line) > PART_BYTES:
                    yield start, part
                    start, size, part = start + len(part), 0, []
                part.append(line)
                size += len(line)
            yield start, part

    def _write(self, host: str, first: int, part: Sequence[str], sums: Sequence[int], seen: Mapping[str, int]) -> Name:
        name = Name.of(first, sums[first - 1 : first - 1 + len(part)], self.key)
        header = Header(self.name, host, name.first, name.last, name.digest, seen)
        sealed = packed(header, part, self.key)
        self.reach("sync:packed", None)
        self.folder.write(host, name, sealed)
        self.reach("sync:written", None)
        return name

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
        trouble, before, ours = "", len(found.records), self.host
        for name in sorted(self.folder.segments[host]):
            if name.last <= at:
                continue
            if len(found.records) - before >= _PART:
                found.more = True
                return ""
            if name.first > at + 1:
                return trouble or f"record {at + 1} of host {host} is missing; waiting for it"
            try:
                header, said = self.folder.segment(host, name, self.key)
            except Unreadable:
                says = "is damaged, too large, or has another key"
                trouble = f"segment {name.first} of host {host} {says}; waiting until that host writes it again"
                continue
            except NewerSchema as error:
                return str(error)
            if header.store != self.name:
                return ""
            try:
                for n in range(at + 1, name.last + 1):
                    found.records.append(read(said[n - name.first], host, n))
                    found.seen.setdefault(found.records[-1].memory, header.seen.get(ours, 0))
                    at = n
            except Malformed as error:
                return f"{error}; later ones were not read"
        return trouble if trouble and any(name.last > at for name in self.folder.segments[host]) else ""

    def _found_again(self, host: str, gone: set[int]) -> Iterator[Record]:
        """Yield those of the lost records of a host that the folder has."""
        sums = record_log.sums(self.db, host)
        for name in sorted(self.folder.segments.get(host, ())):
            here = [n for n in gone if name.first <= n <= name.last]
            if not here or name == Name.of(name.first, sums[name.first - 1 : name.last], self.key):
                continue
            with suppress(Unreadable, NewerSchema, Malformed):
                header, said = self.folder.segment(host, name, self.key)
                if header.store == self.name:
                    told = [read(said[n - name.first], host, n) for n in here]
                    yield from (one for one in told if not one.lost)

    def parted(self) -> int | None:
        """Return how many of our records the folder has as we do, where somebody else writes as this host; else None.

        Whoever does has a copy of this store, or this one was restored and is behind what it wrote before.
        """
        host, other = self.host, False
        sums = record_log.sums(self.db, host)
        agreed = len(sums)
        for name in self.folder.segments.get(host, ()):
            if name.last <= len(sums) and name == Name.of(name.first, sums[name.first - 1 : name.last], self.key):
                continue
            try:
                _, said = self.folder.segment(host, name, self.key)
                theirs = [read(line, host, n) for n, line in enumerate(said, name.first)]
            except (Unreadable, NewerSchema, Malformed):
                continue  # it is written again
            ours = {one.n: one for one in record_log.every(self.db, host, name.first - 1, len(theirs))}
            same = next((one.n - 1 for one in theirs if one.n not in ours or _differ(ours[one.n], one)), name.last)
            if same < name.last:
                agreed, other = min(agreed, same), True
        return agreed if other else None

    def exchange_purged(self) -> None:
        """Have a data folder know what was purged elsewhere, and the others what was here."""
        data, folder, host, key = self.data, self.folder, self.host, self.key
        keys, digests = purged.kept(data)
        here = {*digests, *(f"{note} {memory}" for note, memory in Tombstones.rows(data))}
        marks = set(here)
        for other in sorted(folder.hosts - {host}):
            its_keys, its_marks = _read(folder, other, key)
            keys += [one for one in its_keys if one not in keys]
            marks |= its_marks
        new = sorted(marks - here)
        if rows := [(note, memory) for note, _, memory in (one.partition(" ") for one in new) if memory]:
            bury(data, rows, now_ms())
        purged.keep(data, keys, [one for one in new if " " not in one])
        if not can_be_read(folder, host, key) or _read(folder, host, key) != (keys, marks):
            folder.put(host, FILE, key.lock(json.dumps({"keys": keys, "marks": sorted(marks)})))


def _missing(right: Sequence[Name], count: int) -> tuple[set[Name], list[tuple[int, int]]]:
    """Return which of some segments are needed for records 1 to `count`, and which (first, last) they have not."""
    end, left, missing = 0, set[Name](), list[tuple[int, int]]()
    for one in sorted(right, key=lambda one: (one.first, -one.last)):
        if one.last > end:
            if one.first > end + 1:
                missing.append((end + 1, one.first - 1))
            left.add(one)
            end = one.last
    return left, [*missing, *([(end + 1, count)] if end < count else [])]


def lagging(db: apsw.Connection, folder: Folder) -> list[str]:
    """Return the hosts in whose part of the folder lies what was purged by now."""
    found = list[str]()
    if not db.execute("SELECT 1 FROM record WHERE kind = 'purged' LIMIT 1").get:
        return found
    for host, names in sorted(folder.segments.items()):
        sums = record_log.sums(db, host)
        if any(one.emptied < sums[one.first - 1 : one.last].count(0) for one in names):
            found.append(host)
    return found


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


def _differ(one: Record, other: Record) -> bool:
    """Whether two records are of different acts; a purge may have emptied either, or it is lost."""
    return not (one.lost or other.lost) and one._replace(body="", author="") != other._replace(body="", author="")


def can_be_read(folder: Folder, host: str, key: Key) -> bool:
    """Whether what a host has purged can be read: each says so, if it is nothing."""
    try:
        key.open(folder.read(host, FILE))
    except Unreadable:
        return False
    return True


def _read(folder: Folder, host: str, key: Key) -> tuple[list[str], set[str]]:
    """Read what a host has purged, without what is no mark; nothing where that cannot be read."""
    try:
        said = parsed(key.open(folder.read(host, FILE)))
        keys, marks = ([one for one in said[name] if isinstance(one, str)] for name in ("keys", "marks"))
    except (Unreadable, KeyError, TypeError):
        return [], set()
    return list(filter(_KEY.fullmatch, keys)), set(filter(_MARK.fullmatch, marks))
