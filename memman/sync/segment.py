"""A segment: some records of one host in a row, packed and locked.

Its name tells the numbers of its first and last record, how many of these were emptied by a purge, and a digest that
only holders of the key can make. A header below the key says the same, so that none can take another's place.
"""

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, Self

from memman.config.synced import SEGMENT
from memman.model.errors import NewerSchema
from memman.store.records import Record
from memman.sync.key import Key, TooLarge, Unreadable

VERSION = 1
FORMAT = "memman sync"
# A segment that is larger, or becomes so when it is unpacked, is not read.
MOST_BYTES = 64 * 2**20
# What is in one, unpacked, at most, unless a single record is larger.
PART_BYTES = 16 * 2**20
_NAME = re.compile(rf"(\d{{8,12}})-(\d{{8,12}})-(\d{{1,12}})-([0-9a-f]{{16}}){re.escape(SEGMENT)}")


class Name(NamedTuple):
    """What the name of a segment's file tells."""

    first: int
    last: int
    emptied: int
    digest: str

    @classmethod
    def read(cls, file: str) -> Self | None:
        """Read the name of a file, None where it is no segment's."""
        found = _NAME.fullmatch(file)
        return cls(int(found[1]), int(found[2]), int(found[3]), found[4]) if found else None

    @classmethod
    def of(cls, first: int, sums: Sequence[int], key: Key) -> Self:
        """Name the segment of records that have these sums, 0 where one was emptied; `first` is the first's number."""
        digest = blake2b(json.dumps([first, *sums]).encode(), key=key.secret, digest_size=8).hexdigest()
        return cls(first, first + len(sums) - 1, [*sums].count(0), digest)

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.first:08d}-{self.last:08d}-{self.emptied}-{self.digest}{SEGMENT}"


class Header(NamedTuple):
    """What a segment says of itself; `seen` is how far its host had come with the records of others by then."""

    store: str
    host: str
    first: int
    last: int
    digest: str
    seen: Mapping[str, int]


def lines(records: Iterable[Record]) -> Iterable[str]:
    """Write records, a line each and all of it ASCII."""
    return (json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def packed(header: Header, records: Sequence[str], key: Key) -> bytes:
    """Write a segment."""
    head = json.dumps({"format": FORMAT, "version": VERSION, **header._asdict()}, separators=(",", ":"))
    return key.lock(zlib.compress("\n".join((head, "".join(records))).encode()))


def unpacked(sealed: bytes, host: str, name: Name, key: Key) -> tuple[Header, list[str]]:
    """Read the segment that has a name in the folder of a host: what it says of itself, and a line a record.

    Raises Unreadable where it is not as a host wrote it, and NewerSchema where a newer memman did.
    """
    head, _, rest = opened(sealed, key).partition("\n")
    about = parsed(head)
    if about.get("format") == FORMAT and isinstance(about.get("version"), int) and about["version"] > VERSION:
        raise NewerSchema(f"segment {name.first} of host {host} was written by a newer memman: upgrade this one")
    found = [line for line in rest.split("\n") if line]
    said = [about.get(one) for one in ("host", "first", "last", "digest")]
    seen, store = about.get("seen"), about.get("store")
    if said != [host, name.first, name.last, name.digest] or len(found) != name.last - name.first + 1:
        raise Unreadable("it is not what its name says")
    if not isinstance(store, str) or not isinstance(seen, dict) or not all(type(one) is int for one in seen.values()):
        raise Unreadable("it is not what memman writes")
    return Header(store, host, name.first, name.last, name.digest, seen), found


def opened(sealed: bytes, key: Key) -> str:
    """Unlock and unpack a text. Raises Unreadable."""
    if not sealed:
        raise Unreadable("it is empty")
    try:
        unpack = zlib.decompressobj()
        plain = unpack.decompress(key.open(sealed), MOST_BYTES)
        if unpack.unconsumed_tail:
            raise TooLarge
        return plain.decode()
    except (zlib.error, ValueError) as error:
        raise Unreadable("it is not what memman writes") from error


def parsed(text: str) -> dict[str, Any]:
    """Read an object of JSON. Raises Unreadable where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is not what memman writes") from error
    if not isinstance(found, dict):
        raise Unreadable("it is not what memman writes")
    return found
