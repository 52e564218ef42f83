"""One request of a browser or a script, read with limits: what is not as it must be is answered in a line."""

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic
from urllib.parse import parse_qsl

# Bytes of a request line and its headers, of what follows them; seconds for all of it; fields of a form.
HEAD, BODY, SECONDS, FIELDS = 16_384, 262_144, 10.0, 50
_CHUNK = 8_192
_LINE = re.compile(r"([A-Za-z]{1,20}) ([!-~]+) HTTP/1\.[01]")
_HEADER = re.compile(r"([A-Za-z0-9-]+):[ \t]*([ -~\t]*?)[ \t]*")
_METHODS = ("GET", "HEAD", "POST")
# A path is taken as it is written: nothing encoded, doubled, dotted or upward is any path of ours.
_PATH = re.compile(r"/(?:[a-z0-9_-]+(?:/[a-z0-9_-]+)*)?(?:\.json)?")
_FORM = "application/x-www-form-urlencoded"


class Bad(Exception):
    """A request that is answered with a status and a line."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked: the path as it is routed, without `.json`, and whether that was wanted."""

    method: str
    path: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str] = field(default_factory=dict)
    as_json: bool = False


def read(connection: socket.socket, hosts: frozenset[str]) -> Request:
    """Read a request that is meant for one of `hosts`. Raises Bad, and OSError where the other side is gone."""
    until = monotonic() + SECONDS
    head, body = _head(connection, until)
    lines = head.decode("latin-1").split("\r\n")
    method, target, headers = *_first(lines[0]), _headers(lines[1:])
    host = headers.get("host", "")
    if not host:
        raise Bad(HTTPStatus.BAD_REQUEST, "a request says which host it is for")
    if host.lower() not in hosts:
        raise Bad(HTTPStatus.MISDIRECTED_REQUEST, "this is another host")
    if method not in _METHODS:
        raise Bad(HTTPStatus.METHOD_NOT_ALLOWED, f"only {', '.join(_METHODS)}")
    path, _, query = target.partition("?")
    if not _PATH.fullmatch(path):
        raise Bad(HTTPStatus.NOT_FOUND, "there is no such page")
    form = _form(connection, headers, body, until) if method == "POST" else {}
    bare = path.removesuffix(".json")
    return Request(method, bare, headers, _fields(query), form, as_json=bare != path)


def _head(connection: socket.socket, until: float) -> tuple[bytes, bytes]:
    """Return the request line with the headers, and what came with them of the body."""
    got = b""
    while b"\r\n\r\n" not in got:
        if len(got) > HEAD:
            raise Bad(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"the headers are longer than {HEAD} bytes")
        got += _some(connection, until)
    head, _, body = got.partition(b"\r\n\r\n")
    if len(head) > HEAD:
        raise Bad(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"the headers are longer than {HEAD} bytes")
    return head, body


def _some(connection: socket.socket, until: float) -> bytes:
    connection.settimeout(max(0.001, until - monotonic()))
    try:
        got = connection.recv(_CHUNK)
    except TimeoutError:
        raise Bad(HTTPStatus.REQUEST_TIMEOUT, f"a request has {SECONDS:g} seconds") from None
    if not got:
        raise Bad(HTTPStatus.BAD_REQUEST, "the request ends in the middle")
    return got


def _first(line: str) -> tuple[str, str]:
    found = _LINE.fullmatch(line)
    if not found:
        raise Bad(HTTPStatus.BAD_REQUEST, "this is no request of HTTP/1.1")
    return found[1], found[2]


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        found = _HEADER.fullmatch(line)
        if not found or found[1].lower() in headers:
            raise Bad(HTTPStatus.BAD_REQUEST, "a header is broken, or there twice")
        headers[found[1].lower()] = found[2]
    return headers


def _form(connection: socket.socket, headers: Mapping[str, str], body: bytes, until: float) -> dict[str, str]:
    """Read what a form sends."""
    if "transfer-encoding" in headers:
        raise Bad(HTTPStatus.NOT_IMPLEMENTED, "send it whole, with a Content-Length")
    said = headers.get("content-length", "")
    if not re.fullmatch(r"[0-9]{1,12}", said):
        raise Bad(HTTPStatus.LENGTH_REQUIRED, "say a Content-Length")
    length = int(said)
    if length > BODY:
        raise Bad(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {BODY} bytes")
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise Bad(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send {_FORM}")
    while len(body) < length:
        body += _some(connection, until)
    if len(body) > length:
        raise Bad(HTTPStatus.BAD_REQUEST, "more was sent than Content-Length says")
    return _fields(body.decode("latin-1"))


def _fields(encoded: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(encoded, keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except ValueError:
        raise Bad(HTTPStatus.BAD_REQUEST, f"the values are no UTF-8, or more than {FIELDS}") from None
    if len({name for name, _ in pairs}) < len(pairs):
        raise Bad(HTTPStatus.BAD_REQUEST, "a value is given twice")
    return dict(pairs)
