"""One POST of JSON within a deadline, by the standard library: httpx loads too slowly. Errors carry no key or text."""

import json
import os
import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Thread
from urllib.parse import SplitResult, urlsplit

from memman.config.keys import LOOPBACK
from memman.model.errors import BadReply, ProviderMisconfigured, ProviderUnavailable
from memman.model.objects import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REPLY_BYTES = 2**20
_OK = 200
# Answers that come from the request, and not from the moment.
_REJECTED = frozenset(range(300, 500)) - {408, 409, 425, 429}
_PROXIES = frozenset({"https_proxy", "all_proxy"})

# The status and the reply, or what kept them away.
Answer = tuple[int, bytes] | str


def post(url: str, headers: Mapping[str, str], body: Mapping[str, object], seconds: float) -> "dict[str, Any]":
    """Return the object answered to `body` within `seconds` in all.

    Raises ProviderUnavailable, BadReply or ProviderMisconfigured. Redirects are not followed.
    """
    target = urlsplit(url)
    answers: list[Answer] = []
    # A socket's own timeout bounds one wait of many, and the look-up of a name not at all.
    thread = Thread(target=_ask, args=(target, headers, json.dumps(body).encode(), seconds, answers), daemon=True)
    thread.start()
    thread.join(seconds)
    place = f"{target.scheme}://{target.netloc}{target.path}"
    if not answers:
        raise ProviderUnavailable(f"{place} did not answer within {seconds * 1000:.0f} ms")
    return _judged(place, answers[0])


def _ask(target: SplitResult, headers: Mapping[str, str], body: bytes, seconds: float, answers: list[Answer]) -> None:
    try:
        connection = _connection(target, seconds)
        try:
            connection.request("POST", target.path, body, {"content-type": "application/json", **headers})
            response = connection.getresponse()
            answers.append((response.status, response.read(REPLY_BYTES + 1)))
        finally:
            connection.close()
    except TimeoutError:
        return
    except (OSError, HTTPException, ValueError) as error:
        answers.append(type(error).__name__)


def _judged(place: str, answer: Answer) -> "dict[str, Any]":
    if isinstance(answer, str):
        raise ProviderUnavailable(f"{place} cannot be reached ({answer})")
    status, content = answer
    if status in _REJECTED:
        raise ProviderMisconfigured(f"{place} answered {status}: check MEMMAN_RERANK_ENDPOINT, _MODEL and _API_KEY")
    if status != _OK:
        raise ProviderUnavailable(f"{place} answered {status}")
    reply = parsed(content)
    if reply is None or len(content) > REPLY_BYTES:
        raise BadReply(f"{place} did not answer with a JSON object of at most {REPLY_BYTES} bytes")
    return reply


def _connection(target: SplitResult, seconds: float) -> HTTPConnection:
    """Return a connection to come: to this machine, or encrypted, the settings allow no other."""
    if target.scheme == "http":
        return HTTPConnection(target.netloc, timeout=seconds)
    proxy = _proxy(target.hostname or "")
    connection = HTTPSConnection(proxy or target.netloc, timeout=seconds, context=tls())
    if proxy:
        connection.set_tunnel(target.netloc)
    return connection


def tls() -> ssl.SSLContext:
    """Return a verifying context: by the system's authorities, or where it has none by those that httpx goes by."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile or (paths.capath and os.listdir(paths.capath)):
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


def _proxy(host: str) -> str:
    """Return host and port of the proxy that the environment names for `host`, '' for none."""
    if host in LOOPBACK or not any(name.lower() in _PROXIES for name in os.environ):
        return ""
    from urllib.request import getproxies, proxy_bypass

    known = getproxies()
    proxy = known.get("https") or known.get("all") or ""
    return "" if proxy_bypass(host) else proxy.rpartition("://")[2].rpartition("@")[2].rstrip("/")
