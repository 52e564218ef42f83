"""Questions of one kind that come together, asked as one."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memman.llm import LLM, Wrapper
from memman.model.errors import BadReply, Refused
from memman.model.records import Provenance, Reply, Request, Usage

# Questions asked as one, and characters of them: about 6,000 tokens, which a small model still reads with care.
MOST, LONGEST = 16, 24_000
# Seconds in which others may still come after the last one did: a drain's notes arrive one by one, as the judge reads.
SETTLED = 1.0
# Tokens of an answer to several.
_ROOM = 8_192
# The task whose questions number facts and memories, one per line; how they are written, how many numbers each
# question has, and where answers refer to them.
_COMPARING = "reconcile"
_NUMBERED = re.compile(r"^([fm])(\d{1,2})(?=[: ])", re.MULTILINE)
_EACH = 100
_REFERRING = frozenset({"fact", "memory", "cause", "effect"})
_END = re.compile(r"([fm])(\d{1,6})")
_SEVERAL = """

There are several such questions, independent of each other. Each stands between <question> and </question>, which \
carry its number. Answer each by itself, as if there were no other: nothing in one is about another, or may change how \
another is answered. Give one object in "answers" for every question, in their order, with its number in "question"."""


@dataclass(frozen=True, slots=True)
class _Asked:
    request: Request
    reply: "asyncio.Future[Reply]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Batched(Wrapper):
    """A model that is asked about several notes at once, those of equal trust and the same agent.

    What it garbles or leaves out it is asked once more; where it refuses several, about each by itself.
    """

    def __init__(self, inner: LLM, most: int = MOST) -> None:
        super().__init__(inner)
        self._most = most
        self._waiting: list[_Asked] = []
        self._task: asyncio.Task[None] | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer `request`, with what else comes meanwhile; raises what the model does."""
        asked = _Asked(request)
        self._waiting.append(asked)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._rounds())
        return await asked.reply

    async def close(self) -> None:
        """Ask nothing more, and release connections."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])
        await super().close()

    async def _rounds(self) -> None:
        try:
            while self._waiting:
                await self._gathered()
                if several := self._next():
                    await self._answered(several)
        finally:
            for asked in self._waiting:
                asked.reply.cancel()

    async def _gathered(self) -> None:
        """Wait until nobody has come for a while, or as many wait as are asked about at once."""
        seen = 0
        while seen < len(self._waiting) < self._most:
            seen = len(self._waiting)
            await asyncio.sleep(SETTLED)

    def _next(self) -> list[_Asked]:
        """Take the oldest question, and those of its kind that are asked along with it."""
        self._waiting = [asked for asked in self._waiting if not asked.reply.done()]
        taken: list[_Asked] = []
        room = LONGEST
        for asked in self._waiting:
            room -= len(asked.request.user) if not taken or _kind(asked) == _kind(taken[0]) else 0
            if taken and (_kind(asked) != _kind(taken[0]) or room < 0 or len(taken) == self._most):
                continue
            taken.append(asked)
        self._waiting = [asked for asked in self._waiting if asked not in taken]
        return taken

    async def _answered(self, several: Sequence[_Asked], *, again: bool = True) -> None:
        try:
            left = await self._asked(several)
            why = BadReply(f"{self.provider} left questions unanswered")
        except BadReply as error:
            left, why = [*several], error
        except Refused as error:
            if len(several) == 1:
                _fail(several, error)
                return
            for asked in several:
                await self._answered([asked])
            return
        except asyncio.CancelledError:
            for asked in several:
                asked.reply.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - raised for each of those whose question it was
            # What waits would fare no better.
            self._waiting, waiting = [], self._waiting
            _fail([*several, *waiting], error)
            return
        if left and again and len(several) > 1:
            await self._answered(left, again=False)
        else:
            _fail(left, why)

    async def _asked(self, several: Sequence[_Asked]) -> list[_Asked]:
        """Ask, and return what got no answer."""
        if len(several) == 1:
            (asked,) = several
            _settle(asked, await self.inner.complete(asked.request))
            return []
        reply = await self.inner.complete(_joined([asked.request for asked in several]))
        found = _numbered(reply.data)
        for n, asked in enumerate(several, 1):
            if n in found:
                data = _own(found[n], n) if asked.request.task == _COMPARING else found[n]
                _settle(asked, replace(reply, data=data, usage=Usage()))
        return [asked for n, asked in enumerate(several, 1) if n not in found]


def _kind(asked: _Asked) -> tuple[str, ...]:
    """Return what questions have in common that are asked together: a web page's words never stand beside a user's."""
    whose = asked.request.note.provenance if asked.request.note else Provenance()
    return (asked.request.task, asked.request.role, whose.source, whose.agent)


def _joined(requests: Sequence[Request]) -> Request:
    first = requests[0]
    item = dict(first.schema)
    item["properties"] = {"question": {"type": "integer"}, **first.schema["properties"]}
    item["required"] = ["question", *first.schema["required"]]
    schema = {
        "type": "object",
        "properties": {"answers": {"type": "array", "items": item}},
        "required": ["answers"],
        "additionalProperties": False,
    }
    parts = (f'<question n="{n}">\n{_apart(request, n)}\n</question>' for n, request in enumerate(requests, 1))
    shares: Counter[str] = Counter()
    for request in requests:
        shares.update(request.shares)
    return replace(
        first,
        system=first.system + _SEVERAL,
        user="\n\n".join(parts),
        schema=schema,
        payload={},
        parts=shares,
        max_tokens=max(_ROOM, *(request.max_tokens for request in requests)),
    )


def _apart(request: Request, n: int) -> str:
    """Return what question `n` asks, its facts and memories numbered as no other's are: mixed up, answers name none."""
    if request.task != _COMPARING:
        return request.user
    return _NUMBERED.sub(lambda item: f"{item[1]}{n * _EACH + int(item[2])}", request.user)


def _own(answer: Mapping[str, Any], n: int) -> Mapping[str, Any]:
    """Take that back in what question `n` was answered; numbers of other questions become none of its own."""
    less = n * _EACH

    def back(value: Any) -> Any:
        match value:
            case list():
                return [back(one) for one in value]
            case dict():
                return {key: _less(one, less) if key in _REFERRING else back(one) for key, one in value.items()}
        return value

    return {key: back(value) for key, value in answer.items()}


def _less(value: Any, less: int) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value - less
    end = _END.fullmatch(value) if isinstance(value, str) else None
    return f"{end[1]}{int(end[2]) - less}" if end else value


def _numbered(data: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """Return the answers by their numbers; of a number that comes twice nobody knows which is meant."""
    answers = data.get("answers")
    found: dict[int, Mapping[str, Any]] = {}
    twice = set()
    for answer in answers if isinstance(answers, list) else ():
        n = answer.get("question") if isinstance(answer, dict) else None
        if isinstance(n, int):
            twice |= {n} & found.keys()
            found[n] = answer
    return {n: answer for n, answer in found.items() if n not in twice}


def _settle(asked: _Asked, reply: Reply) -> None:
    if not asked.reply.done():
        asked.reply.set_result(reply)


def _fail(several: Iterable[_Asked], error: Exception) -> None:
    for asked in several:
        if not asked.reply.done():
            asked.reply.set_exception(error)
