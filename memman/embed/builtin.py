"""The built-in embedder, as drains use it: the packaged token table, in batches, with numpy."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memman.embed.base import Unbilled, Vectors
from memman.embed.static import TABLE, StaticTable, pieces, words
from memman.model.records import Fingerprint
from memman.model.vocabulary import BUILTIN

# Words kept expanded, 1.5 kB each: 12 MB holds the working vocabulary of a large store.
CACHED_WORDS = 8192
# Texts kept embedded, 1.5 kB each: a memory's neighbours are embedded again when it comes in between them.
CACHED_TEXTS = 4096

Sums = npt.NDArray[np.int64]


class BuiltinEmbedder(Unbilled):
    """The vectors of `memman.embed.static` as float32, a zero row for a text without a known token."""

    def __init__(self, path: str = TABLE) -> None:
        self._table = StaticTable(path)
        # All is let go at once when it has grown too large: keeping count of uses costs more than that.
        self._words: dict[str, npt.NDArray[np.int32]] = {}
        self._texts: dict[str, Vectors] = {}
        self.fingerprint = Fingerprint(BUILTIN, f"{self._table.model}-v{self._table.version}", self._table.dimension)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Embed `texts`: float32, shape (texts, dimension), each row of unit length or zero."""
        vectors = np.zeros((len(texts), self.fingerprint.dimension), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            known = self._texts.get(text)
            if known is None:
                if len(self._texts) >= CACHED_TEXTS:
                    self._texts.clear()
                known = self._texts[text] = _unit(self._sum(text))
            row[:] = known
        return vectors

    async def close(self) -> None:
        """Close the table."""
        self._table.close()

    def _sum(self, text: str) -> Sums:
        """Exact sum of the words of `text`, in the table's integer unit."""
        rows = []
        for word in words(text):
            known = self._words.get(word)
            rows.append(self._expand(word) if known is None else known)
        return np.add.reduce(rows, axis=0, dtype=np.int64) if rows else np.zeros(self.fingerprint.dimension, np.int64)

    def _expand(self, word: str) -> npt.NDArray[np.int32]:
        """Sum of the tokens of `word`; see `memman.embed.static` for the format."""
        total = np.zeros(self.fingerprint.dimension, np.int32)
        for scale, blob in pieces(word, self._table.find):
            packed = np.frombuffer(blob, np.uint8)
            total += scale * (2 * np.concatenate([packed & 15, packed >> 4]).astype(np.int32) - 15)
        if len(self._words) >= CACHED_WORDS:
            self._words.clear()
        self._words[word] = total
        return total


def _unit(sums: Sums) -> Vectors:
    whole = sums.astype(np.float64)
    norm = float(whole @ whole) ** 0.5 or 1.0
    return (whole / norm).astype(np.float32)
