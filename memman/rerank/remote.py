"""Rerankers behind HTTP: one class, and a row of a table for each shape of API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from memman.model.errors import BadReply
from memman.rerank.post import post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """How one API is spoken to: `most` names the number of results, `rows` where a reply has them."""

    most: str
    rows: tuple[str, ...]
    extra: Mapping[str, object] = field(default_factory=dict)


SHAPES = {
    "voyage": Shape("top_k", ("data",)),
    "cohere": Shape("top_n", ("results",)),
    "jina": Shape("top_n", ("results",), {"return_documents": False}),
    "openai": Shape("top_n", ("results", "data")),
}


class RemoteReranker:
    """Asks at `endpoint` in one of the SHAPES, once and for `seconds` at most; key and model may be empty."""

    def __init__(self, shape: str, endpoint: str, api_key: str, model: str, seconds: float) -> None:
        self._shape = SHAPES[shape]
        self._url = endpoint.rstrip("/") + "/rerank"
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._model = {"model": model} if model else {}
        self._seconds = seconds

    @property
    def about(self) -> str:
        """The model and where it is, to show."""
        return f"{self._model.get('model', 'its own model')} at {self._url}"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a finite score for each text. Raises ProviderUnavailable, BadReply or ProviderMisconfigured."""
        shape = self._shape
        body = {"query": query, "documents": list(texts), shape.most: len(texts), **self._model, **shape.extra}
        reply = post(self._url, self._headers, body, self._seconds)
        rows = next((reply[name] for name in shape.rows if name in reply), None)
        scores = _sound(rows, len(texts))
        if scores is None:
            raise BadReply(f"{self._url} did not return one valid score for each text")
        return scores


def _sound(rows: "Any", count: int) -> list[float] | None:
    """Return the scores in the order of the texts; None unless each text has exactly one, and a finite one."""
    try:
        scores = {row["index"]: float(row["relevance_score"]) for row in rows}
        whole = len(rows) == count and scores.keys() == set(range(count))
    except (LookupError, TypeError, ValueError, OverflowError):
        return None
    return [scores[number] for number in range(count)] if whole and all(map(isfinite, scores.values())) else None
