"""Models in order behind one: each question goes to the first that can answer it."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from memman.http import Broken, Rejected
from memman.llm import LLM
from memman.model.errors import BadReply, BudgetSpent, ProviderError, ProviderUnavailable, Refused
from memman.model.records import Reply, Request
from memman.pipeline.replies import shaped
from memman.providers.fitness import Asked, Fitness

# Failures of a model in a row after which it is left alone for the rest of the drain, if there is another.
TRIPS = 3
# The statuses by which a provider rejects the account, not the question: a key, its credit, what it may do.
ACCOUNT = frozenset({401, 402, 403})


class _UnfitError(BadReply):
    """The model garbles its answers to this kind of question."""


class Relay:
    """The first of `models` that can answer does; the others stand in where it is down, unfit or out of budget.

    What the first garbles, and no other answers, the built-in model does. It answers whatever the others cannot
    where it is `last` in the order; else an outage of all is the first one's. A model that is unfit is tried once a
    drain, and one that was down three times in a row is left alone for the rest of it if there is another.
    """

    def __init__(self, models: Sequence[LLM], builtin: LLM, fitness: Fitness, *, last: bool = False) -> None:
        self.models, self.builtin, self.fitness, self.last = models, builtin, fitness, last
        self.provider = models[0].provider
        self._tried: set[Asked] = set()
        self._trying: defaultdict[Asked, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._failures: defaultdict[str, list[ProviderError]] = defaultdict(list)
        self._told: set[tuple[str, str]] = set()

    def model(self, role: str) -> str:
        """Name the first model that serves `role`."""
        return self.models[0].model(role)

    async def complete(self, request: Request) -> Reply:
        """Answer; a refused text is shown to no other. Raises what the first does if none answers, but no BadReply."""
        trouble: list[ProviderError] = []
        for model in self.models:
            try:
                reply = await self._asked(model, request)
            except Refused:
                raise
            except ProviderError as error:
                if not trouble and not _passes(error):
                    raise
                trouble.append(error)
            else:
                self._tell(model.provider, trouble)
                return reply
        if not (self.last or isinstance(trouble[0], _UnfitError)):
            raise trouble[0]
        self._tell(self.builtin.provider, trouble)
        return await self.builtin.complete(request)

    async def close(self) -> None:
        """Release the connections of all."""
        for model in self.models:
            await model.close()

    async def _asked(self, model: LLM, request: Request) -> Reply:
        failures = self._failures[model.provider]
        if len(failures) >= TRIPS and (self.last or len(self.models) > 1):
            raise failures[-1]
        asked = Asked(model.provider, model.model(request.role), request.task)
        if self.fitness.unfit(asked):
            # One question tries it; those that come meanwhile wait to see what it is worth.
            async with self._trying[asked]:
                if self.fitness.unfit(asked):
                    return await self._once(model, request, asked)
        return await self._answer(model, request, asked)

    async def _once(self, model: LLM, request: Request, asked: Asked) -> Reply:
        if asked in self._tried:
            raise _UnfitError(f"{asked.model} is unfit for {asked.task}")
        self._tried.add(asked)
        try:
            return await self._answer(model, request, asked)
        except (ProviderUnavailable, BadReply, BudgetSpent) as error:
            raise _UnfitError(str(error)) from None

    async def _answer(self, model: LLM, request: Request, asked: Asked) -> Reply:
        try:
            reply = await model.complete(request)
            shaped(reply.data, request.schema)
        except (ProviderUnavailable, Broken) as error:
            self._failures[model.provider].append(error)
            raise
        except BadReply as error:
            self._tried.add(asked)
            self.fitness.garbled(asked, str(error))
            raise _UnfitError(str(error)) from None
        except Rejected as error:
            if error.status in ACCOUNT:
                self._failures[model.provider] += [error] * TRIPS
            raise
        self._failures[model.provider].clear()
        self.fitness.well(asked)
        return reply

    def _tell(self, provider: str, trouble: Sequence[ProviderError]) -> None:
        """Say once per drain who answers in the first one's place, and why."""
        if trouble and (self.provider, provider) not in self._told:
            self._told.add((self.provider, provider))
            self.fitness.tell("fallback answers", provider=provider, instead_of=self.provider, why=str(trouble[0]))


def _passes(error: ProviderError) -> bool:
    """Whether another model may answer: what is wrong with the settings of the first, a person should see."""
    if isinstance(error, Rejected):
        return error.status in ACCOUNT
    return isinstance(error, ProviderUnavailable | BudgetSpent | BadReply)
