"""Embedders behind HTTP: one class, and a row of a table for each shape of API."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from memman.embed.base import Embedding, Vectors
from memman.http import Http, JsonObject, Rejected, bearer
from memman.model.errors import BadReply, ProviderError, ProviderMisconfigured, ProviderUnavailable, Refused
from memman.model.records import Fingerprint, Usage
from memman.secrets import screened

# The answers that may be about one text, and a text that nothing is wrong with.
ABOUT_TEXT, PLAIN = frozenset({400, 413, 422, 500}), "memory"
# Texts per call: what the least generous of the known providers (Cohere, behind gateways) takes.
BATCH = 96


@dataclass(frozen=True, slots=True)
class Shape:
    """How one API is spoken to. `rows` and `tokens` read the vectors and the token count of a reply."""

    path: str
    rows: Callable[[JsonObject], list[Any]]
    tokens: Callable[[JsonObject], Any]
    extra: Mapping[str, Any] = field(default_factory=dict)


def _by_index(reply: JsonObject) -> list[Any]:
    rows = {item["index"]: item["embedding"] for item in reply["data"]}
    return [rows[number] for number in range(len(reply["data"]))]


# The endpoint of the first two ends in /v1.
SHAPES = {
    "openai": Shape("/embeddings", _by_index, lambda reply: reply["usage"]["prompt_tokens"]),
    "voyage": Shape("/embeddings", _by_index, lambda reply: reply["usage"]["total_tokens"], {"input_type": "document"}),
    "ollama": Shape("/api/embed", lambda reply: reply["embeddings"], lambda reply: reply["prompt_eval_count"]),
}


class RemoteEmbedder:
    """Embeds at `endpoint` in one of the SHAPES; a `dimension` of 0 is learned from the first reply."""

    def __init__(
        self,
        http: Http,
        shape: str,
        endpoint: str,
        api_key: str,
        model: str,
        dimension: int = 0,
        price: float | None = None,
        *,
        provider: str = "",
    ) -> None:
        self.fingerprint = Fingerprint(provider or shape, model, dimension)
        self._http = http
        self._shape = SHAPES[shape]
        self._url = endpoint.rstrip("/") + self._shape.path
        self._headers = self.headers(api_key)
        self._price = price

    headers = staticmethod(bearer)

    async def embed(self, texts: Sequence[str]) -> Embedding:
        """Embed `texts`: float32 rows of unit length. Raises what Embedder does, Refused only for these texts."""
        parts: list[Vectors] = []
        tokens = 0
        for start in range(0, len(texts), BATCH):
            vectors, count = await self._batch(list(texts[start : start + BATCH]))
            parts.append(vectors)
            tokens += count
        empty = np.empty((0, self.fingerprint.dimension), np.float32)
        cost = None if self._price is None else tokens * self._price / 1e6
        return Embedding(np.concatenate(parts) if parts else empty, Usage(tokens, 0, cost))

    async def close(self) -> None:
        """Release connections."""
        await self._http.close()

    async def _batch(self, texts: list[str]) -> tuple[Vectors, int]:
        try:
            reply = await self._post([screened(text) for text in texts])
        except (Rejected, ProviderUnavailable) as error:
            if error.status not in ABOUT_TEXT or not await self._well():
                raise
            raise Refused(f"{self.fingerprint.provider} embeds other texts, but not this one: {error}") from None
        vectors = _unit(_read(self._shape.rows, reply), len(texts))
        if vectors is None:
            raise BadReply(f"{self.fingerprint.provider} did not return one valid vector for each text")
        self._check(vectors.shape[1])
        tokens = _read(self._shape.tokens, reply)
        return vectors, max(tokens, 0) if isinstance(tokens, int) else 0

    async def _well(self) -> bool:
        try:
            await self._post([PLAIN])
        except ProviderError:
            return False
        return True

    async def _post(self, texts: Sequence[str]) -> JsonObject:
        body = {"model": self.fingerprint.model, "input": texts, **self._shape.extra}
        return await self._http.post(self._url, self._headers, body)

    def _check(self, dimension: int) -> None:
        expected = self.fingerprint.dimension
        if not expected:
            self.fingerprint = replace(self.fingerprint, dimension=dimension)
        elif dimension != expected:
            model = self.fingerprint.model
            raise ProviderMisconfigured(f"{model} returns vectors of dimension {dimension}, expected {expected}")


def _read(part: Callable[[JsonObject], Any], reply: JsonObject) -> Any:
    """Read one part of a reply; None where it has no such part."""
    try:
        return part(reply)
    except (LookupError, TypeError):
        return None


def _unit(rows: Any, count: int) -> Vectors | None:
    """Bring `count` rows of equal length to unit length; None unless that is what they are."""
    try:
        vectors = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if vectors.shape[:-1] != (count,):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        return None
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit
