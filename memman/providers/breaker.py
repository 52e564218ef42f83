"""The user's agent behind a circuit breaker that outlives a drain: what failed is left alone for a while."""

from collections.abc import Callable
from dataclasses import replace

from memman.llm import LLM, Wrapper
from memman.llm.agent.model import LimitReached
from memman.model.errors import BadReply, BudgetSpent, ProviderError, ProviderUnavailable, Refused
from memman.model.records import Reply, Request
from memman.pipeline.replies import shaped
from memman.queue.notes import Queue
from memman.queue.trouble import KEY, Trouble

# Invalid answers in a row after which the agent is left alone.
GARBLED = 3


class CircuitBreaker(Wrapper):
    """Asks an agent until it fails, then no more in this drain; `memory` keeps why and until when."""

    def __init__(
        self,
        agent: LLM,
        memory: Queue,
        tell: Callable[..., None] = lambda event, **fields: None,  # noqa: ARG005 - nobody looks on by default
    ) -> None:
        super().__init__(agent)
        self._memory, self._tell, self._key = memory, tell, KEY + agent.provider
        self._trouble = Trouble.load(memory.meta(self._key))
        self._open = "left alone until later" if self._trouble.waiting else ""

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises Refused, else ProviderUnavailable whatever went wrong."""
        if self._open:
            raise ProviderUnavailable(f"{self.provider}: {self._trouble.why or self._open}")
        try:
            reply = await self.inner.complete(request)
            shaped(reply.data, request.schema)
        except Refused:
            raise
        except ProviderError as error:
            self._failed(error)
            raise ProviderUnavailable(str(error)) from None
        self._served()
        return reply

    def _failed(self, error: ProviderError) -> None:
        if self._open:  # by another question, while this one was asked
            return
        if isinstance(error, BadReply) and self._trouble.garbled + 1 < GARBLED:
            self._keep(replace(self._trouble, garbled=self._trouble.garbled + 1))
            return
        self._open = str(error)
        if isinstance(error, BudgetSpent):  # status shows that by itself, and tomorrow it is over
            return
        self._keep(self._trouble.again(str(error), limited=isinstance(error, LimitReached)))
        self._tell("model left alone", why=str(error))

    def _served(self) -> None:
        if self._open or self._trouble == Trouble():
            return
        told = self._trouble.why
        self._keep(Trouble())
        if told:
            self._tell("model answers again")

    def _keep(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._memory.set_meta(self._key, trouble.save())
