"""Providers with a meter on them: the daily budget before each call, the ledger after."""

from collections.abc import Sequence
from dataclasses import dataclass

from memman.embed import Embedder, Embedding
from memman.llm import LLM
from memman.model.errors import BudgetSpent
from memman.model.records import Fingerprint, Reply, Request
from memman.queue.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Budget:
    """What a day may cost; None is no limit."""

    dollars: float | None = None
    tokens: int | None = None

    def check(self, ledger: Ledger) -> None:
        """Raise BudgetSpent when today's account has reached a limit."""
        if self.dollars is None and self.tokens is None:
            return
        dollars, tokens = ledger.spent_today()
        if (self.dollars is not None and dollars >= self.dollars) or (
            self.tokens is not None and tokens >= self.tokens
        ):
            raise BudgetSpent(
                f"today's budget is spent ({dollars:.4f} USD, {tokens} tokens); notes stay queued until tomorrow"
            )


class MeteredLLM:
    """A model whose calls are counted and bounded."""

    def __init__(self, inner: LLM, ledger: Ledger, budget: Budget) -> None:
        self.inner, self.ledger, self.budget = inner, ledger, budget
        self.provider = inner.provider

    def model(self, role: str) -> str:
        """Name the model that serves `role`."""
        return self.inner.model(role)

    async def complete(self, request: Request) -> Reply:
        """Answer, or raise BudgetSpent before anything is spent."""
        self.budget.check(self.ledger)
        reply = await self.inner.complete(request)
        self.ledger.enter(request.task, self.provider, reply.model, reply.usage)
        return reply

    async def close(self) -> None:
        """Release connections."""
        await self.inner.close()


class MeteredEmbedder:
    """An embedder whose calls are counted and bounded."""

    def __init__(self, inner: Embedder, ledger: Ledger, budget: Budget) -> None:
        self.inner, self.ledger, self.budget = inner, ledger, budget

    @property
    def fingerprint(self) -> Fingerprint:
        """What makes these vectors."""
        return self.inner.fingerprint

    async def embed(self, texts: Sequence[str]) -> Embedding:
        """Embed, or raise BudgetSpent before anything is spent."""
        self.budget.check(self.ledger)
        embedding = await self.inner.embed(texts)
        self.ledger.enter("embed", self.fingerprint.provider, self.fingerprint.model, embedding.usage)
        return embedding

    async def close(self) -> None:
        """Release connections."""
        await self.inner.close()
