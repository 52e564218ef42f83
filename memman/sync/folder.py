"""The folder that hosts share: encrypted segments of each host's records, `HOST/NAME.age`, and what it has purged.

A segment holds some records of one host in a row. Its name tells the numbers of its first and last record, how many of
these were emptied by a purge, and a digest that only holders of the key can make. A header below the key says the same,
so that none can take another's place. The key is an X25519 identity of age, which a person carries between machines.
"""

import json
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from errno import EACCES, EINVAL, EISDIR, ELOOP, EMLINK, ENXIO, EPERM
from hashlib import blake2b, sha256
from typing import IO, Any, NamedTuple, Self

from memman.config.places import FOLDER_MODE, open_file, read_file, write_file
from memman.config.synced import SEGMENT, linked, listing, sync_path
from memman.model.errors import BadConfig, CannotWrite, NewerSchema
from memman.store.records import Record

VERSION = 1
FORMAT = "memman sync"
# A segment that is larger, or becomes so when it is unpacked, is not read.
MOST_BYTES = 64 * 2**20
# What is in one, unpacked, at most, unless a single record is larger.
PART_BYTES = 16 * 2**20
_NAME = re.compile(rf"(\d{{8,12}})-(\d{{8,12}})-(\d{{1,12}})-([0-9a-f]{{16}}){re.escape(SEGMENT)}")
_SCHEME = "AGE-SECRET-KEY-1"
_HOST = re.compile(r"[0-9a-f]{16}")
_DRAFT = ".new"
# How one fails to open what is a pipe, a folder, a link, a socket or locked, and no segment.
_NO_FILE = frozenset((EINVAL, EISDIR, ELOOP, EMLINK, ENXIO, EACCES, EPERM))


class Unreadable(Exception):
    """Bytes that this key does not open: changed, cut short, too many, or locked with another one."""


class Key:
    """An identity, which locks and opens segments."""

    def __init__(self, line: str) -> None:
        self._age = _age()
        self.line = line.strip()
        try:
            self._identity = self._age.x25519.Identity.from_str(self.line)
        except self._age.IdentityError as error:
            raise BadConfig(
                f"this is not a key: a key begins with {_SCHEME} and is shown by `memman sync --key`"
            ) from error
        # What keyed digests are made with.
        self.secret = sha256(self.line.encode()).digest()

    @classmethod
    def made(cls) -> Self:
        """Make a new key."""
        return cls(str(_age().x25519.Identity.generate()))

    @classmethod
    def load(cls, data: str) -> Self | None:
        """Return the key of a data folder, None where there is none yet. Raises BadConfig where it is damaged."""
        line = read_file(_key_path(data))
        return cls(line) if line.strip() else None

    def keep(self, data: str) -> None:
        """Store it, so that nobody else may read it."""
        write_file(_key_path(data), self.line + "\n")

    def lock(self, text: str) -> bytes:
        """Pack and encrypt a text."""
        sealed: bytes = self._age.encrypt(zlib.compress(text.encode()), [self._identity.to_public()])
        return sealed

    def open(self, sealed: bytes) -> str:
        """Decrypt and unpack a text. Raises Unreadable."""
        if not sealed:
            raise Unreadable("it is empty")
        try:
            unpack = zlib.decompressobj()
            plain = unpack.decompress(self._age.decrypt(sealed, [self._identity]), MOST_BYTES)
            if unpack.unconsumed_tail:
                raise Unreadable("it is too large")
            return plain.decode()
        except (self._age.DecryptError, zlib.error, ValueError) as error:
            raise Unreadable("it is not what memman writes") from error


def _key_path(data: str) -> str:
    return sync_path(data) + "/key"


def _age() -> Any:
    try:
        import pyrage  # type: ignore[import-untyped]  # it has no py.typed
    except ImportError as error:
        raise BadConfig("to sync needs the package pyrage: pip install 'memman[sync]'") from error
    return pyrage


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
    return key.lock("\n".join((head, "".join(records))))


def unpacked(sealed: bytes, host: str, name: Name, key: Key) -> tuple[Header, list[str]]:
    """Read the segment that has a name in the folder of a host: what it says of itself, and a line a record.

    Raises Unreadable where it is not as a host wrote it, and NewerSchema where a newer memman did.
    """
    head, _, rest = key.open(sealed).partition("\n")
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


