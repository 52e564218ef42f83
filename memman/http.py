"""The one careful HTTP client: every model and embedding provider calls through it.

Nothing here logs, and no error text carries a key, a request or a reply: at
most the endpoint without its query, and the status.
"""

import asyncio
import contextlib
import json
import math
import os
import sys
import time
import zlib
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from random import SystemRandom
from ssl import SSLContext, create_default_context
from typing import Any
from urllib.request import getproxies, proxy_bypass

import certifi
import httpx

from memman.config.keys import LOOPBACK, in_local_network
from memman.model.errors import BadReply, ProviderMisconfigured, ProviderUnavailable
from memman.model.objects import parsed

# The part of the timeout within which a reply has to come for one more call to go along: as growth is noticed one
# reply late, the slowest call of a server that takes one after another then needs half of the timeout.
GOOD_TIME = 0.25


class Pace:
    """A limit of calls in flight that doubles with every good round until it is halved, then grows by one."""

    def __init__(self, limit: float) -> None:
        self.limit, self.flying = limit, 0
        self._halvings = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> int:
        """Wait for room for one call; return what `halve` is to be told about it. `leave` has to follow."""
        if self._waiting or self.flying + 1 > self.limit:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                with suppress(ValueError):
                    self._waiting.remove(turn)
                if not turn.cancelled():  # let in, and called off before it knew
                    self.leave()
                raise
        else:
            self.flying += 1
        return self._halvings

    def leave(self) -> None:
        """End a call, however it ended."""
        self.flying -= 1
        while self._waiting and self.flying + 1 <= self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self.flying += 1

    def grow(self) -> None:
        """Take note of a reply in good time."""
        self.limit += 1 / self.limit if self._halvings else 1

    def halve(self, entered: int) -> None:
        """Take note that a call was too much; calls that were in flight together halve the limit once."""
        if entered == self._halvings:
            self.limit = max(1.0, min(self.limit, self.flying) / 2)
            self._halvings += 1


JsonObject = dict[str, Any]


def bearer(api_key: str) -> dict[str, str]:
    """Return the header that shows a key as most APIs expect it, none without a key."""
    return {"authorization": f"Bearer {api_key}"} if api_key else {}


# Besides 5xx, the answers that another try may not meet.
TRANSIENT = frozenset({408, 409, 425, 429})
_TOO_MANY = 429
# What a web filter between here and the provider answers with a page of its own.
BLOCKED = frozenset({403, 451})
# What a person should look at when the request itself is rejected.
CHECK = {
    400: "the model's name and what it supports",
    401: "the API key",
    402: "the account's credit",
    403: "what the API key may do",
    404: "the endpoint's path and the model's name",
    405: "the endpoint's path",
    413: "the size of the text",
    422: "the model's name and what it supports",
} | dict.fromkeys(range(300, 400), "the endpoint: it redirects, and redirects are not followed")

# httpcore looks for sniffio several times a call; where it is missing, the search is a quarter of the call's cost.
if find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # type: ignore[assignment]

DETAIL_CHARS = 2000
_GZIP = 16 + zlib.MAX_WBITS

_jitter = SystemRandom().uniform


@dataclass(frozen=True, slots=True)
class Policy:
    """How patient the client is. Times are in seconds, sizes in bytes."""

    timeout: float = 60.0  # of one try, from waiting for a connection to the reply's last byte
    connect_timeout: float = 10.0
    tries: int = 3
    backoff: float = 0.5  # the longest first pause; it doubles with each try
    longest_pause: float = 30.0
    connections: int = 512
    keep_alive: float = 30.0
    reply_bytes: int = 32 * 2**20  # 96 vectors of 4096 numbers are 9 MB of JSON


class Rejected(ProviderMisconfigured):
    """The provider rejects key, model or address; `detail`, its own words, is for deciding and never for showing."""

    def __init__(self, message: str, status: int, detail: str) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail


class Broken(BadReply):
    """No whole JSON object arrived: the fault of the server or the line, not of what a model wrote."""


class _TryAgainError(Exception):
    """What went wrong, how long to wait, the `status`, whether no reply came in time, and whether fewer calls help."""

    def __init__(
        self, trouble: str, wait: float = 0.0, *, status: int = 0, late: bool = False, crowded: bool = False
    ) -> None:
        super().__init__(trouble)
        self.wait, self.status, self.late, self.crowded = wait, status, late, crowded


