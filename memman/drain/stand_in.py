"""The user's agent as the model, and the judge in its place wherever it cannot be asked: no note waits for it."""

from collections.abc import Callable
from dataclasses import replace

from memman.llm import LLM
from memman.llm.agent.model import LimitReached
from memman.model.errors import BadReply, BudgetSpent, ProviderError, Refused
from memman.model.records import Reply, Request
from memman.pipeline.replies import shaped
from memman.queue.trouble import KEY, Meta, Trouble

# Invalid answers in a row after which the model is left alone.
GARBLED = 3


class StandIn:
    """Asks `agent`, and where that fails `other`; `instead` holds the uids of notes about which `judge` decided.

    What failed once is not tried again in this drain: `memory` keeps why, for status and for the next drains.
    """

    def __init__(
        self,
        agent: LLM,
        other: LLM,
        judge: str,
        memory: Meta,
        tell: Callable[..., None] = lambda event, **fields: None,  # noqa: ARG005
    ) -> None:
        self.agent, self.other, self.provider = agent, other, agent.provider
        self.instead: set[str] = set()
        self._judge, self._memory, self._tell, self._key = judge, memory, tell, KEY + agent.provider
        self._trouble = Trouble.load(memory.meta(self._key))
        self._failed = False

    def model(self, role: str) -> str:
        """Name the model that serves `role`."""
        return self.agent.model(role)

    async def complete(self, request: Request) -> Reply:
        """Answer `request`, whoever can. Raises Refused."""
        if not (self._failed or self._trouble.waiting):
            try:
                reply = await self.agent.complete(request)
                shaped(reply.data, request.schema)
            except Refused:
                raise
            except ProviderError as error:
                self._met(error)
            else:
                self._well()
                return reply
        reply = await self.other.complete(request)
        if request.note and reply.model == self._judge:
            self.instead.add(request.note.uid)
        return reply

    async def close(self) -> None:
        """Let go of the agent; the other may stand in for several, and is closed with what it was made for."""
        await self.agent.close()

    def _met(self, error: ProviderError) -> None:
        if self._failed:
            return
        if isinstance(error, BadReply) and self._trouble.garbled + 1 < GARBLED:
            self._keep(replace(self._trouble, garbled=self._trouble.garbled + 1))
            return
        self._failed = True
        if isinstance(error, BudgetSpent):  # status shows that by itself, and tomorrow it is over
            return
        self._keep(self._trouble.again(str(error), limited=isinstance(error, LimitReached)))
        self._tell("model left alone", why=str(error))

    def _well(self) -> None:
        if self._failed or self._trouble == Trouble():
            return
        told = self._trouble.why
        self._keep(Trouble())
        if told:
            self._tell("model answers again")

    def _keep(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._memory.set_meta(self._key, trouble.save())
