"""all-MiniLM-L6-v2, as `memman.embed.minilm` has it, for the builder."""

from collections.abc import Sequence

from memman.embed.base import Vectors
from memman.embed.minilm import FINGERPRINT, installed, opened

WIDTH = FINGERPRINT.dimension
Array = Vectors


class Teacher:
    """Encodes rows of token ids. Raises ProviderMisconfigured when the weights are not the pinned ones."""

    def __init__(self) -> None:
        self._model, ids = opened(installed())
        self.vocabulary = list(ids)

    def encode(self, rows: Sequence[Sequence[int]]) -> Array:
        """Embed `rows` (token ids without [CLS] and [SEP]): float32 (rows, 384), unit length."""
        return self._model.encode(rows)
