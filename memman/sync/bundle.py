"""A bundle: what one host has to say since its last one, packed and locked.

Below the key lies a line about the bundle and a line for each value. It says itself whose it is, which number it has,
and the digest of the one before it, so that none can be left out, put in another's place or come twice unnoticed.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from memman.model.errors import NewerSchema
from memman.store.sqlite.registers import Place
from memman.sync.folder import BUNDLE_BYTES
from memman.sync.key import Key, TooLarge, Unreadable

VERSION = 1
FORMAT = "memman sync"


class Version(NamedTuple):
    """Which of two values is the newer: by hybrid clock, then host, then what it says."""

    clock: int
    host: str
    digest: bytes


class Said(NamedTuple):
    """A value that a host tells of; None for what is no more. Of a memory's text `born` is (host, bundle)."""

    place: Place
    value: Any
    clock: int
    host: str
    born: tuple[str, int] | None = None

    @property
    def version(self) -> Version:
        """When and by whom it was set, and to what."""
        return Version(self.clock, self.host, digest(self.value))

    @property
    def line(self) -> str:
        """The value as a bundle has it, all of it ASCII."""
        return _json([*self.place, self.value, self.clock, self.host, self.born]) + "\n"


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a host says.

    `whole` is one that needs no other before it, since it says all that the host knows; `seen` is how far the host had
    come with the bundles of others, and `was` under which ids it wrote before.
    """

    store: str
    host: str
    number: int
    previous: str
    whole: bool
    seen: Mapping[str, int]
    was: Sequence[str] = ()
    said: Sequence[Said] = ()


def digest(value: Any) -> bytes:
    """Return what tells a value from others, nothing for what is no more."""
    if value is None:
        return b""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).digest()[:8]


def packed(bundle: Bundle, key: Key) -> bytes:
    """Write a bundle."""
    lines = "".join(one.line for one in bundle.said)
    about = {name: getattr(bundle, name) for name in _ABOUT}
    checked = {"values": len(bundle.said), "sha256": sha256(lines.encode()).hexdigest()}
    head = _json({"format": FORMAT, "version": VERSION, **about, **checked})
    return key.lock(zlib.compress(f"{head}\n{lines}".encode()))


_ABOUT = ("store", "host", "number", "previous", "whole", "seen", "was")


def unpacked(sealed: bytes, host: str, number: int, key: Key) -> Bundle:
    """Read the bundle that lies at a host's number. Raises Unreadable where it is not as that host wrote it.

    And NewerSchema, where a newer memman did.
    """
    if not sealed:
        raise Unreadable("it is empty")
    text = key.open(sealed)
    try:
        unpack = zlib.decompressobj()
        plain = unpack.decompress(text, BUNDLE_BYTES)
        if unpack.unconsumed_tail:
            raise TooLarge
        head, _, lines = plain.decode().partition("\n")
        about = json.loads(head)
        if about["format"] == FORMAT and about["version"] > VERSION:
            raise NewerSchema(f"bundle {number} of host {host} was written by a newer memman: upgrade this one")
        said = tuple(map(_said, filter(None, lines.split("\n"))))
        found = Bundle(**{name: about[name] for name in _ABOUT}, said=said)
        fits = (found.host, found.number) == (host, number)
        if not fits or about["values"] != len(said) or about["sha256"] != sha256(lines.encode()).hexdigest():
            raise Unreadable("it is not what its name says")
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable("it is not what memman writes") from error
    return found


def _said(line: str) -> Said:
    kind, whose, part, value, clock, host, born = json.loads(line)
    return Said((kind, whose, part), value, clock, host, born and tuple(born))


def named(sealed: bytes) -> str:
    """Return the digest by which the next bundle names this one."""
    return sha256(sealed).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