class Http:
    """Posts JSON and gets JSON. One instance serves one event loop, and everything in it.

    Connections open on demand and stay alive until `close`. Each is an httpx transport of its own, taken from a stack:
    httpx's pool looks at every connection on every call, 3 ms per call with 32 of them and 23 ms with 450, where this
    stays at 0.5 ms.

    A server of the local network may be a model that answers one call after another: it is sent one at first and more
    as replies come in good time, and what timed out there is not tried again. Any server is sent half as many calls at
    once after a timeout or a 429.
    """

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self._idle: defaultdict[str, list[httpx.AsyncHTTPTransport]] = defaultdict(list)
        self._paces: dict[str, Pace] = {}
        self._room = asyncio.Semaphore(self.policy.connections)

    async def post(
        self, url: str, headers: Mapping[str, str], body: Mapping[str, Any], *, rejecting: Sequence[str] = ()
    ) -> JsonObject:
        """Post `body` as JSON and return the object answered, trying again where that can help.

        Raises ProviderUnavailable, BadReply or ProviderMisconfigured; a 5xx with a word of `rejecting` is a Rejected.
        """
        return await self._call(_request("POST", url, headers, body, self.policy), rejecting)

    async def get(self, url: str, headers: Mapping[str, str]) -> JsonObject:
        """Return the object at `url`; raises as `post` does."""
        return await self._call(_request("GET", url, headers, None, self.policy))

    async def _call(self, request: httpx.Request, rejecting: Sequence[str] = ()) -> JsonObject:
        number = 1
        while True:
            try:
                return await self._paced(request, rejecting)
            except _TryAgainError as trouble:
                hopeless = trouble.wait > self.policy.longest_pause or (trouble.late and _local(request.url.host))
                if hopeless or number >= self.policy.tries:
                    unavailable = ProviderUnavailable(f"{_place(request)} {trouble} (try {number})")
                    unavailable.status = trouble.status
                    raise unavailable from None
                # At least what the server asks for, and not everybody at once.
                pause = trouble.wait + _jitter(0, self.policy.backoff * 2 ** (number - 1))
            await asyncio.sleep(min(pause, self.policy.longest_pause))
            number += 1

    async def close(self) -> None:
        """Close the idle connections; a later call opens new ones."""
        for transports in self._idle.values():
            while transports:
                await transports.pop().aclose()

    async def _paced(self, request: httpx.Request, rejecting: Sequence[str]) -> JsonObject:
        pace = self._pace(request.url)
        entered = await pace.enter()
        began = time.monotonic()
        try:
            reply = await self._try(request, rejecting)
        except _TryAgainError as trouble:
            if trouble.crowded:
                pace.halve(entered)
            raise
        else:
            if time.monotonic() - began <= self.policy.timeout * GOOD_TIME:
                pace.grow()
            return reply
        finally:
            pace.leave()

    def _pace(self, url: httpx.URL) -> Pace:
        origin = _origin(url)
        if origin not in self._paces:
            self._paces[origin] = Pace(1 if _local(url.host) else self.policy.connections)
        return self._paces[origin]

    async def _try(self, request: httpx.Request, rejecting: Sequence[str]) -> JsonObject:
        try:
            async with asyncio.timeout(self.policy.timeout), self._connection(request.url) as connection:
                response = await connection.handle_async_request(request)
                try:
                    content = await self._read(request, response)
                finally:
                    await response.aclose()
        except TimeoutError:
            told = f"did not answer within {self.policy.timeout:g} s"
            raise _TryAgainError(told, late=True, crowded=True) from None
        except httpx.TransportError as error:
            raise _TryAgainError(f"cannot be reached ({str(error) or type(error).__name__})") from None
        return _judge(request, response, content, rejecting)

    async def _read(self, request: httpx.Request, response: httpx.Response) -> bytes:
        """Return the body, unpacked here: httpx unpacks whatever is named, however often, and without a limit."""
        most, content = self.policy.reply_bytes, bytearray()
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"identity", "gzip"}:
            raise Broken(f"{_place(request)} sent an encoding that it was not asked for")
        unpack = zlib.decompressobj(_GZIP).decompress if encoding == "gzip" else lambda chunk, room: chunk[:room]
        try:
            async for chunk in response.aiter_raw():
                content += unpack(chunk, most + 1 - len(content))
                if max(len(content), response.num_bytes_downloaded) > most:
                    raise Broken(f"{_place(request)} sent more than {most} bytes")
        except (httpx.ReadError, httpx.RemoteProtocolError, zlib.error):
            raise Broken(f"{_place(request)} sent an incomplete reply") from None
        return bytes(content)

    @contextlib.asynccontextmanager
    async def _connection(self, url: httpx.URL) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        idle = self._idle[_origin(url)]
        async with self._room:
            connection = idle.pop() if idle else self._open(url)
            try:
                yield connection
            except BaseException:
                await connection.aclose()
                raise
            idle.append(connection)

    def _open(self, url: httpx.URL) -> httpx.AsyncHTTPTransport:
        limits = httpx.Limits(max_connections=1, keepalive_expiry=self.policy.keep_alive)
        try:
            return httpx.AsyncHTTPTransport(verify=_tls(), limits=limits, proxy=_proxy(url))
        except (ImportError, ValueError, httpx.InvalidURL):
            raise ProviderMisconfigured("the proxy named in the environment cannot be used") from None


