"""The embedded language model: structure and a trained judge answer the pipeline's questions, without a key."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from memman.judge.judge import Judge
from memman.llm.builtin import extract, reconcile, turn
from memman.model.errors import ProviderMisconfigured
from memman.model.records import Reply, Request, Usage

# Matrices are worked on beside the event loop, on so many cores where there are, and for so many notes at once: what
# the judge reads together costs it little more than half. Of statements and what they may bear on it reads so many
# before it looks whether to stop.
THREADS, AT_ONCE, GROUPS = 2, 4, 12
Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Task:
    """How a question is answered, and which texts and statements the judge will be asked about for it."""

    answer: Callable[[Payload, Judge], dict[str, Any]]
    texts: Callable[[Payload], list[str]] = lambda _: []
    groups: Callable[[Payload], list[reconcile.Group]] = lambda _: []


_TASKS = {
    "extract": _Task(extract.extract, texts=extract.texts),
    "reconcile": _Task(reconcile.reconcile, groups=reconcile.groups),
    "turn": _Task(turn.turn, texts=turn.texts),
    # Turn by turn it has judged a conversation before a model is asked.
    "conversation": _Task(lambda payload, judge: {"facts": []}),  # noqa: ARG005 - the shape of every answer
}


@dataclass(frozen=True, slots=True)
class _Asked:
    task: _Task
    payload: Payload
    answer: "Future[Payload]" = field(default_factory=Future)


class BuiltinLLM:
    """Answers by the payload."""

    provider = "builtin"

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._waiting: deque[_Asked] = deque()
        self._threads = ThreadPoolExecutor(THREADS, "judge")
        self._closed = False

    def model(self, role: str) -> str:  # noqa: ARG002 - one judge serves every role
        """Name the judge's weights."""
        return self.judge.name

    async def complete(self, request: Request) -> Reply:
        """Answer `request`, task by task."""
        task = _TASKS.get(request.task)
        if task is None:
            raise ProviderMisconfigured(f"the built-in model has no task named {request.task!r}")
        asked = _Asked(task, request.payload)
        self._waiting.append(asked)
        self._threads.submit(self._answer_some)
        answer = await asyncio.wrap_future(asked.answer)
        return Reply(answer, Usage(), self.model(request.role), self.provider)

    async def close(self) -> None:
        """Let go of the threads, and answer nothing more."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        while self._waiting:
            self._waiting.popleft().answer.cancel()

    def _answer_some(self) -> None:
        """Answer what has waited longest; nothing may be left, where another thread was faster."""
        mine = [asked for asked in self._next() if asked.answer.set_running_or_notify_cancel()]
        with suppress(Exception):  # raised again for the one whose fault it is
            self.judge.read([text for asked in mine for text in asked.task.texts(asked.payload)])
            groups = [group for asked in mine for group in asked.task.groups(asked.payload)]
            for at in range(0, len(groups), GROUPS):
                if not self._closed:
                    self.judge.compared(groups[at : at + GROUPS], reconcile.BEARS)
        for asked in mine:
            if self._closed:
                asked.answer.set_exception(CancelledError())
                continue
            try:
                asked.answer.set_result(asked.task.answer(asked.payload, self.judge))
            except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
                asked.answer.set_exception(error)

    def _next(self) -> list[_Asked]:
        found: list[_Asked] = []
        while len(found) < AT_ONCE:
            try:
                found.append(self._waiting.popleft())
            except IndexError:
                break
        return found
