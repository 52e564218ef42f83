"""Providers with a meter on them: the daily budget before each call, the ledger after."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from memman.embed.base import Embedder, Embedding
from memman.llm import LLM, Wrapper
from memman.model.errors import BudgetSpent, ProviderError, ProviderMisconfigured
from memman.model.records import Fingerprint, Reply, Request, Usage
from memman.queue.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Budget:
    """What a day may cost, None for no limit; `unpriced` says why dollars cannot be counted."""

    dollars: float | None = None
    tokens: int | None = None
    calls: int | None = None
    unpriced: str = ""

    def check(self, ledger: Ledger) -> None:
        """Raise BudgetSpent when today's account has reached a limit, ProviderMisconfigured where none can be kept."""
        if self.dollars is not None and self.unpriced:
            raise ProviderMisconfigured(self.unpriced)
        bounds = (self.dollars, self.tokens, self.calls)
        if bounds == (None, None, None):
            return
        dollars, tokens, calls = spent = ledger.spent_today()
        limits = zip(spent, bounds, strict=True)
        if any(limit is not None and spent >= limit for spent, limit in limits):
            spent_of = f"{dollars:.4f} USD, {tokens} tokens, {calls} calls"
            raise BudgetSpent(f"today's budget is spent ({spent_of}); a new one begins at midnight UTC")


# A day's bounds where an agent is the model and the settings say nothing else: twice what 150 turns take of the
# costliest (docs/adr/0038-agent-as-model.md).
OF_AGENTS = Budget(tokens=500_000, calls=100)


class MeteredLLM(Wrapper):
    """A model whose calls are counted and bounded; with a `turn` one call at a time, failed ones too."""

    def __init__(self, inner: LLM, ledger: Ledger, budget: Budget, turn: asyncio.Lock | None = None) -> None:
        super().__init__(inner)
        self.ledger, self.budget, self.turn = ledger, budget, turn

    async def complete(self, request: Request) -> Reply:
        """Answer, or raise BudgetSpent or ProviderMisconfigured before anything is spent."""
        async with self.turn or nullcontext():
            self.budget.check(self.ledger)
            usage, model = Usage(), self.model(request.role)
            counts = self.turn is not None
            try:
                reply = await self.inner.complete(request)
                usage, model, counts = reply.usage, reply.model, True
            except ProviderError as error:
                usage = error.usage if isinstance(error.usage, Usage) else usage
                raise
            finally:
                if counts:
                    self.ledger.enter(request.task, self.provider, model, usage, request.shares)
        return reply


class MeteredEmbedder:
    """An embedder whose calls are counted and bounded."""

    def __init__(self, inner: Embedder, ledger: Ledger, budget: Budget) -> None:
        self.inner, self.ledger, self.budget = inner, ledger, budget

    @property
    def fingerprint(self) -> Fingerprint:
        """What makes these vectors."""
        return self.inner.fingerprint

    async def embed(self, texts: Sequence[str]) -> Embedding:
        """Embed, or raise BudgetSpent or ProviderMisconfigured before anything is spent."""
        self.budget.check(self.ledger)
        embedding = await self.inner.embed(texts)
        self.ledger.enter("embed", self.fingerprint.provider, self.fingerprint.model, embedding.usage)
        return embedding

    async def close(self) -> None:
        """Release connections."""
        await self.inner.close()
