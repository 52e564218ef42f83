"""The shared folder: of each host its segments, `HOST/NAME.age`, and what it has purged, `HOST/purged.age`."""

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EINVAL, EISDIR, ELOOP, EMLINK, ENXIO, EPERM
from typing import IO

from memman.config.places import FOLDER_MODE, open_file
from memman.config.synced import linked, listing
from memman.model.errors import CannotWrite
from memman.sync.key import TooLarge, Unreadable
from memman.sync.segment import MOST_BYTES, Name

_HOST = re.compile(r"[0-9a-f]{16}")
_DRAFT = ".new"
# How one fails to open what is a pipe, a folder, a link, a socket or locked, and no segment.
_NO_FILE = frozenset((EINVAL, EISDIR, ELOOP, EMLINK, ENXIO, EACCES, EPERM))


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
                    raise TooLarge
                return content.read(size)
        except FileNotFoundError:
            return b""
        except OSError as error:
            if error.errno in _NO_FILE:
                raise Unreadable from error
            raise CannotWrite(f"{self.path}/{host}/{file} could not be read ({error.strerror})") from error

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
