"""An embedder that remembers: identical text is embedded once."""

from collections.abc import Sequence

import numpy as np
from cachetools import LRUCache

from memman.embed import Embedder, Embedding, Vectors
from memman.model.records import Usage

# At 1,536 numbers a vector, 12 MiB.
KEPT = 2048


class CachedEmbedder:
    """Wraps `inner`, keeping the vectors of the `kept` texts used last."""

    def __init__(self, inner: Embedder, kept: int = KEPT) -> None:
        self.fingerprint = inner.fingerprint
        self._inner = inner
        self._cache: LRUCache[str, Vectors] = LRUCache(kept)

    async def embed(self, texts: Sequence[str]) -> Embedding:
        """Embed `texts`, asking `inner` only for those not remembered, each once. Raises what it raises."""
        known = {text: row for text in texts if (row := self._cache.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        usage = Usage(cost=0.0)
        if missing:
            fresh = await self._inner.embed(missing)
            usage = fresh.usage
            self.fingerprint = self._inner.fingerprint
            # Copies, so that a remembered row does not keep its whole batch alive.
            new = {text: row.copy() for text, row in zip(missing, fresh.vectors, strict=True)}
            self._cache.update(new)
            known |= new
        empty = np.empty((0, self.fingerprint.dimension), np.float32)
        return Embedding(np.stack([known[text] for text in texts]) if texts else empty, usage)

    async def close(self) -> None:
        """Release connections."""
        await self._inner.close()
