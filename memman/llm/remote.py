"""What every HTTP model shares: asking again, learning an endpoint's dialect, refusals and cost."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from memman.http import Http, JsonObject, Rejected
from memman.model.errors import BadReply, ProviderError, ProviderUnavailable, Refused
from memman.model.objects import parsed
from memman.model.records import Reply, Request, Usage
from memman.secrets import screened

# The statuses that say no to a part of the request, and those that say no to its text. A 5xx is a rejection only
# where it speaks of the schema.
DIALECT = frozenset({400, 422, *range(500, 600)})
_SERVER = 500
ABOUT_TEXT = frozenset({400, 403, 413, 422})
# How much more room an answer gets once tokens ran out, of which a reasoning model spends most on thinking; tokens.
MORE, ROOM = 4, 8_192
# How providers word that it is this text they will not or cannot take, not the request as such.
REFUSALS = (
    "content_filter",
    "content_policy",
    "content management policy",
    "flagged",
    "context_length",
    "context length",
    "context window",
    "too long",
    "too large",
    "too_large",
)


class Price(NamedTuple):
    """US dollars per million tokens."""

    tokens_in: float
    tokens_out: float


class Quirk(NamedTuple):
    """A part of the protocol that some endpoints reject.

    A rejection that mentions one of the `cues`, or if there are none any other, is answered by `change` of the body.
    """

    cues: tuple[str, ...]
    change: Callable[[JsonObject, Request], object]


# How endpoints word that they cannot have bounds in a schema: OpenAI's strict mode, llama.cpp's grammars, others.
BOUNDS_REJECTED = ("schema", "maxitems", "maxlength", "grammar")
_BOUNDS = frozenset({"maxItems", "maxLength"})


def unbounded(schema: Any) -> Any:
    """Return a JSON schema without its bounds on lists and strings."""
    if isinstance(schema, list):
        return [unbounded(part) for part in schema]
    if isinstance(schema, Mapping):
        return {name: unbounded(part) for name, part in schema.items() if name not in _BOUNDS}
    return schema


class Truncated(BadReply):
    """The answer's tokens ran out before it was whole, perhaps on thinking."""


class RemoteModel(ABC):
    """A model behind HTTP, `reasks` times asked again after a BadReply; a provider says how to write and read."""

    quirks: tuple[Quirk, ...] = ()

    def __init__(
        self,
        http: Http,
        endpoint: str,
        api_key: str,
        models: Mapping[str, str],
        price: tuple[float, float] | None = None,
        *,
        provider: str,
        reasks: int = 1,
    ) -> None:
        self.provider = provider
        self._http = http
        self._url = self.url(endpoint.rstrip("/"))
        self._headers = self.headers(api_key)
        self._models = models
        self._price = None if price is None else Price(*price)
        self._reasks = reasks
        # What this endpoint was found to need, remembered for the life of the process.
        self._learned: tuple[Quirk, ...] = ()
        self._thinks = False

    def model(self, role: str) -> str:
        """Name the model that serves `role` ('fast' or 'slow')."""
        return self._models[role]

    async def complete(self, request: Request) -> Reply:
        """Answer `request`, usage of failed asks included. Raises what LLM.complete does."""
        request = replace(request, user=screened(request.user))
        roomy = replace(request, max_tokens=max(MORE * request.max_tokens, ROOM))
        spent: list[Usage] = []
        left, thinks, short = self._reasks, self._thinks, None
        while True:
            try:
                reply = await self._ask(roomy if thinks else request)
                spent.append(self._usage(reply))
                answer = Reply(self._data(reply), _total(spent), self.model(request.role), self.provider)
            except Truncated as error:
                if thinks or not left:
                    raise
                short, thinks, left = error, True, left - 1
            except BadReply:
                if not left:
                    raise
                left -= 1
            except ProviderError:
                # A server that cannot give, or not in time, the room that only we think the model needs.
                if short:
                    raise short from None
                raise
            else:
                self._thinks = thinks
                return answer

    async def close(self) -> None:
        """Release connections."""
        await self._http.close()

    @staticmethod
    @abstractmethod
    def url(endpoint: str) -> str:
        """Return where questions go."""

    @staticmethod
    @abstractmethod
    def headers(api_key: str) -> dict[str, str]:
        """Return the headers that show the key."""

    @abstractmethod
    def _body(self, request: Request) -> JsonObject:
        """Write the question."""

    @abstractmethod
    def _data(self, reply: JsonObject) -> Mapping[str, Any]:
        """Read the answer. Raises BadReply or Refused."""

    @abstractmethod
    def _usage(self, reply: JsonObject) -> Usage:
        """Read what it cost."""

    async def _ask(self, request: Request) -> JsonObject:
        learned = self._learned
        while True:
            body = self._body(request)
            for quirk in learned:
                quirk.change(body, request)
            try:
                reply = await self._http.post(self._url, self._headers, body, rejecting=BOUNDS_REJECTED)
            except Rejected as rejected:
                if rejected.status in ABOUT_TEXT and any(words in rejected.detail for words in REFUSALS):
                    raise self._refused() from None
                found = self._explanation(rejected, learned)
                if found is None and rejected.status >= _SERVER:
                    raise ProviderUnavailable(str(rejected)) from None
                if found is None:
                    raise
                learned = (*learned, found)
            else:
                self._learned = learned
                return reply

    def _explanation(self, rejected: Rejected, learned: tuple[Quirk, ...]) -> Quirk | None:
        if rejected.status not in DIALECT:
            return None
        left = (quirk for quirk in self.quirks if quirk not in learned)
        return next((q for q in left if not q.cues or any(cue in rejected.detail for cue in q.cues)), None)

    def _refused(self) -> Refused:
        return Refused(f"{self.provider} refused to process this text")

    def _bad(self, what: str) -> BadReply:
        return BadReply(f"{self.provider} sent {what}")

    def _cost(self, tokens_in: float, tokens_out: float) -> float | None:
        if self._price is None:
            return None
        return (tokens_in * self._price.tokens_in + tokens_out * self._price.tokens_out) / 1e6


def count(value: object) -> int:
    """Take a token count from a reply: zero unless it is a whole number above zero."""
    return max(value, 0) if isinstance(value, int) else 0


def amount(value: object) -> float | None:
    """Take a sum of money from a reply: None unless it is one."""
    if isinstance(value, int | float) and math.isfinite(value) and value >= 0:
        return float(value)
    return None


def _total(spent: Sequence[Usage]) -> Usage:
    known = [usage.cost for usage in spent if usage.cost is not None]
    return Usage(
        sum(usage.tokens_in for usage in spent),
        sum(usage.tokens_out for usage in spent),
        sum(known) if len(known) == len(spent) else None,
    )


def outermost(text: str) -> dict[str, Any] | None:
    """Parse the object between the first and the last brace; None for none, and no object inside a broken one."""
    thought, closed, answer = text.partition("</think>")
    thought = thought.lstrip()
    if thought.startswith("<think>") or (closed and not thought.startswith(("{", "```"))):
        text = answer
    return parsed(text[text.find("{") : text.rfind("}") + 1])
