"""Read from git's own files what the commits and the index of a repository tell.

Git is never started: a repository's configuration can make it run any program, on a mere look at a commit.
Formats: gitformat-pack(5), gitformat-index(5), gitrepository-layout(5).
"""

import hashlib
import os
import stat
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memman.config.repository import Repository

# Commits that are followed back towards the first one at a time: some .4 s.
_MOST_COMMITS = 10_000
# Bytes of the largest file that is looked at, of the largest commit, of the largest index.
_LARGEST, _LARGEST_COMMIT, _LARGEST_INDEX = 4_194_304, 1_048_576, 134_217_728
# Folders that objects are borrowed from, packs in a folder, deltas that an object is built from (git's own limit).
_MOST_FOLDERS, _MOST_PACKS, _MOST_DELTAS = 8, 1024, 4096
# Kinds of object in a pack.
_COMMIT, _OFFSET_DELTA, _NAME_DELTA = 1, 6, 7
_PACK_INDEX = b"\xfftOc\0\0\0\x02"
# Whatever a file that is not what it should be makes the readers below raise.
_UNREADABLE = (OSError, ValueError, IndexError, zlib.error)


def first_commit(repository: "Repository", reached: str = "") -> tuple[str, bool]:
    """Return the oldest commit on the line of first parents from the one checked out, and True.

    Where there are too many, or one cannot be read, that is the commit `reached`, to go on from next time, and False.
    """
    start = commit = reached or repository.commit
    objects = _Objects(repository.common + "/objects", len(commit) // 2)
    try:
        for _ in range(_MOST_COMMITS):
            text = objects.commit(bytes.fromhex(commit))
            parent = next(
                (line for line in text.partition(b"\n\n")[0].split(b"\n") if line.startswith(b"parent ")), b""
            )
            if not parent:
                return commit, _name("commit", text, len(commit)) == commit
            commit = parent[7:].decode()
    except _UNREADABLE:
        return (commit if commit != start else ""), False
    finally:
        objects.close()
    return commit, False


def tracked(repository: "Repository", names: "Sequence[str]", below: str = ".") -> dict[str, str]:
    """Return the path, from the root, of the tracked file that each of `names` means, of those that mean one.

    A name is a path from the folder `below`, or from the root, or the last part of one path alone.
    """
    try:
        paths = dict.fromkeys(_indexed(repository.git + "/index", len(repository.commit) // 2 or 20))
    except _UNREADABLE:
        return {}
    found = {}
    for name in names:
        near = os.path.normpath(f"{below}/{name}")
        ends = [path for path in paths if path.endswith("/" + name)]
        path = next((path for path in (near, name) if path in paths), ends[0] if len(ends) == 1 else "")
        if path:
            found[name] = path
    return found


def blob(path: str) -> str:
    """Return the id that git gives to what a file holds, '' where it is none, is not there or is too large."""
    try:
        return _name("blob", _content(path, _LARGEST), 40)
    except _UNREADABLE:
        return ""


def _name(kind: str, content: bytes, length: int) -> str:
    """Return the id, of `length` hexadecimal digits, that git gives to an object."""
    digest = hashlib.new("sha1" if length == 40 else "sha256", usedforsecurity=False)  # noqa: PLR2004 - SHA-1 in hex
    digest.update(b"%s %d\0%b" % (kind.encode(), len(content), content))
    return digest.hexdigest()


def _opened(path: str) -> int:
    """Open a plain file. Raises OSError, ValueError."""
    # Without O_NONBLOCK a named pipe would be waited for.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError(path)
    return handle


def _content(path: str, most: int) -> bytes:
    """Read a plain file. Raises OSError, ValueError where it holds more than `most` bytes."""
    with open(_opened(path), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(path)
    return content


def _indexed(path: str, width: int) -> "Iterator[str]":
    """Yield the paths of a git index whose ids have `width` bytes. Raises what `_UNREADABLE` names."""
    index = _content(path, _LARGEST_INDEX)
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    if index[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError(path)
    at, name = 12, b""
    for _ in range(count):
        # Ten numbers of four bytes, the id, the flags and, where a flag says so, two more bytes.
        flags = at + 40 + width
        start = flags + (4 if index[flags] & 0x40 else 2)
        if version == 4:  # noqa: PLR2004 - the one that shares the beginning with the path before
            dropped, start = _number(index, start)
            end = index.index(b"\0", start)
            name = name[: len(name) - dropped] + index[start:end]
            at = end + 1
        else:
            end = index.index(b"\0", start)
            name = index[start:end]
            at += (end - at + 8) & ~7
        try:
            yield name.decode()
        except UnicodeDecodeError:
            continue


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number written in seven bits a byte, highest first, as offsets of packs are, and where it ends."""
    number = data[at] & 127
    while data[at] & 128:
        at += 1
        number = (number + 1) << 7 | data[at] & 127
    return number, at + 1


class _Objects:
    """The objects of a repository, loose, packed or borrowed. Its methods raise what `_UNREADABLE` names."""

    def __init__(self, folder: str, width: int) -> None:
        self.width = width
        self.folders = _borrowed(folder)
        self.packs: list[tuple[int, int]] | None = None

    def close(self) -> None:
        """Close the packs."""
        for pair in self.packs or ():
            for handle in pair:
                os.close(handle)

    def commit(self, name: bytes) -> bytes:
        """Return what a commit says."""
        kind, content = self._object(name, _MOST_DELTAS)
        if kind != _COMMIT:
            raise ValueError(name)
        return content

    def _object(self, name: bytes, deltas: int) -> tuple[int, bytes]:
        for index, pack in self._packs():
            if (at := self._found(index, name)) is not None:
                return self._packed(pack, at, deltas)
        digits = name.hex()
        for folder in self.folders:
            path = f"{folder}/{digits[:2]}/{digits[2:]}"
            if os.path.lexists(path):
                return self._loose(path)
        raise ValueError(digits)

    def _packs(self) -> list[tuple[int, int]]:
        """Open (index, pack) of each pack; what cannot be opened is passed over."""
        if self.packs is None:
            self.packs = []
            for folder in self.folders:
                try:
                    names = sorted(os.listdir(folder + "/pack"))[: 4 * _MOST_PACKS]
                except OSError:
                    continue
                for name in [name for name in names if name.endswith(".idx")][:_MOST_PACKS]:
                    try:
                        index = _opened(f"{folder}/pack/{name}")
                    except _UNREADABLE:
                        continue
                    try:
                        self.packs.append((index, _opened(f"{folder}/pack/{name[:-4]}.pack")))
                    except _UNREADABLE:
                        os.close(index)
        return self.packs

    def _found(self, index: int, name: bytes) -> int | None:
        """Return where in its pack an object begins, None where the pack does not hold it."""
        head = os.pread(index, 8 + 4 * 256, 0)
        if head[:8] != _PACK_INDEX:
            return None
        fan = [int.from_bytes(head[at : at + 4], "big") for at in (4 + 4 * name[0], 8 + 4 * name[0], 8 + 4 * 255)]
        low, high, count = fan[0] if name[0] else 0, fan[1], fan[2]
        names, width = 8 + 4 * 256, self.width
        while low < high:
            middle = (low + high) // 2
            there = os.pread(index, width, names + middle * width)
            if there == name:
                offsets = names + count * (width + 4)
                at = int.from_bytes(os.pread(index, 4, offsets + 4 * middle), "big")
                if at & 0x80000000:
                    far = offsets + 4 * count + 8 * (at & 0x7FFFFFFF)
                    at = int.from_bytes(os.pread(index, 8, far), "big")
                return at
            if there < name:
                low = middle + 1
            else:
                high = middle
        return None

    def _packed(self, pack: int, at: int, deltas: int) -> tuple[int, bytes]:
        """Return kind and content of the object that begins at `at`."""
        changes: list[bytes] = []
        while len(changes) <= deltas:
            kind, base, content = self._entry(pack, at)
            if kind == _OFFSET_DELTA and 0 < base <= at:
                at -= base
            elif kind == _NAME_DELTA:
                changes.append(content)
                kind, content = self._object(base.to_bytes(self.width, "big"), deltas - len(changes))
                return kind, _applied(content, changes)
            else:
                return kind, _applied(content, changes)
            changes.append(content)
        raise ValueError(at)

    def _entry(self, pack: int, at: int) -> tuple[int, int, bytes]:
        """Return kind, base of a delta (how far back, or an id) and content of what begins at `at` in a pack."""
        head = os.pread(pack, 4096, at)
        kind, size = head[0] >> 4 & 7, head[0] & 15
        here, shift, base = 1, 4, 0
        while head[here - 1] & 128:
            size |= (head[here] & 127) << shift
            here, shift = here + 1, shift + 7
        if size > _LARGEST_COMMIT:
            raise ValueError(size)
        if kind == _OFFSET_DELTA:
            base, here = _number(head, here)
        elif kind == _NAME_DELTA:
            base, here = int.from_bytes(head[here : here + self.width], "big"), here + self.width
        return kind, base, _inflated(pack, head[here:], at + len(head), size)

    def _loose(self, path: str) -> tuple[int, bytes]:
        text = _content(path, _LARGEST_COMMIT)
        head, _, content = zlib.decompressobj().decompress(text, _LARGEST_COMMIT).partition(b"\0")
        kind, _, size = head.partition(b" ")
        if int(size) != len(content):
            raise ValueError(path)
        return (_COMMIT if kind == b"commit" else 0), content


def _borrowed(folder: str) -> list[str]:
    """Return a folder of objects and those that it borrows from, as a clone with --shared or --reference does."""
    folders = [folder]
    for here in folders:
        try:
            lines = os.fsdecode(_content(here + "/info/alternates", _LARGEST_COMMIT)).split("\n")
        except _UNREADABLE:
            continue
        folders += [path for line in lines if (path := os.path.join(here, line)) not in folders and line[:1] != "#"]
        del folders[_MOST_FOLDERS:]
    return folders


def _inflated(pack: int, data: bytes, at: int, size: int) -> bytes:
    """Return the `size` bytes that are compressed in `data` and what follows it at `at`."""
    stream = zlib.decompressobj()
    content = stream.decompress(data, size + 1)
    while len(content) < size and (more := os.pread(pack, 65_536, at)):
        at += len(more)
        content += stream.decompress(more, size + 1 - len(content))
    if len(content) != size:
        raise ValueError(size)
    return content


def _applied(content: bytes, changes: list[bytes]) -> bytes:
    """Return what deltas make of their base, the one next to it last."""
    for change in reversed(changes):
        content = _changed(content, change)
    return content


def _changed(base: bytes, delta: bytes) -> bytes:
    """Return what a delta makes of its base: copies of pieces of it, and new pieces."""
    at = 0
    for _ in range(2):  # the sizes of base and result
        while delta[at] & 128:
            at += 1
        at += 1
    pieces, size = [], 0
    while at < len(delta):
        order = delta[at]
        at += 1
        if order & 128:
            numbers = []
            for bits in (range(4), range(4, 7)):
                number = 0
                for shift, bit in enumerate(bits):
                    if order >> bit & 1:
                        number |= delta[at] << 8 * shift
                        at += 1
                numbers.append(number)
            start, length = numbers[0], numbers[1] or 0x10000
            pieces.append(base[start : start + length])
        else:
            pieces.append(delta[at : at + order])
            at += order
        size += len(pieces[-1])
        if not order or size > _LARGEST_COMMIT:
            raise ValueError(order)
    return b"".join(pieces)
