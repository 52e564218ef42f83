"""A write-ahead log in which a byte was changed, and that byte put right.

SQLite takes the first frame whose checksum is wrong for the end of its log, and the next writer goes on from there.
After a power cut that is right: what follows was never acknowledged. Where a disk changes a byte of what was long
synced, it loses every commit since. The two can be told apart, because these checksums are sums: what one is wrong by
tells which single byte makes it right, and for a page torn by a power cut there is none. The format is SQLite's
(sqlite.org/fileformat2.html#walformat).
"""

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress

from memman.config.places import open_file

PAGE = 4096
HEADER, FRAME = 32, 24 + PAGE
# The magic number by the order of bytes in which a log's checksums are made, and what follows it in all of ours.
_MAGIC = {"<": 0x377F0682, ">": 0x377F0683}
_VERSION = 3_007_000
_WORD = 2**32
Sums = tuple[int, int]


def damage(path: str, seen: int) -> str:
    """Say what is wrong with a log after the frames of it that SQLite sees, '' where nothing is."""
    if _ended(path + "-wal", seen):
        return ""
    log = _read(path + "-wal")
    for order, head in _heads(log):
        walk = _Log(log, b"", order)
        if walk.followed(head, seen) and (walk.wrong or head != log[:HEADER]):
            return "its write-ahead log is damaged, so SQLite cannot read all of it"
        break
    return ""


def _ended(path: str, seen: int) -> bool:
    """Whether what follows the first `seen` frames is left over from before the log was begun anew: it has other salts.

    No single byte makes them others; so a log that is longer than it is full costs nobody the reading of it.
    """
    try:
        with open(path, "rb", opener=open_file) as log:
            salts = log.read(HEADER)[16:24]
            log.seek(HEADER + seen * FRAME + 8)
            return sum(a != b for a, b in zip(salts, log.read(8), strict=False)) > 1
    except FileNotFoundError:
        return True


def mend(path: str) -> None:
    """Put right the log of the database at `path`: SQLite sees all of it then."""
    log = _read(path + "-wal")
    right = mended(log, _read(path))
    if right != log:
        with open(path + "-wal", "r+b", opener=open_file) as file:
            file.write(right)


