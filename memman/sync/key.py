"""The key of a data folder's syncs: an X25519 identity of age, which a person carries from machine to machine."""

from hashlib import sha256
from typing import Any

from memman.config.places import read_file, write_file
from memman.config.synced import sync_path
from memman.model.errors import BadConfig

_MISSING = "to sync needs the package pyrage: pip install 'memman[sync]'"
_SCHEME = "AGE-SECRET-KEY-1"


class Unreadable(Exception):
    """Bytes that this key does not open: changed, cut short, or locked with another one."""


class TooLarge(Unreadable):
    """More bytes than a segment may have: they are not read."""


class Key:
    """An identity, which locks and opens segments."""

    def __init__(self, line: str) -> None:
        self._age = _age()
        self.line = line.strip()
        try:
            self._identity = self._age.x25519.Identity.from_str(self.line)
        except self._age.IdentityError as error:
            raise BadConfig(f"this is no key: one begins with {_SCHEME} and is shown by `memman sync --key`") from error

    @property
    def secret(self) -> bytes:
        """What keyed digests are made with."""
        return sha256(self.line.encode()).digest()

    def lock(self, text: bytes) -> bytes:
        """Encrypt bytes."""
        sealed: bytes = self._age.encrypt(text, [self._identity.to_public()])
        return sealed

    def open(self, sealed: bytes) -> bytes:
        """Decrypt bytes. Raises Unreadable where one of them was changed."""
        try:
            text: bytes = self._age.decrypt(sealed, [self._identity])
        except self._age.DecryptError as error:
            raise Unreadable(str(error)) from error
        return text


def load(data: str) -> Key | None:
    """Return the key, None where there is none yet. Raises BadConfig where it is damaged, or pyrage is not there."""
    line = read_file(_path(data))
    return Key(line) if line.strip() else None


def made() -> Key:
    """Make a new key."""
    return Key(str(_age().x25519.Identity.generate()))


def keep(data: str, key: Key) -> None:
    """Store a key, which nobody else may read."""
    write_file(_path(data), key.line + "\n")


def _path(data: str) -> str:
    return sync_path(data) + "/key"


def _age() -> Any:
    try:
        import pyrage  # type: ignore[import-untyped]  # it has no py.typed
    except ImportError as error:
        raise BadConfig(_MISSING) from error
    return pyrage
