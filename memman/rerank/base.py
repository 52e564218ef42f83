"""What a reranker is."""

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Says how well texts answer a query."""

    @property
    def about(self) -> str:
        """The model and where it is, to show."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a finite score for each text. Raises ProviderUnavailable, BadReply or ProviderMisconfigured."""
