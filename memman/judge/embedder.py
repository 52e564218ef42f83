"""The built-in embedder, as drains use it: memories in the space of the questions' table (docs/adr/0053).

A memory's vector is the mean of the judge's last states, sent through one matrix, and beside it the sum of the memory's
own tokens. Matrix, share and table were taught together: a question, which is a sum of tokens, is near what answers it.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memman.embed.base import Embedding, Vectors
from memman.embed.bert import load
from memman.embed.static import TABLE, StaticTable, pieces, words
from memman.judge.judge import FOLDER, MEMORY, Judge
from memman.model.errors import ProviderMisconfigured
from memman.model.records import Fingerprint, Usage
from memman.model.vocabulary import BUILTIN

WEIGHTS = FOLDER + MEMORY
# Words kept expanded, 1.5 kB each: 12 MB holds the working vocabulary of a large store.
CACHED_WORDS = 8192
# Texts kept embedded, 1.5 kB each: a memory's neighbours are embedded again when it comes in between them.
CACHED_TEXTS = 4096

Sums = npt.NDArray[np.int64]


class BuiltinEmbedder:
    """Vectors as float32, a zero row for a text without a known token.

    Raises ProviderMisconfigured where table, matrix and judge were not taught together.
    """

    def __init__(self, judge: Judge | None = None, path: str = TABLE) -> None:
        self._judge, self._table = judge or Judge(), StaticTable(path)
        self._weights: dict[str, Vectors] = {}
        # All is let go at once when it has grown too large: keeping count of uses costs more than that.
        self._words: dict[str, npt.NDArray[np.int32]] = {}
        self._texts: dict[str, Vectors] = {}
        self.fingerprint = Fingerprint(BUILTIN, f"{self._table.model}-v{self._table.version}", self._table.dimension)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Embed `texts`: float32, shape (texts, dimension), each row of unit length or zero."""
        known = {text: row for text in texts if (row := self._texts.get(text)) is not None}
        if rest := [text for text in dict.fromkeys(texts) if text not in known]:
            if len(self._texts) + len(rest) > CACHED_TEXTS:
                self._texts.clear()
            # Copies, so that a remembered row does not keep its whole batch alive.
            new = {text: row.copy() for text, row in zip(rest, self._made(rest), strict=True)}
            self._texts.update(new)
            known |= new
        return np.array([known[text] for text in texts], np.float32).reshape(len(texts), self.fingerprint.dimension)

    async def embed(self, texts: Sequence[str]) -> Embedding:
        """Embed `texts`, at no cost."""
        return Embedding(self.vectors(texts), Usage())

    async def close(self) -> None:
        """Close the table."""
        self._table.close()

    def _made(self, texts: Sequence[str]) -> Vectors:
        sums = np.array([_unit(self._sum(text)) for text in texts])
        told = np.flatnonzero(sums.any(axis=1))
        if told.size:
            means, weights = self._judge.means([texts[n] for n in told.tolist()]), self._loaded()
            sums[told] = _units(_units(means @ weights["weight"].T + weights["bias"]) + weights["share"] * sums[told])
        return sums

    def _loaded(self) -> dict[str, Vectors]:
        if not self._weights:
            if self._table.judge != self._judge.name:
                raise ProviderMisconfigured("the built-in embedder is not of this judge: install memman again")
            try:
                packed = load(WEIGHTS)
                self._weights = packed | {"weight": packed["weight"] * packed["weight.scale"][:, None]}
            except (OSError, ValueError, KeyError) as error:
                raise ProviderMisconfigured(
                    f"the built-in embedder cannot be loaded ({error}): install memman again"
                ) from error
        return self._weights

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


def _units(rows: Vectors) -> Vectors:
    found: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return found
