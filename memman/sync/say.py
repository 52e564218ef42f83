"""What a host writes into the folder: its records, from the first to the last, as its log has them now."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

import apsw

from memman.model.errors import MemmanError
from memman.store.records import lost as lost_one
from memman.store.sqlite import record_log
from memman.store.sqlite.store import SqliteStore
from memman.sync import segment
from memman.sync.folder import Folder
from memman.sync.key import Key, Unreadable
from memman.sync.segment import Header, Name

# Segments after which a host writes all it has anew, in as few as it needs.
MOST = 100
# Called at points at which a test may end the process.
Reach = Callable[[str, None], None]


class Writing:
    """A folder written by one host: its own part, those of its former names, and what was deleted of others."""

    def __init__(
        self, store: SqliteStore, name: str, folder: Folder, key: Key, reach: Reach, *, trusting: bool = False
    ) -> None:
        self.db: apsw.Connection = store.db
        self.name, self.folder, self.key, self.reach, self._trusting = name, folder, key, reach, trusting

    def all(self, seen: Mapping[str, int]) -> int:
        """Bring the folder in line with the log; return how many records were written. `seen` stands in each header."""
        host, former = record_log.host(self.db), record_log.former_hosts(self.db)
        count = self._bring(host, seen)
        for other in record_log.known(self.db):
            gone = not self.folder.segments.get(other) and other not in self.folder.links
            if other != host and (other in former or gone or not self._trusting):
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
        if self._trusting or name == Name.of(name.first, sums, self.key):
            return False
        with suppress(Unreadable, MemmanError):
            lines = segment.unpacked(self.folder.read(host, name.file), host, name, self.key)[1]
            lost = segment.lines(lost_one(host, n) for n in range(name.first, name.last + 1))
            return any(line == none.rstrip() and one > 0 for line, none, one in zip(lines, lost, sums, strict=True))
        return False

    def _right(self, host: str, name: Name, sums: Sequence[int]) -> bool:
        """Whether a segment says what the log has, and can be read, unless its name is trusted."""
        if name != Name.of(name.first, sums[name.first - 1 : name.last], self.key):
            return False
        if self._trusting:
            return True
        try:
            segment.unpacked(self.folder.read(host, name.file), host, name, self.key)
        except (Unreadable, MemmanError):
            return False
        return True

    def _parts(self, host: str, missing: Sequence[tuple[int, int]]) -> Iterator[tuple[int, list[str]]]:
        """Cut what is missing into what fits into a segment each."""
        for first, last in missing:
            start, size, part = first, 0, list[str]()
            for line in segment.lines(record_log.sound(self.db, host, first - 1, last - first + 1)):
                if part and size + len(line) > segment.PART_BYTES:
                    yield start, part
                    start, size, part = start + len(part), 0, []
                part.append(line)
                size += len(line)
            yield start, part

    def _write(self, host: str, first: int, part: Sequence[str], sums: Sequence[int], seen: Mapping[str, int]) -> Name:
        name = Name.of(first, sums[first - 1 : first - 1 + len(part)], self.key)
        header = Header(self.name, host, name.first, name.last, name.digest, seen)
        sealed = segment.packed(header, part, self.key)
        self.reach("sync:packed", None)
        self.folder.write(host, name, sealed)
        self.reach("sync:written", None)
        return name


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
