"""The shared folder: of each host its bundles, `HOST/NUMBER.age`, and what it asks others for, `HOST/OTHER-NUMBER.ask`.

A host writes and removes in its own part alone.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EINVAL, EISDIR, ELOOP, EMLINK, ENXIO, EPERM
from typing import IO

from memman.config.places import FOLDER_MODE, open_file
from memman.config.synced import BUNDLE, REQUEST, linked, listing
from memman.model.errors import CannotWrite
from memman.sync.key import TooLarge, Unreadable

_HOST = r"[0-9a-f]{16}"
_BUNDLE = re.compile(rf"({_HOST})/(\d{{8}}){re.escape(BUNDLE)}")
_REQUEST = re.compile(rf"({_HOST})/({_HOST})-(\d{{8}}){re.escape(REQUEST)}")
_DRAFT = ".new"
# A bundle that is larger, or becomes so when it is unpacked, is not read.
BUNDLE_BYTES = 64 * 2**20
# How one fails to open what is a pipe, a folder, a link, a socket or locked, and no bundle.
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
        self.bundles: dict[str, list[int]] = {}
        self.requests: list[tuple[str, str, int]] = []
        self.troubles = [f"{path}/{host} is a link, which is not followed" for host in linked(path)]
        for name in listing(path):
            if found := _BUNDLE.fullmatch(name):
                self.bundles.setdefault(found[1], []).append(int(found[2]))
            elif found := _REQUEST.fullmatch(name):
                self.requests.append((found[1], found[2], int(found[3])))

    def read(self, host: str, number: int) -> bytes:
        """Return the bytes of a bundle, none where it is not there any more.

        Raises Unreadable for what is no file of its host's that may be read, and CannotWrite.
        """
        try:
            with self._part(host) as part, _opened(_bundle(number), "rb", part, os.O_NOFOLLOW) as file:
                if (size := os.fstat(file.fileno()).st_size) > BUNDLE_BYTES:
                    raise TooLarge
                return file.read(size)
        except FileNotFoundError:
            return b""
        except OSError as error:
            if error.errno in _NO_FILE:
                raise Unreadable from error
            where = f"{self.path}/{host}/{_bundle(number)}"
            raise CannotWrite(f"{where} could not be read ({error.strerror})") from error

    def write(self, host: str, number: int, sealed: bytes) -> None:
        """Put a bundle into the folder, whole; on disk when this returns."""
        self._put(host, _bundle(number), sealed)
        if number not in self.bundles.setdefault(host, []):
            self.bundles[host].append(number)

    def drop(self, host: str, before: int) -> None:
        """Remove the bundles of a host, and drafts it left, from before a number."""
        old = [one for one in self.bundles.get(host, ()) if one < before]
        self._remove(host, *map(_bundle, old))
        self.bundles[host] = [one for one in self.bundles.get(host, ()) if one not in old]
        with suppress(OSError), self._part(host) as part:
            self._remove(host, *(name for name in os.listdir(part) if name.endswith(_DRAFT)))

    def ask(self, host: str, other: str, number: int) -> None:
        """Ask another host for what it said from a bundle on."""
        if (host, other, number) not in self.requests:
            self._put(host, _request(other, number), b"")
            self.requests.append((host, other, number))

    def asked(self, host: str) -> int:
        """Return the newest bundle that others ask a host for, 0 for none."""
        return max((number for _, other, number in self.requests if other == host), default=0)

    def take_back(self, host: str, other: str, upto: int) -> None:
        """Ask no more for the bundles of another host up to one that has come."""
        for request in [one for one in self.requests if one[:2] == (host, other) and one[2] <= upto]:
            self._remove(host, _request(*request[1:]))
            self.requests.remove(request)

    @contextmanager
    def _part(self, host: str) -> Iterator[int]:
        """Open the folder of a host, which is never another one by a link."""
        handle = os.open(f"{self.path}/{host}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield handle
        finally:
            os.close(handle)

    def _put(self, host: str, name: str, content: bytes) -> None:
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


def _bundle(number: int) -> str:
    return f"{number:08d}{BUNDLE}"


def _request(other: str, number: int) -> str:
    return f"{other}-{number:08d}{REQUEST}"
