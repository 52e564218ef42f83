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


class Wrapper:
    """A model behind another, whose name and connections are those of the one within."""

    def __init__(self, inner: LLM) -> None:
        self.inner, self.provider = inner, inner.provider

    def model(self, role: str) -> str:
        """Name the model that serves `role`."""
        return self.inner.model(role)

    async def close(self) -> None:
        """Release connections."""
        await self.inner.close()
