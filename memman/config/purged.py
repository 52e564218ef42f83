"""What was purged: by id, so that no restored backup brings it back, and by a keyed digest of each text.

`<data>/purged` has a line each: when, the note's or rule's uid, and the memory's or `-`.
`<data>/purged.key` has a random key, below it those of hosts whose purges came by sync, and `<data>/purged.texts` a
digest a line: a text is known again when it comes back, and nobody can guess at it. Case, spaces and punctuation count
for nothing.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from os import urandom

from memman.config.places import read_file, write_file

WHOLE = "-"
_FIELDS = 3


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The uids of what was purged; `touched` are all notes of which something was, and which are not read again."""

    memories: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()

    @classmethod
    def load(cls, data: str) -> "Tombstones":
        """Read the file."""
        rows = cls.rows(data)
        return cls(
            frozenset(memory for _, memory in rows if memory != WHOLE),
            frozenset(note for note, memory in rows if memory == WHOLE),
            frozenset(note for note, _ in rows),
        )

    @staticmethod
    def rows(data: str) -> list[tuple[str, str]]:
        """Return (note, memory or WHOLE) of every line, oldest first; a torn one is passed over."""
        found = (line.split(" ") for line in read_file(tombstones_path(data)).split("\n"))
        return [(words[1], words[2]) for words in found if len(words) >= _FIELDS]

    def hold(self, note: str, memory: str) -> bool:
        """Whether a memory of a note was purged."""
        return memory in self.memories or note in self.notes


def bury(data: str, rows: Iterable[tuple[str, str]], at: int) -> None:
    """Keep (note, memory or WHOLE) for ever; on disk when this returns."""
    lines = [f"{at} {note} {memory}\n" for note, memory in rows]
    write_file(tombstones_path(data), read_file(tombstones_path(data)) + "".join(lines))


def dig_up(data: str, memories: Collection[str], notes: Collection[str]) -> None:
    """Let go of memories, and of notes of which all was purged, that a person has brought back."""
    lines = read_file(tombstones_path(data)).splitlines(keepends=True)
    kept = [line for line in lines if not _names(line.split(), memories, notes)]
    if kept != lines:
        write_file(tombstones_path(data), "".join(kept))


def _names(words: Sequence[str], memories: Collection[str], notes: Collection[str]) -> bool:
    _, note, memory, *_ = (*words, "", "", "")
    return memory in memories or (memory == WHOLE and note in notes)


def tombstones_path(data: str) -> str:
    """Return the path of the file."""
    return data + "/purged"


_BYTES = 16
_WORD = re.compile(r"\w+")
_KEY = re.compile(r"([0-9a-f]{2}){16,64}")


class Buried:
    """The purged texts of a data folder."""

    def __init__(self, keys: Sequence[bytes] = (), digests: frozenset[str] = frozenset()) -> None:
        self._keys, self._digests = keys, digests

    @classmethod
    def load(cls, data: str) -> "Buried":
        """Read the digests; without a key nothing was purged yet."""
        keys = _keys(data)
        return cls(keys, frozenset(read_file(_texts(data)).split())) if keys else cls()

    def since(self, earlier: str) -> "Buried":
        """Return what was purged later than `earlier` says, the text of another such file of digests."""
        return Buried(self._keys, self._digests.difference(earlier.split()))

    def says(self, text: str) -> bool:
        """Whether a text was purged."""
        return bool(self._digests) and not self._digests.isdisjoint(_digest(key, text) for key in self._keys)


def bury_texts(data: str, texts: Iterable[str]) -> None:
    """Keep the digests of texts for ever; on disk when this returns."""
    keys = _keys(data)
    if not keys:
        keys = [urandom(32)]
        write_file(_path(data), keys[0].hex() + "\n")
    keep(data, [], [_digest(keys[0], text) for text in texts if _WORD.search(text)])


def dig_up_texts(data: str, texts: Iterable[str]) -> None:
    """Let go of texts that a person has brought back."""
    buried, keys = Buried.load(data), _keys(data)
    back = {_digest(key, text) for text in texts if buried.says(text) for key in keys}
    if back:
        let_go(data, back)


def kept(data: str) -> tuple[list[str], list[str]]:
    """Return the keys, and the digests."""
    return [key.hex() for key in _keys(data)], read_file(_texts(data)).split()


def keep(data: str, keys: Iterable[str], digests: Iterable[str]) -> None:
    """Add keys and digests to those that are kept; on disk when this returns."""
    for path, more in ((_path(data), keys), (_texts(data), digests)):
        known = read_file(path).split()
        new = [one for one in dict.fromkeys(more) if one not in known]
        if new:
            write_file(path, "".join(f"{one}\n" for one in (*known, *new)))


def let_go(data: str, digests: Collection[str]) -> None:
    """Keep some digests no more."""
    write_file(_texts(data), "".join(f"{one}\n" for one in read_file(_texts(data)).split() if one not in digests))


def _digest(key: bytes, text: str) -> str:
    said = " ".join(_WORD.findall(text.casefold()))
    return blake2b(said.encode(), key=key, digest_size=_BYTES).hexdigest()


def _keys(data: str) -> list[bytes]:
    """Return the keys; what the disk has made of one is none, and what it made is known no more."""
    return [bytes.fromhex(one) for one in read_file(_path(data)).split() if _KEY.fullmatch(one)]


def _path(data: str) -> str:
    return data + "/purged.key"


def _texts(data: str) -> str:
    return data + "/purged.texts"