def _request(
    method: str, url: str, headers: Mapping[str, str], body: Mapping[str, Any] | None, policy: Policy
) -> httpx.Request:
    target = _target(url)
    if not all(value.isascii() and value.isprintable() for value in headers.values()):
        raise ProviderMisconfigured(
            f"the API key for {target.host} contains characters that are not allowed in a header"
        )
    # A lone surrogate, from a command line in another encoding, is nothing JSON can carry.
    text = "" if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return httpx.Request(
        method,
        target,
        headers={"accept-encoding": "gzip", "content-type": "application/json", **headers},
        content=text.encode(errors="replace"),
        extensions={"timeout": {"connect": policy.connect_timeout}},
    )


@lru_cache(maxsize=64)
def _target(url: str) -> httpx.URL:
    try:
        target = httpx.URL(url)
    except httpx.InvalidURL:
        raise ProviderMisconfigured("the endpoint is not a valid URL") from None
    if target.scheme not in {"http", "https"} or not target.host or target.userinfo:
        raise ProviderMisconfigured("the endpoint must look like http(s)://host/path, without user or password")
    return target


@lru_cache(maxsize=1)
def _tls() -> SSLContext:
    """Make the verifying context once, with the system's certificates, certifi's and those of SSL_CERT_FILE."""
    context = create_default_context()
    own = os.environ.get("SSL_CERT_FILE")
    try:
        for path in (certifi.where(), *((own,) if own else ())):
            context.load_verify_locations(path)
    except OSError:
        raise ProviderMisconfigured(f"the certificates of SSL_CERT_FILE ({own}) cannot be read") from None
    return context


def _origin(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode()}"


_local = lru_cache(maxsize=64)(in_local_network)


def _place(request: httpx.Request) -> str:
    """Name the endpoint without its query, where some put a key."""
    return f"{_origin(request.url)}{request.url.path}"


def _proxy(url: httpx.URL) -> str | None:
    """Name the proxy for what is encrypted: it learns the host and no more. Plain text goes straight to its server."""
    if url.scheme == "http" or url.host in LOOPBACK or proxy_bypass(url.host):
        return None
    known = getproxies()
    proxy = known.get("https") or known.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def _judge(request: httpx.Request, response: httpx.Response, content: bytes, rejecting: Sequence[str]) -> JsonObject:
    reply = parsed(content)
    fault = _fault(reply or {})
    status = _status(response.status_code, fault)
    detail = content[:DETAIL_CHARS].decode(errors="replace").lower()
    page = f"answered {status} with a web page, as a web filter in between does" if "<html" in detail else ""
    if status in range(200, 300):
        if reply is None:
            raise Broken(f"{_place(request)} {page or 'did not answer with a JSON object'}")
        return reply
    if status in BLOCKED and page:
        raise _TryAgainError(page, status=status)
    broken = status >= httpx.codes.INTERNAL_SERVER_ERROR and not any(word in detail for word in rejecting)
    if status in TRANSIENT or broken:
        wait = _seconds(response.headers.get("retry-after", ""))
        raise _TryAgainError(f"answered {status}", wait, status=status, crowded=status == _TOO_MANY)
    hint = CHECK.get(status, "the endpoint")
    raise Rejected(f"{_place(request)} answered {status}: check {hint}", status, detail)


def _fault(reply: JsonObject) -> JsonObject:
    """Return the error that a reply carries, which OpenRouter may put in the choice that it spoiled."""
    match reply:
        case {"error": dict(fault)}:
            return fault
        case {"choices": [{"error": {"code": int(code)}}, *_]}:
            return {"code": code}
        case {"choices": [{"error": dict() | str()} | {"finish_reason": "error"}, *_]}:
            return {"code": httpx.codes.BAD_GATEWAY.value}
    return {}


def _status(answered: int, fault: JsonObject) -> int:
    """Believe an error inside the reply over the status: OpenRouter answers 200 and puts 429 there."""
    inner = fault.get("code")
    return inner if answered in range(200, 300) and isinstance(inner, int) and inner in range(400, 600) else answered


def _seconds(retry_after: str) -> float:
    """Read Retry-After in seconds; 0 where it says nothing sensible, or a date."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return 0.0
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0
