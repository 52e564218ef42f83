"""The page, served on loopback until it is idle: to whoever has its link, with buttons.

The link's token works once, for a cookie without which nothing is shown; scripts have a token of their own, which may
read all and do little. docs/adr/0061-the-page-is-served-by-hand.md says why so.
"""

import base64
import hashlib
import hmac
import os
import re
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from http import HTTPStatus
from time import monotonic
from typing import Any

from memman.commands.printing import data_text
from memman.model.errors import Busy, ForPeople, MemmanError, ReadOnly, UnknownId, UsageError
from memman.page.parts import Done, View
from memman.page.request import SECONDS, Bad, Request, read

LOOPBACK = "127.0.0.1"
# How many requests are read at once; further ones are turned away.
AT_ONCE = 32
# Seconds between two looks at whether the page is idle.
_TICK = 0.2
_START, _ACT = "/start", "/act/"
_COMES_FROM = ("same-origin", "none")
_POSTING = re.compile(r"<form\b[^>]*\bmethod=\"post\"[^>]*>")
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
# What a memory's error is to a browser, the first that fits.
_STATUS = (
    (UnknownId, HTTPStatus.NOT_FOUND),
    (UsageError, HTTPStatus.BAD_REQUEST),
    ((ForPeople, ReadOnly), HTTPStatus.FORBIDDEN),
    (Busy, HTTPStatus.SERVICE_UNAVAILABLE),
    (MemmanError, HTTPStatus.INTERNAL_SERVER_ERROR),
)
# The only script: it trades the token that stands behind the # for a cookie.
_SCRIPT = """
const token = location.hash.slice(1);
history.replaceState(null, "", "/");
if (token) fetch("/start", {method: "POST", body: new URLSearchParams({token})}).then(
  (answer) => answer.ok ? location.replace("/") : document.getElementById("used").hidden = false);
"""
_DOOR = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>memman</title></head><body><main><h1>memman</h1>
<p id="used" hidden>This link was used already.</p>
<p>Open the link that <code>memman page</code> printed, or <a href="/">go on</a> where you opened it.</p>
</main><script>{_SCRIPT}</script></body></html>
"""


@dataclass(frozen=True, slots=True)
class Site:
    """What is served: views by path, actions of a person and of a script by name, and what makes a document."""

    views: Mapping[str, Callable[[Mapping[str, str]], View]]
    actions: Mapping[str, Callable[[Mapping[str, str]], Done]]
    scripts: Mapping[str, Callable[[Mapping[str, str]], Done]]
    whole: Callable[[str, str, str], str]
    """Of a title, a body, and the path that is shown."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    status: HTTPStatus
    body: str = ""
    kind: str = "text/plain"
    headers: dict[str, str] = field(default_factory=dict)