def parsed(text: str) -> dict[str, Any]:
    """Read an object of JSON. Raises Unreadable where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is not what memman writes") from error
    if not isinstance(found, dict):
        raise Unreadable("it is not what memman writes")
    return found


def make(path: str) -> None:
    """Make the folder at `path`, for us alone, where its parent is there. Raises CannotWrite."""
    parent = os.path.dirname(path)
    if not os.path.isdir(parent):
        raise CannotWrite(f"the folder {parent} does not exist: make it or mount it first")
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        if not os.path.isdir(path):
            raise CannotWrite(f"{path} is not a folder: give another one") from None
    except OSError as error:
        raise CannotWrite(f"the folder {path} could not be made ({error.strerror})") from error


class Folder:
    """A folder that hosts share, as it was when it was looked at."""

    def __init__(self, path: str) -> None:
        self.path = path
        if not os.path.isdir(path):
            raise CannotWrite(f"the folder {path} is not there: mount it, or end the sync with `memman sync --off`")
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise CannotWrite(f"the folder {path} is not writable: check its permissions")
        self.hosts: set[str] = set()
        self.segments: dict[str, list[Name]] = {}
        self.links = linked(path)
        self.troubles = [f"{path}/{host} is a link, which is not followed" for host in self.links]
        for place in listing(path):
            host, _, file = place.partition("/")
            if _HOST.fullmatch(host):
                self.hosts.add(host)
                if name := Name.read(file):
                    self.segments.setdefault(host, []).append(name)

    @property
    def files(self) -> set[tuple[str, Name]]:
        """The segments by host."""
        return {(host, name) for host, names in self.segments.items() for name in names}

    def read(self, host: str, file: str) -> bytes:
        """Return the bytes of a file, none where it is not there any more.

        Raises Unreadable for what is no file of its host's that may be read, and CannotWrite.
        """
        try:
            with self._part(host) as part, _opened(file, "rb", part, os.O_NOFOLLOW) as content:
                if (size := os.fstat(content.fileno()).st_size) > MOST_BYTES:
                    raise Unreadable("it is too large")
                return content.read(size)
        except FileNotFoundError:
            return b""
        except OSError as error:
            if error.errno in _NO_FILE:
                raise Unreadable from error
            raise CannotWrite(f"{self.path}/{host}/{file} could not be read ({error.strerror})") from error

    def segment(self, host: str, name: Name, key: Key) -> tuple[Header, list[str]]:
        """Read a segment: what it says of itself, and a line a record. Raises Unreadable, NewerSchema, CannotWrite."""
        return unpacked(self.read(host, name.file), host, name, key)

    def write(self, host: str, name: Name, sealed: bytes) -> None:
        """Put a segment into the folder, whole; on disk when this returns."""
        self.put(host, name.file, sealed)
        if name not in self.segments.setdefault(host, []):
            self.segments[host].append(name)

    def drop(self, host: str, names: Collection[Name]) -> None:
        """Remove segments of a host, and drafts it left."""
        self._remove(host, *(name.file for name in names))
        self.segments[host] = [one for one in self.segments.get(host, ()) if one not in names]
        with suppress(OSError), self._part(host) as part:
            self._remove(host, *(file for file in os.listdir(part) if file.endswith(_DRAFT)))

    @contextmanager
    def _part(self, host: str) -> Iterator[int]:
        """Open the folder of a host, which is never another one by a link."""
        handle = os.open(f"{self.path}/{host}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield handle
        finally:
            os.close(handle)

    def put(self, host: str, name: str, content: bytes) -> None:
        """Put a file into the folder of a host, whole."""
        draft = name + _DRAFT
        try:
            os.makedirs(f"{self.path}/{host}", mode=FOLDER_MODE, exist_ok=True)
            with self._part(host) as part:
                with _opened(draft, "wb", part) as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(draft, name, src_dir_fd=part, dst_dir_fd=part)
                with suppress(OSError):
                    os.fsync(part)
        except OSError as error:
            self._remove(host, draft)
            raise CannotWrite(f"the folder {self.path}/{host} could not be written ({error.strerror})") from error

    def _remove(self, host: str, *names: str) -> None:
        with suppress(OSError), self._part(host) as part:
            for name in names:
                with suppress(OSError):
                    os.remove(name, dir_fd=part)


def _opened(name: str, mode: str, part: int, more: int = 0) -> IO[bytes]:
    return open(name, mode, opener=lambda path, flags: open_file(path, flags | more, folder=part))
