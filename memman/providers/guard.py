"""A model in a drain, with the built-in one behind it: where it fails, it is asked less."""

from collections import Counter
from collections.abc import Callable

from memman.http import Broken, Rejected
from memman.llm import LLM, Wrapper
from memman.llm.agent.model import LimitReached
from memman.model.errors import BadReply, BudgetSpent, ProviderError, ProviderUnavailable, Refused
from memman.model.records import Reply, Request
from memman.model.vocabulary import GARBLES
from memman.pipeline.replies import shaped
from memman.queue.notes import Queue
from memman.queue.trouble import KEY, Trouble

# Failures in a row after which a model is left alone for the rest of the drain, if the built-in one answers then.
TRIPS = 3
# Answers in a row that make no sense, each asked for twice, before a drain asks that kind of question no more.
GARBLED = 3
# The statuses by which a provider rejects the account, not the question: a key, its credit, what it may do.
ACCOUNT = frozenset({401, 402, 403})
# Characters of what is told of an answer.
_SAID = 200


class _GarbledError(BadReply):
    """The answer makes no sense, or so many made none that no more is asked for."""


class Guard(Wrapper):
    """Asks a model, and in its place the built-in one.

    That answers what the model garbles; with `last` also while the model is down, out of budget or its account
    rejected. An `agent` that failed is left alone for the rest of the drain, and a while after, as `queue` knows.
    """

    def __init__(
        self, inner: LLM, builtin: LLM, queue: Queue, tell: Callable[..., None], *, last: bool, agent: bool
    ) -> None:
        super().__init__(inner)
        self._builtin, self._queue, self._tell, self._last, self._agent = builtin, queue, tell, last or agent, agent
        self._trouble = Trouble.load(queue.meta(KEY + self.provider)) if agent else Trouble()
        self._failures = TRIPS if self._trouble.waiting else 0
        self._why = self._trouble.why
        self._garbles = queue.meta(GARBLES)
        self._garbled: Counter[str] = Counter()
        self._told = False

    async def complete(self, request: Request) -> Reply:
        """Answer. Raises Refused, what is wrong with the settings, and what keeps a model that is not `last`."""
        try:
            return await self._asked(request)
        except Refused:
            raise
        except ProviderError as error:
            if not (isinstance(error, _GarbledError) or (self._last and (self._agent or _passes(error)))):
                raise
            if not self._told:
                self._told = True
                told = {"provider": self._builtin.provider, "instead_of": self.provider, "why": str(error)}
                self._tell("judge answers", **told)
        return await self._builtin.complete(request)

    async def _asked(self, request: Request) -> Reply:
        if self._left_alone:
            raise ProviderUnavailable(f"{self.provider}: {self._why}")
        if self._garbled[request.task] >= GARBLED:
            raise _GarbledError(f"{self.model(request.role)} is unfit for {request.task}")
        try:
            reply = await self.inner.complete(request)
            shaped(reply.data, request.schema)
        except Refused:
            raise
        except ProviderError as error:
            if isinstance(error, BadReply) and not isinstance(error, Broken):
                self._count_garbled(request, str(error)[:_SAID])
                raise _GarbledError(str(error)) from None
            self._failed(error)
            raise
        self._served(request)
        return reply

    @property
    def _left_alone(self) -> bool:
        return self._last and self._failures >= TRIPS

    def _failed(self, error: ProviderError) -> None:
        if self._left_alone:  # since another question, while this one was asked
            return
        at_once = self._agent or (isinstance(error, Rejected) and error.status in ACCOUNT)
        if at_once or isinstance(error, ProviderUnavailable | Broken):
            self._failures += TRIPS if at_once else 1
            self._why = str(error)
        if self._agent and not isinstance(error, BudgetSpent):  # of that status tells, and tomorrow it is over
            self._keep(self._trouble.again(self._why, limited=isinstance(error, LimitReached)))
            self._tell("model left alone", why=self._why)

    def _served(self, request: Request) -> None:
        if not self._left_alone:
            self._failures = 0
            if self._trouble.why:
                self._keep(Trouble())
                self._tell("model answers again")
        self._garbled[request.task] = 0
        if self._garbles and f" for {request.task}: " in self._garbles:
            self._garbles = ""
            self._queue.set_meta(GARBLES, "")

    def _count_garbled(self, request: Request, why: str) -> None:
        self._garbled[request.task] += 1
        if self._garbled[request.task] == GARBLED:
            self._garbles = f"{self.provider} {self.model(request.role)} for {request.task}: {why}"
            self._queue.set_meta(GARBLES, self._garbles)
            self._tell("model unfit", model=self.model(request.role), task=request.task, why=why)

    def _keep(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._queue.set_meta(KEY + self.provider, trouble.save())


def _passes(error: ProviderError) -> bool:
    """Whether the built-in model may answer: what is wrong with the settings, a person should see."""
    if isinstance(error, Rejected):
        return error.status in ACCOUNT
    return isinstance(error, ProviderUnavailable | BudgetSpent | BadReply)