class Server:
    """Answers on a port of its own until nobody with the cookie or the token has asked for `idle` seconds."""

    def __init__(self, site: Site, idle: float, port: int = 0) -> None:
        self.site, self.idle = site, idle
        self.token, self.scripts = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._cookie, self._csrf, self._notice = secrets.token_urlsafe(32), secrets.token_urlsafe(32), ""
        self._listener = socket.create_server((LOOPBACK, port), backlog=AT_ONCE)
        self.port = self._listener.getsockname()[1]
        self.hosts = frozenset({f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"})
        self._name = f"memman-{self.port}"
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._one = threading.Lock()
        self._ends = monotonic() + idle
        self._stopped = False

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def link(self) -> str:
        """What a person opens, once."""
        return f"{self.address}/#{self.token}"

    def stop(self) -> None:
        """End `run`, soon."""
        self._stopped = True

    def run(self) -> None:
        """Serve until it is idle or stopped."""
        self._listener.settimeout(_TICK)
        with self._listener:
            while not self._stopped and monotonic() < self._ends:
                with suppress(TimeoutError, ConnectionError):
                    self._take(*self._listener.accept())

    def _take(self, connection: socket.socket, peer: tuple[str, int]) -> None:
        if not self._places.acquire(blocking=False):
            connection.close()
            return
        threading.Thread(target=self._serve, args=(connection, peer), daemon=True).start()

    def _serve(self, connection: socket.socket, peer: tuple[str, int]) -> None:
        """Read a request, answer it, and close."""
        try:
            with connection, suppress(OSError):
                short = False
                try:
                    refuse_others(peer[1], self.port)
                    request = read(connection, self.hosts)
                    short = request.method == "HEAD"
                    with self._one:
                        answer = self.answer(request)
                except Bad as error:
                    answer = Answer(error.status, f"{error}\n")
                except OSError:
                    raise
                except Exception as error:  # noqa: BLE001 - a fault of one page must not end the others
                    answer = Answer(HTTPStatus.INTERNAL_SERVER_ERROR, f"memman failed here: {type(error).__name__}\n")
                _send(connection, answer, short=short)
        finally:
            self._places.release()

    def answer(self, request: Request) -> Answer:
        """Answer a request that was meant for this host."""
        script = self._is_script(request)
        changes = request.method == "POST"
        if changes and not script:
            self._ours(request)
        if changes and request.path == _START:
            return self._exchange(request)
        if not script and not self._is_person(request):
            if request.path == "/" and not changes and not request.as_json:
                return Answer(HTTPStatus.OK, _DOOR, "text/html", _policy(script=_SCRIPT))
            raise Bad(HTTPStatus.UNAUTHORIZED, "open the link that `memman page` printed")
        self._ends = monotonic() + self.idle
        return self._act(request, script=script) if changes else self._show(request)

    def _ours(self, request: Request) -> None:
        """Refuse a change that comes from another page, or from no browser."""
        origin = request.headers.get("origin", "")
        if origin != f"http://{request.headers['host'].lower()}":
            raise Bad(HTTPStatus.FORBIDDEN, "a change has to come from the page itself (Origin)")
        if request.headers.get("sec-fetch-site") != "same-origin":
            raise Bad(HTTPStatus.FORBIDDEN, "a change has to come from the page itself (Sec-Fetch-Site)")

    def _is_script(self, request: Request) -> bool:
        return _same(request.headers.get("authorization", ""), f"Bearer {self.scripts}")

    def _is_person(self, request: Request) -> bool:
        """Whether a browser has the cookie, and no other page sent it here."""
        if request.headers.get("sec-fetch-site", "none") not in _COMES_FROM:
            return False
        pairs = (one.strip().partition("=") for one in request.headers.get("cookie", "").split(";"))
        return any(_same(value, self._cookie) for name, _, value in pairs if name == self._name)

    def _exchange(self, request: Request) -> Answer:
        if not self.token or not _same(request.form.get("token", ""), self.token):
            raise Bad(HTTPStatus.FORBIDDEN, "this link was used already: run `memman page` again")
        self.token = ""
        self._ends = monotonic() + self.idle
        cookie = f"{self._name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"
        return Answer(HTTPStatus.NO_CONTENT, headers={"Set-Cookie": cookie})

    def _show(self, request: Request) -> Answer:
        """Show a page, or its data."""
        view = self.site.views.get(request.path)
        if not view:
            raise Bad(HTTPStatus.NOT_FOUND, "there is no such page")
        try:
            shown = view(request.query)
        except MemmanError as error:
            return self._failed(request, error)
        if request.as_json:
            return _json(shown.data)
        notice, self._notice = self._notice, ""
        return self._page(HTTPStatus.OK, shown.title, notice + shown.body, request.path)

    def _act(self, request: Request, *, script: bool) -> Answer:
        """Do what a button says, and go back to where it was."""
        actions = self.site.scripts if script else self.site.actions
        act = actions.get(request.path.removeprefix(_ACT)) if request.path.startswith(_ACT) else None
        if not act:
            raise Bad(HTTPStatus.NOT_FOUND, "there is no such action" + " for a script" * script)
        values = dict(request.form)
        if not script and not _same(values.pop("csrf", ""), self._csrf):
            raise Bad(HTTPStatus.FORBIDDEN, "this form is of another session: load the page again")
        back = values.pop("back", "/")
        try:
            done = act(values)
        except MemmanError as error:
            if script or request.as_json:
                return self._failed(request, error)
            self._notice = f'<div class="notice" role="alert"><p>{escape(str(error))}</p></div>'
        else:
            if script or request.as_json:
                return _json({"says": done.says, "undo": done.command})
            self._notice = notice(done, local(back))
        return Answer(HTTPStatus.SEE_OTHER, headers={"Location": local(back)})

    def _failed(self, request: Request, error: MemmanError) -> Answer:
        status = next(status for kind, status in _STATUS if isinstance(error, kind))
        if request.as_json:
            return _json({"error": str(error)}, status)
        return self._page(status, "That did not work", f"<p>{escape(str(error))}</p>", request.path)

    def _page(self, status: HTTPStatus, title: str, body: str, path: str) -> Answer:
        """Make a document of a page: each form that changes something gets the session's own token."""
        hidden = f'<input type="hidden" name="csrf" value="{self._csrf}">'
        document = self.site.whole(title, body, path)
        style = _STYLE.search(document)
        document = _POSTING.sub(lambda form: form[0] + hidden, document)
        return Answer(status, document, "text/html", _policy(style=style[1] if style else ""))


def notice(done: Done, back: str) -> str:
    """Write what an action did, with what takes it back: a button, after which `back` is shown, and the command."""
    button = ""
    if done.undo:
        hidden = [
            f'<input type="hidden" name="{name}" value="{escape(value)}">'
            for name, value in (*done.values.items(), ("back", back))
        ]
        button = f'<form method="post" action="/act/{done.undo}">{"".join(hidden)}<button>Undo</button></form>'
    command = f"<p>To undo it: <code>{escape(done.command)}</code></p>" if done.command else ""
    return f'<div class="notice" role="status"><p>{escape(done.says)}</p>{command}{button}</div>'


def local(back: str) -> str:
    """Return where a form wants to go back to, or the start where that is no page of ours."""
    path, _, query = back.partition("?")
    plain = re.fullmatch(r"/(?:[a-z0-9_-]+(?:/[a-z0-9_-]+)*)?", path) and re.fullmatch(r"[!-~]*", query)
    return back if plain else "/"


def refuse_others(port: int, ours: int, users: Any = None) -> None:
    """Refuse a connection from `port` that another user of this machine made, where Linux tells whose it is."""
    allowed = {0, os.getuid()} if users is None else users
    near, far = (f"0100007F:{one:04X}" for one in (port, ours))
    with suppress(OSError), open("/proc/net/tcp", encoding="ascii") as table:
        for row in table:
            cells = row.split(None, 8)
            if cells[1:3] == [near, far] and int(cells[7]) not in allowed:
                raise Bad(HTTPStatus.FORBIDDEN, "this page is another user's")


def _same(said: str, meant: str) -> bool:
    return hmac.compare_digest(said.encode(), meant.encode())


def _json(data: Any, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    return Answer(status, data_text(data), "application/json", _policy())


def _policy(*, style: str = "", script: str = "") -> dict[str, str]:
    """Return what a document may load: nothing but the style and the script that it was made with, by their hash."""
    allowed = ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"]
    allowed += [f"style-src {_hash(style)}"] if style else []
    allowed += [f"script-src {_hash(script)}", "connect-src 'self'"] if script else []
    return {"Content-Security-Policy": "; ".join(allowed)}


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _send(connection: socket.socket, answer: Answer, *, short: bool) -> None:
    body = answer.body.encode(errors="replace")
    headers = {
        "Content-Type": f"{answer.kind}; charset=utf-8",
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "Connection": "close",
        # "no-referrer" would have a form say `Origin: null`.
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        **_policy(),
        **answer.headers,
    }
    if answer.status is HTTPStatus.NO_CONTENT:
        del headers["Content-Type"], headers["Content-Length"]
    lines = [
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}",
        *(f"{name}: {headers[name]}" for name in headers),
    ]
    connection.settimeout(SECONDS)
    connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + (b"" if short else body))
    # What is still coming is read away, or closing would cut off the answer.
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(1)
        for _ in range(64):
            if not connection.recv(65_536):
                break
