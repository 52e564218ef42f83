"""What an embedder is, and how vectors are stored: four bits an element, as planes of one; the first is the sign."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from memman.embed.static import CLIP, LEVELS, PLANES
from memman.model.records import Fingerprint, Usage

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Embedding:
    """`vectors` is float32, shape (texts, dimension), each row of unit length."""

    vectors: Vectors
    usage: Usage


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What makes these vectors; a dimension of 0 is not known before the first reply."""

    async def embed(self, texts: Sequence[str]) -> Embedding:
        """Embed `texts`. Raises ProviderUnavailable, BadReply, Refused or ProviderMisconfigured, after retries."""

    async def close(self) -> None:
        """Release connections."""


@runtime_checkable
class LocalEmbedder(Embedder, Protocol):
    """An embedder of this machine: never unavailable, and quick enough to be waited for inside a transaction."""

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Embed `texts`: float32, shape (texts, dimension), each row of unit length or zero."""


# What moves the bit of each plane, most significant first, to the end.
_SHIFTS = np.arange(PLANES - 1, -1, -1, dtype=np.uint8)[:, np.newaxis]


def planes(vector: Vectors) -> tuple[bytes, int]:
    """Round a vector to 16 levels; return their bit planes and the sum of the squared levels 2n - 15."""
    size = float(np.sqrt(np.mean(np.square(vector, dtype=np.float64))))
    if not size:
        return b"", 0
    levels = np.clip(np.floor((vector / (CLIP * size) + 1) * (LEVELS / 2)), 0, LEVELS - 1).astype(np.uint8)
    signed = 2 * levels.astype(np.int64) - (LEVELS - 1)
    return np.packbits(levels >> _SHIFTS & 1, axis=1).tobytes(), int(signed @ signed)


def unpacked(blob: bytes, dimension: int) -> Vectors:
    """Return the levels that `planes` wrote, float32 of shape (dimension,); their length is not one."""
    levels: npt.NDArray[np.int64] = np.zeros(dimension, np.int64)
    if blob:
        for row in np.frombuffer(blob, np.uint8).reshape(PLANES, -1):
            levels = 2 * levels + np.unpackbits(row, count=dimension)
        levels = 2 * levels - (LEVELS - 1)
    return levels.astype(np.float32)


def cosines(vector: Vectors, rows: Iterable[tuple[int, bytes, int]]) -> dict[int, float]:
    """Return the cosine between a vector and each of `rows` (id, planes, squared length), none where either is zero."""
    length = float(np.linalg.norm(vector))
    kept = [(memory, blob, squares) for memory, blob, squares in rows if squares] if length else []
    if not kept:
        return {}
    ids, blobs, squares = zip(*kept, strict=True)
    packed = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(ids), PLANES, -1)
    levels = np.zeros((len(ids), vector.size), np.uint8)
    for plane in range(PLANES):
        levels = 2 * levels + np.unpackbits(packed[:, plane], axis=1, count=vector.size)
    dots = (2 * levels.astype(np.float32) - (LEVELS - 1)) @ vector
    return dict(zip(ids, (dots / (length * np.sqrt(squares))).tolist(), strict=True))


def sign_code(blob: bytes) -> bytes:
    """Return the first of the planes: one bit an element, most significant first, 1 where it is above zero."""
    return blob[: len(blob) // PLANES]
