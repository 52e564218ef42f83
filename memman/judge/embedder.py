"""The built-in embedder, as drains use it: memories in the space of the questions' table (docs/adr/0053).

A memory's vector is the mean of the judge's last states, sent through one matrix, and beside it the sum of the memory's
own tokens. Matrix, share and table were taught together: a question, which is a sum of tokens, is near what answers it.
"""

from collections.abc import Sequence

import numpy as np

from memman.embed.base import Embedding, Vectors
from memman.embed.bert import load
from memman.embed.static import TABLE, StaticTable
from memman.judge.judge import FOLDER, MEMORY, Judge
from memman.model.errors import ProviderMisconfigured
from memman.model.records import Fingerprint, Usage
from memman.model.vocabulary import BUILTIN

WEIGHTS = FOLDER + MEMORY


class BuiltinEmbedder:
    """Vectors as float32, a zero row for a text without a known token.

    Raises ProviderMisconfigured where table, matrix and judge were not taught together.
    """

    def __init__(self, judge: Judge | None = None, path: str = TABLE) -> None:
        self._judge, self._table = judge or Judge(), StaticTable(path)
        self._weights: dict[str, Vectors] = {}
        self.fingerprint = Fingerprint(BUILTIN, f"{self._table.model}-v{self._table.version}", self._table.dimension)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Embed `texts`: float32, shape (texts, dimension), each row of unit length or zero."""
        distinct = [*dict.fromkeys(texts)]
        made = np.array([self._table.vector(text) for text in distinct], np.float32).reshape(
            -1, self.fingerprint.dimension
        )
        told = np.flatnonzero(made.any(axis=1))
        if told.size:
            means, weights = self._judge.means([distinct[n] for n in told.tolist()]), self._loaded()
            made[told] = _units(_units(means @ weights["weight"].T + weights["bias"]) + weights["share"] * made[told])
        places = {text: n for n, text in enumerate(distinct)}
        return made[[places[text] for text in texts]]

    async def embed(self, texts: Sequence[str]) -> Embedding:
        """Embed `texts`, at no cost."""
        return Embedding(self.vectors(texts), Usage())

    async def close(self) -> None:
        """Close the table."""
        self._table.close()

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


def _units(rows: Vectors) -> Vectors:
    found: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return found
