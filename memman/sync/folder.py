"""The shared folder: of each host its bundles, `HOST/NUMBER.age`, and what it asks others for, `HOST/OTHER-NUMBER.ask`.

A host writes and removes in its own part alone.
"""

import os
import re
from contextlib import suppress

from memman.config.places import FOLDER_MODE, fsync_folder, open_file
from memman.config.synced import BUNDLE, REQUEST, listing
from memman.model.errors import CannotWrite

_HOST = r"[0-9a-f]{16}"
_BUNDLE = re.compile(rf"({_HOST})/(\d{{8}}){re.escape(BUNDLE)}")
_REQUEST = re.compile(rf"({_HOST})/({_HOST})-(\d{{8}}){re.escape(REQUEST)}")
_DRAFT = ".new"


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
        for name in listing(path):
            if found := _BUNDLE.fullmatch(name):
                self.bundles.setdefault(found[1], []).append(int(found[2]))
            elif found := _REQUEST.fullmatch(name):
                self.requests.append((found[1], found[2], int(found[3])))

    def read(self, host: str, number: int) -> bytes:
        """Return the bytes of a bundle, none where it is not there any more. Raises CannotWrite."""
        path = self._bundle(host, number)
        try:
            with open(path, "rb", opener=open_file) as file:
                return file.read()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise CannotWrite(f"{path} could not be read ({error.strerror})") from error

    def write(self, host: str, number: int, sealed: bytes) -> None:
        """Put a bundle into the folder, whole; on disk when this returns."""
        self._put(self._bundle(host, number), sealed)
        if number not in self.bundles.setdefault(host, []):
            self.bundles[host].append(number)

    def drop(self, host: str, before: int) -> None:
        """Remove the bundles of a host, and drafts it left, from before a number."""
        for number in [one for one in self.bundles.get(host, ()) if one < before]:
            self._remove(self._bundle(host, number))
            self.bundles[host].remove(number)
        with suppress(OSError):
            for name in os.listdir(f"{self.path}/{host}"):
                if name.endswith(_DRAFT):
                    self._remove(f"{self.path}/{host}/{name}")

    def ask(self, host: str, other: str, number: int) -> None:
        """Ask another host for what it said from a bundle on."""
        if (host, other, number) not in self.requests:
            self._put(self._request(host, other, number), b"")
            self.requests.append((host, other, number))

    def asked(self, host: str) -> int:
        """Return the newest bundle that others ask a host for, 0 for none."""
        return max((number for _, other, number in self.requests if other == host), default=0)

    def take_back(self, host: str, other: str, upto: int) -> None:
        """Ask no more for the bundles of another host up to one that has come."""
        for request in [one for one in self.requests if one[:2] == (host, other) and one[2] <= upto]:
            self._remove(self._request(*request))
            self.requests.remove(request)

    def _bundle(self, host: str, number: int) -> str:
        return f"{self.path}/{host}/{number:08d}{BUNDLE}"

    def _request(self, host: str, other: str, number: int) -> str:
        return f"{self.path}/{host}/{other}-{number:08d}{REQUEST}"

    def _put(self, path: str, content: bytes) -> None:
        draft = path + _DRAFT
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(draft, "wb", opener=_private) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except OSError as error:
            with suppress(OSError):
                os.remove(draft)
            raise CannotWrite(f"the folder {self.path} could not be written ({error.strerror})") from error
        fsync_folder(os.path.dirname(path))

    @staticmethod
    def _remove(path: str) -> None:
        with suppress(OSError):
            os.remove(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
