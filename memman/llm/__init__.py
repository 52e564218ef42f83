"""Language models behind one Protocol: one file per provider, a built-in one among them."""

from typing import Protocol

from memman.model.records import Reply, Request


class LLM(Protocol):
    """A model that answers structured questions."""

    provider: str

    def model(self, role: str) -> str:
        """Name the model that serves `role` ('fast' or 'slow')."""

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises ProviderUnavailable, BadReply, Refused or ProviderMisconfigured, after retries."""

    async def close(self) -> None:
        """Release connections."""
