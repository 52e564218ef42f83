"""A model in a drain, with the built-in one behind it: what fails is remembered from drain to drain, and asked less."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable

from memman.http import Broken, Rejected
from memman.llm import LLM, Wrapper
from memman.llm.agent.model import LimitReached
from memman.model.errors import BadReply, BudgetSpent, ProviderError, ProviderUnavailable, Refused
from memman.model.records import Reply, Request
from memman.pipeline.replies import shaped
from memman.providers.fitness import GARBLED, UNFIT, Asked, Garbled, read
from memman.queue.notes import Queue
from memman.queue.trouble import KEY, Trouble

# Failures in a row after which a model is left alone for the rest of the drain, if the built-in one answers then.
TRIPS = 3
# The statuses by which a provider rejects the account, not the question: a key, its credit, what it may do.
ACCOUNT = frozenset({401, 402, 403})
# Characters of what is told of an answer.
_SAID = 200


class _UnfitError(BadReply):
    """The model garbles its answers to this kind of question."""


class Guard(Wrapper):
    """Asks a model, and in its place the built-in one.

    That answers what the model garbles; with `last` also while the model is down, out of budget or its account
    rejected. A model that is unfit for a kind of question is tried once a drain. An `agent` that failed is left alone
    for the rest of the drain, and a while after; `queue` keeps all that.
    """

    def __init__(
        self, inner: LLM, builtin: LLM, queue: Queue, tell: Callable[..., None], *, last: bool, agent: bool
    ) -> None:
        super().__init__(inner)
        self._builtin, self._queue, self._tell, self._last, self._agent = builtin, queue, tell, last or agent, agent
        self._trouble = Trouble.load(queue.meta(KEY + self.provider)) if agent else Trouble()
        self._failures = TRIPS if self._trouble.waiting else 0
        self._why = self._trouble.why
        self._known = read(queue.meta(UNFIT))
        self._tried: set[Asked] = set()
        self._trying: defaultdict[Asked, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._told = False

    async def complete(self, request: Request) -> Reply:
        """Answer. Raises Refused, what is wrong with the settings, and what keeps a model that is not `last`."""
        try:
            return await self._asked(request)
        except Refused:
            raise
        except ProviderError as error:
            if not (isinstance(error, _UnfitError) or (self._last and (self._agent or _passes(error)))):
                raise
            if not self._told:
                self._told = True
                told = {"provider": self._builtin.provider, "instead_of": self.provider, "why": str(error)}
                self._tell("judge answers", **told)
        return await self._builtin.complete(request)

    async def _asked(self, request: Request) -> Reply:
        if self._left_alone:
            raise ProviderUnavailable(f"{self.provider}: {self._why}")
        asked = Asked(self.provider, self.model(request.role), request.task)
        if self._unfit(asked):
            # One question tries it; those that come meanwhile wait to see what it is worth.
            async with self._trying[asked]:
                if self._unfit(asked):
                    return await self._once(request, asked)
        return await self._answer(request, asked)

    async def _once(self, request: Request, asked: Asked) -> Reply:
        if asked in self._tried:
            raise _UnfitError(f"{asked.model} is unfit for {asked.task}")
        self._tried.add(asked)
        try:
            return await self._answer(request, asked)
        except (ProviderUnavailable, BadReply, BudgetSpent) as error:
            raise _UnfitError(str(error)) from None

    async def _answer(self, request: Request, asked: Asked) -> Reply:
        try:
            reply = await self.inner.complete(request)
            shaped(reply.data, request.schema)
        except Refused:
            raise
        except ProviderError as error:
            if isinstance(error, BadReply) and not isinstance(error, Broken):
                self._garbled(asked, str(error)[:_SAID])
                raise _UnfitError(str(error)) from None
            self._failed(error)
            raise
        self._served(asked)
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

    def _served(self, asked: Asked) -> None:
        if not self._left_alone:
            self._failures = 0
            if self._trouble.why:
                self._keep(Trouble())
                self._tell("model answers again")
        if asked in self._known:
            if self._unfit(asked):
                self._tell("model fit again", **asked._asdict())
            del self._known[asked]
            self._save()

    def _unfit(self, asked: Asked) -> bool:
        return asked in self._known and self._known[asked].times >= GARBLED

    def _garbled(self, asked: Asked, why: str) -> None:
        self._tried.add(asked)
        times = self._known[asked].times + 1 if asked in self._known else 1
        self._known[asked] = Garbled(times, why)
        self._save()
        if times == GARBLED:
            self._tell("model unfit", **asked._asdict(), why=why)

    def _save(self) -> None:
        rows = [[*asked, *garbled] for asked, garbled in self._known.items()]
        self._queue.set_meta(UNFIT, json.dumps(rows) if rows else "")

    def _keep(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._queue.set_meta(KEY + self.provider, trouble.save())


def _passes(error: ProviderError) -> bool:
    """Whether the built-in model may answer: what is wrong with the settings, a person should see."""
    if isinstance(error, Rejected):
        return error.status in ACCOUNT
    return isinstance(error, ProviderUnavailable | BudgetSpent | BadReply)
