"""The one careful HTTP client: every model and embedding provider calls through it.

Nothing here logs, and no error text carries a key, a request or a reply: at
most the endpoint without its query, and the status.
"""

import asyncio
import json
import math
import os
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from random import SystemRandom
from ssl import SSLContext, create_default_context
from typing import Any
from urllib.request import getproxies, proxy_bypass

import certifi
import httpx

from memman.config.keys import LOOPBACK, in_local_network
from memman.model.errors import BadReply, ProviderMisconfigured, ProviderUnavailable
from memman.model.objects import parsed

JsonObject = dict[str, Any]


def bearer(api_key: str) -> dict[str, str]:
    """Return the header that shows a key as most APIs expect it, none without a key."""
    return {"authorization": f"Bearer {api_key}"} if api_key else {}


# Besides 5xx, the answers that another try may not meet.
TRANSIENT = frozenset({408, 409, 425, 429})
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

DETAIL_CHARS = 2000
_GZIP = 16 + zlib.MAX_WBITS

_jitter = SystemRandom().uniform
# Calls at once to a server of the local network: a model there may answer one after another.
LOCAL_CALLS = 2


@dataclass(frozen=True, slots=True)
class Policy:
    """How patient the client is. Times are in seconds, sizes in bytes."""

    timeout: float = 60.0  # of one try, from waiting for a connection to the reply's last byte
    connect_timeout: float = 10.0
    tries: int = 3
    backoff: float = 0.5  # the longest first pause; it doubles with each try
    longest_pause: float = 30.0
    connections: int = 64  # to a server elsewhere
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
    """What went wrong, how long to wait, the `status`, and whether no reply came in time."""

    def __init__(self, trouble: str, wait: float = 0.0, *, status: int = 0, late: bool = False) -> None:
        super().__init__(trouble)
        self.wait, self.status, self.late = wait, status, late


class Http:
    """Posts JSON and gets JSON. One instance serves one event loop.

    A server of the local network gets few calls at once, and what timed out there is not tried again.
    """

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self._servers: dict[str, tuple[httpx.AsyncClient, asyncio.Semaphore]] = {}

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
                return await self._try(request, rejecting)
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
        """Close the connections; a later call opens new ones."""
        while self._servers:
            client, _ = self._servers.popitem()[1]
            await client.aclose()

    async def _try(self, request: httpx.Request, rejecting: Sequence[str]) -> JsonObject:
        try:
            async with self._answer(request) as response:
                content = await self._read(request, response)
        except TimeoutError:
            raise _TryAgainError(f"did not answer within {self.policy.timeout:g} s", late=True) from None
        except httpx.TransportError as error:
            raise _TryAgainError(f"cannot be reached ({str(error) or type(error).__name__})") from None
        return _judge(request, response, content, rejecting)

    @asynccontextmanager
    async def _answer(self, request: httpx.Request) -> AsyncIterator[httpx.Response]:
        """Send a request when it is its turn; what reads the answer has what is left of the timeout."""
        origin = _origin(request.url)
        if origin not in self._servers:
            self._servers[origin] = self._open(request.url)
        client, turns = self._servers[origin]
        async with turns, asyncio.timeout(self.policy.timeout):
            response = await client.send(request, stream=True)
            try:
                yield response
            finally:
                await response.aclose()

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

    def _open(self, url: httpx.URL) -> tuple[httpx.AsyncClient, asyncio.Semaphore]:
        calls = LOCAL_CALLS if _local(url.host) else self.policy.connections
        limits = httpx.Limits(max_connections=calls, keepalive_expiry=self.policy.keep_alive)
        try:
            # What the environment says is read here: httpx would send also plain text to its proxy.
            client = httpx.AsyncClient(verify=_tls(), limits=limits, proxy=_proxy(url), trust_env=False)
        except (ImportError, ValueError, httpx.InvalidURL):
            raise ProviderMisconfigured("the proxy named in the environment cannot be used") from None
        return client, asyncio.Semaphore(calls)


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
        raise _TryAgainError(f"answered {status}", wait, status=status)
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
