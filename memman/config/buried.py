"""What was purged, by a keyed digest of each text: it is known again when it comes back, and nobody can guess at it.

`<data>/purged.key` is a random key, `<data>/purged.texts` has a digest a line. Case, spaces and punctuation count for
nothing.
"""

import re
from collections.abc import Iterable
from hashlib import blake2b
from os import urandom

from memman.config.places import read_file, write_file

_BYTES = 16
_WORD = re.compile(r"\w+")


class Buried:
    """The purged texts of a data folder."""

    def __init__(self, key: bytes = b"", digests: frozenset[str] = frozenset()) -> None:
        self._key, self._digests = key, digests

    @classmethod
    def load(cls, data: str) -> "Buried":
        """Read the digests; without a key nothing was purged yet."""
        key = _key(data)
        return cls(key, frozenset(read_file(_texts(data)).split())) if key else cls()

    def since(self, earlier: str) -> "Buried":
        """Return what was purged later than `earlier` says, the text of another such file of digests."""
        return Buried(self._key, self._digests.difference(earlier.split()))

    def says(self, text: str) -> bool:
        """Whether a text was purged."""
        return bool(self._digests) and _digest(self._key, text) in self._digests


def kept(data: str) -> tuple[str, str]:
    """Return what the files of key and digests say, for another data folder."""
    return read_file(_path(data)), read_file(_texts(data))


def keep(data: str, key: str, texts: str) -> None:
    """Take over what another data folder kept, where nothing was purged in this one."""
    if key and not read_file(_path(data)):
        write_file(_texts(data), texts)
        write_file(_path(data), key)


def bury_texts(data: str, texts: Iterable[str]) -> None:
    """Keep the digests of texts for ever; on disk when this returns."""
    key = _key(data)
    if not key:
        key = urandom(32)
        write_file(_path(data), key.hex() + "\n")
    known = read_file(_texts(data)).split()
    new = [_digest(key, text) for text in texts if _WORD.search(text)]
    write_file(_texts(data), "".join(f"{one}\n" for one in dict.fromkeys([*known, *new])))


def dig_up_texts(data: str, texts: Iterable[str]) -> None:
    """Let go of texts that a person has brought back."""
    buried = Buried.load(data)
    back = {_digest(_key(data), text) for text in texts if buried.says(text)}
    if back:
        write_file(_texts(data), "".join(f"{one}\n" for one in read_file(_texts(data)).split() if one not in back))


def _digest(key: bytes, text: str) -> str:
    said = " ".join(_WORD.findall(text.casefold()))
    return blake2b(said.encode(), key=key, digest_size=_BYTES).hexdigest()


def _key(data: str) -> bytes:
    try:
        return bytes.fromhex(read_file(_path(data)).strip())
    except ValueError:  # the disk has changed it: what it made is known no more
        return b""


def _path(data: str) -> str:
    return data + "/purged.key"


def _texts(data: str) -> str:
    return data + "/purged.texts"
