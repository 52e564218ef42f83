"""What an embedder is. Imports numpy: the hot path reads `memman.embed.static` alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

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