def settle(path: str) -> bytes:
    """Lay the pages of the log, put right, over those of a copy of a database, and remove it.

    Return the copy as it would be with all pages laid over it that carry the log's salts, whatever came between.
    """
    log, file = _read(path + "-wal"), bytearray(_read(path))
    said, salts = _followed(log, bytes(file))
    if said:
        size = int.from_bytes(said[-1][4:8])
        _lay(file, said, size)
        del file[size * PAGE :]
    with open(path, "r+b", opener=open_file) as copy:
        copy.write(file)
        copy.truncate()
    with suppress(FileNotFoundError):
        os.remove(path + "-wal")
    strays = [said for found, said, _ in (_parts(log, at) for at in frames(log)[len(said) :]) if found == salts]
    _lay(file, strays, len(file) // PAGE + len(strays))
    return bytes(file)


def found(path: str) -> None:
    """Give an empty file its first page from its log, zeros if need be: SQLite deletes the log of an empty one."""
    said, _ = _followed(_read(path + "-wal"), b"")
    first = next((one[8:] for one in reversed(said) if _number(one) == 1), bytes(PAGE))
    with open(path, "r+b", opener=open_file) as file:
        file.write(first)


def _lay(file: bytearray, said: Sequence[bytes], pages: int) -> None:
    for one in said:
        start = (_number(one) - 1) * PAGE
        if 0 <= start < pages * PAGE:
            file.extend(bytes(max(0, start - len(file))))
            file[start : start + PAGE] = one[8:]


def frames(log: bytes) -> range:
    """Return where the frames of a log begin."""
    return range(HEADER, len(log) - FRAME + 1, FRAME)


def mended(log: bytes, file: bytes = b"") -> bytes:
    """Return a log with each byte put right that alone was changed in its frame, as far as the last commit.

    Where that can be one of several, other versions of the page decide, of which `file` has the oldest; where they do
    not, the page stays as it is, but the log is whole again.
    """
    for order, head in _heads(log):
        found = _Log(log, file, order).followed(head)
        sums, right = _pair(head[24:]), [head]
        for one in found:
            sums = _sums(one, sums, order)
            right.append(one[:8] + head[16:24] + struct.pack(">2I", *sums) + one[8:])
        whole = b"".join(right)
        return whole + log[len(whole) :]
    return log


def _followed(log: bytes, file: bytes) -> tuple[list[bytes], bytes]:
    for order, head in _heads(log):
        return _Log(log, file, order).followed(head), head[16:24]
    return [], b""


def _heads(log: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what the header may have been, the likeliest first, and in which order of bytes checksums are made."""
    for order, magic in _MAGIC.items():
        known = struct.pack(">3I", magic, _VERSION, PAGE)
        heads = [head for head in _rights(log[:24], log[24:HEADER], (0, 0), order) if head.startswith(known)]
        heads.sort(key=lambda head: head[16:24] != log[HEADER + 8 : HEADER + 16])
        yield from ((order, head) for head in heads)


def _parts(log: bytes, at: int) -> tuple[bytes, bytes, bytes]:
    """Return the salts of a frame, what its checksum covers, and that."""
    return log[at + 8 : at + 16], log[at : at + 8] + log[at + 24 : at + FRAME], log[at + 16 : at + 24]


class _Log:
    """A log, the file that it belongs to, and in which order of bytes its checksums are made."""

    def __init__(self, log: bytes, file: bytes, order: str) -> None:
        self.log, self.file, self.order = log, file, order
        self.wrong = False

    def followed(self, head: bytes, seen: int = 0) -> list[bytes]:
        """Return numbers and pages of the frames whose checksums are right, or can be put right, to the last commit.

        The first `seen` are right, and passed over. `wrong` says whether one was put right.
        """
        first = HEADER + seen * FRAME
        if len(self.log) < first:  # somebody has emptied it meanwhile
            return []
        salts, sums = head[16:24], _pair(self.log[first - FRAME + 16 : first - FRAME + 24] if seen else head[24:])
        found, committed, wrong = [], 0, False
        for at in frames(self.log)[seen:]:
            salted, said, stored = _parts(self.log, at)
            puts = _rights(said, stored, sums, self.order)
            if not puts or (salted != salts and puts != [said + stored]):
                break
            put = puts[0] if len(puts) == 1 else self._likeliest(at, said, puts)
            wrong = wrong or salted != salts or put != said + stored or len(puts) > 1
            found.append(put[:-8])
            sums = _pair(put[-8:])
            if any(put[4:8]):  # the size of the database after this commit
                committed, self.wrong = len(found), wrong
        return found[:committed]

    def _likeliest(self, at: int, said: bytes, puts: list[bytes]) -> bytes:
        """Choose what the next frame goes on from, and which is most like another version of its page."""
        _, after, stored = _parts(self.log, at + FRAME)
        if len(after) == 8 + PAGE:
            puts = [put for put in puts if _sums(after, _pair(put[-8:]), self.order) == _pair(stored)] or puts
        asis = said + puts[0][-8:]
        return min([asis, *puts], key=lambda put: (self._odd(at, put), self._unlike(at, put)))

    def _odd(self, at: int, put: bytes) -> int:
        """Count the pages by which a database never came to be as large as this frame says."""
        before = range(HEADER, at, FRAME)
        most = max([_number(put), *(max(_pair(self.log[n : n + 8])) for n in before)])
        size = int.from_bytes(put[4:8])
        return abs(size - most) if size or at == frames(self.log)[-1] else 0

    def _unlike(self, at: int, put: bytes) -> int:
        """Count the bytes by which a frame differs from the nearest other version of its page."""
        start = (_number(put) - 1) * PAGE
        same = (n for n in frames(self.log) if n != at and self.log[n : n + 4] == put[:4])
        versions = (self.log[n + 24 : n + FRAME] for n in same)
        page = int.from_bytes(put[8:-8])
        others = (page ^ int.from_bytes(other) for other in (*versions, self.file[start : start + PAGE]) if other)
        return min((PAGE - other.to_bytes(PAGE).count(0) for other in others), default=PAGE)


def _rights(said: bytes, stored: bytes, before: Sums, order: str) -> list[bytes]:
    """Return bytes and their checksum where these agree, else all that they can have been but for a single byte."""
    if len(stored) < 8:  # noqa: PLR2004 - two sums
        return []
    found, wanted = _sums(said, before, order), _pair(stored)
    if found == wanted:
        return [said + stored]
    lacks = (wanted[0] - found[0]) % _WORD, (wanted[1] - found[1]) % _WORD
    puts = [put + stored for put in _corrected(said, lacks, order)]
    summed = struct.pack(">2I", *found)
    if sum(a != b for a, b in zip(summed, stored, strict=True)) == 1:
        puts.append(said + summed)
    return puts


def _sums(said: bytes, before: Sums, order: str) -> Sums:
    first, second = before
    for one, other in struct.iter_unpack(order + "2I", said):
        first = first + one + second & 0xFFFFFFFF
        second = second + other + first & 0xFFFFFFFF
    return first, second


def _corrected(said: bytes, lacks: Sums, order: str) -> Iterator[bytes]:
    """Yield these bytes with one changed by which the sums get so much greater, in each way there is.

    What is added to the words of a pair counts in the sums as often as these Fibonacci numbers say: a change of the
    highest byte of a word, modulo 2³², may be one of several words'.
    """
    words = list(struct.unpack(f"{order}{len(said) // 4}I", said))
    counts = [(1, 1), (0, 1)]
    for pair in range(len(words) - 2, -1, -2):
        for place, (once, twice) in enumerate(counts, pair):
            odd, by = (once, lacks[0]) if once % 2 else (twice, lacks[1])
            more = by * pow(odd, -1, _WORD) % _WORD
            word = (words[place] + more) % _WORD
            single = (word ^ words[place]).to_bytes(4).count(0) == 3  # noqa: PLR2004 - all others are the same
            if single and (once * more % _WORD, twice * more % _WORD) == lacks:
                changed = [*words[:place], word, *words[place + 1 :]]
                yield struct.pack(f"{order}{len(words)}I", *changed)
        counts = [((a + b) % _WORD, (a + 2 * b) % _WORD) for a, b in counts]


def _number(frame: bytes) -> int:
    return int.from_bytes(frame[:4])


def _pair(raw: bytes) -> Sums:
    first, second = struct.unpack(">2I", raw)
    return first, second


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", opener=open_file) as file:
            return file.read()
    except FileNotFoundError:
        return b""
