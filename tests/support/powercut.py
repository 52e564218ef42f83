"""What a disk may hold after a power cut: images made from a tape of what was written and synced.

    disk = Disk(root)
    for event in read(tape): disk.play(event)        # tests.support.tape
    disk.image(chance, folder)                       # one of the states that a cut at this moment may leave

What was synced is there. Of the rest each write may be lost, whole, or torn at any sector, some of which then hold
rubbish; each change of a folder may be lost.
"""

import os
from dataclasses import dataclass, field
from random import Random

from tests.support.tape import Event
from tests.support.vfs import SECTOR

# The chances that an unsynced write is lost, is whole, and that a sector of any other is lost, is kept.
LOST, WHOLE = 0.45, 0.35
SECTOR_LOST, SECTOR_KEPT = 0.4, 0.4
# Files whose every write the VFS tells of, and bytes of rubbish in a file of another kind before its first sync.
_TOLD = (".db", "-wal", "-journal")
_UNSEEN = 200
# Bytes of rubbish in the shared memory beside a log, which nobody syncs.
_SHARED = 32_768


@dataclass(slots=True)
class File:
    """What is safe of a file, and the writes (offset, bytes) and truncations (size, None) since."""

    safe: bytes = b""
    since: list[tuple[int, bytes | None]] = field(default_factory=list)
    seen: bool = False

    def sync(self) -> None:
        """Make safe what was written."""
        content = bytearray(self.safe)
        for at, data in self.since:
            _apply(content, at, data)
        self.safe, self.since = bytes(content), []

    def left(self, chance: Random) -> bytes:
        """Return what a cut may leave of the file."""
        content = bytearray(self.safe)
        for at, data in self.since:
            luck = chance.random()
            if luck < LOST:
                continue
            if data is None or luck < LOST + WHOLE:
                _apply(content, at, data)
            else:
                _tear(content, at, data, chance)
        if not self.seen and chance.random() < WHOLE:
            content += chance.randbytes(_UNSEEN)
        return bytes(content)


def _apply(content: bytearray, at: int, data: bytes | None) -> None:
    if data is None:
        del content[at:]
    content.extend(bytes(max(0, at - len(content))))
    content[at : at + len(data or b"")] = data or b""


def _tear(content: bytearray, at: int, data: bytes, chance: Random) -> None:
    for start in range(0, len(data), SECTOR):
        luck, sector = chance.random(), data[start : start + SECTOR]
        if luck >= SECTOR_LOST:
            kept = luck < SECTOR_LOST + SECTOR_KEPT
            _apply(content, at + start, sector if kept else chance.randbytes(len(sector)))


class Disk:
    """The files below a folder: what is safe, and what happened since. A folder is a name without a file."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.safe: dict[str, File | None] = {}
        self.now: dict[str, File | None] = {}
        self.since: dict[str, list[dict[str, File | bool | None]]] = {}

    def lay(self) -> None:
        """Take for safe what lies there now."""
        for folder, _, files in os.walk(self.root):
            self.safe[folder] = None
            for name in files:
                with open(f"{folder}/{name}", "rb") as file:
                    self.safe[f"{folder}/{name}"] = File(file.read(), seen=True)
        del self.safe[self.root]
        self.now = dict(self.safe)

    def play(self, event: Event) -> None:
        """Let an event of a tape happen."""
        kind, path, *rest = event
        getattr(self, f"_{kind}", lambda *_: None)(path, *rest)

    def image(self, chance: Random, folder: str) -> None:
        """Write what a cut at this moment may leave into `folder`, as if it were the root."""
        names = dict(self.safe)
        for changes in self.since.values():
            for change in changes:
                if chance.random() >= LOST:
                    _rename(names, change)
        for path in sorted(names):
            place, file = folder + path.removeprefix(self.root), names[path]
            if not os.path.isdir(os.path.dirname(place)):
                continue
            if file is None:
                os.mkdir(place, 0o700)
            else:
                _put(place, file.left(chance))
                if place.endswith("-wal") and chance.random() < LOST:
                    _put(place.removesuffix("-wal") + "-shm", chance.randbytes(_SHARED))

    def _change(self, path: str, change: dict[str, File | bool | None]) -> None:
        _rename(self.now, change)
        self.since.setdefault(path.rpartition("/")[0], []).append(change)

    def _make(self, path: str) -> None:
        self._change(path, {path: File(seen=path.endswith(_TOLD))})

    def _folder(self, path: str) -> None:
        self._change(path, {path: None})

    def _drop(self, path: str) -> None:
        self._change(path, {path: False})

    def _rename(self, path: str, to: str) -> None:
        self._change(to, {path: False, to: self.now[path]})

    def _settle(self, path: str) -> None:
        for change in self.since.pop(path, ()):
            _rename(self.safe, change)

    def _file(self, path: str) -> File:
        file = self.now[path]
        assert file is not None
        file.seen = True
        return file

    def _write(self, path: str, at: int, data: bytes) -> None:
        self._file(path).since.append((at, data))

    def _cut(self, path: str, size: int) -> None:
        self._file(path).since.append((size, None))

    def _sync(self, path: str) -> None:
        self._file(path).sync()


def _put(path: str, content: bytes) -> None:
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as target:
        target.write(content)


def _rename(names: dict[str, File | None], change: dict[str, File | bool | None]) -> None:
    """Put files, or None for a folder, under their names; False takes a name away."""
    for name, file in change.items():
        if isinstance(file, bool):
            names.pop(name, None)
        else:
            names[name] = file
