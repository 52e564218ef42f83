"""The page over real HTTP on loopback: what it shows to whom, and what it refuses."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from html import escape
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest

from memman.model.errors import UnknownId, UsageError
from memman.page import request, server
from memman.page.parts import Done, View
from memman.page.server import Server, Site

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</p></style><style>*{display:none}</style>",
    "javascript:alert(1)",
    '<form method="post" action="//evil.example">',
    "\u202e\x00\ufffe'\"&<",
)


@dataclass
class Client:
    """A browser that opened the link, or none."""

    server: Server
    cookie: str = ""

    def ask(self, method: str, path: str, body: str = "", **headers: str):
        """Send a request; headers are as the page itself would send them, unless given (None leaves one out)."""
        given = {"Host": f"127.0.0.1:{self.server.port}", "Cookie": self.cookie or None}
        if method == "POST":
            given |= {"Origin": self.server.address, "Sec-Fetch-Site": "same-origin"}
            given |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body))}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        line = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value is not None)
        return self.raw(f"{method} {path} HTTP/1.1\r\n{line}\r\n{body}".encode())

    def raw(self, sent: bytes):
        """Send bytes; return the answer's status, headers and text."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as wire:
            wire.sendall(sent)
            answer = http.client.HTTPResponse(wire)
            answer.begin()
            text = b"" if sent.startswith(b"HEAD ") else answer.read()
            return SimpleNamespace(status=answer.status, headers=answer.headers, text=text.decode())

    def post(self, path: str, /, **form: str):
        """Send a form of the page."""
        return self.ask("POST", path, urlencode(form))

    def enter(self) -> "Client":
        """Open the link."""
        answer = self.post("/start", token=self.server.token)
        assert answer.status == 204
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        return self

    def csrf(self) -> str:
        """Return what a form of the page carries."""
        return re.search(r'name="csrf" value="([^"]+)"', self.ask("GET", "/").text)[1]


@pytest.fixture(name="done")
def _done():
    return []


@pytest.fixture(name="running")
def _running(done, monkeypatch):
    """Serve a site of two pages and two actions."""

    def start(_values):
        form = '<form method="post" action="/act/keep"><button>Keep</button></form>'
        return View("Start", f"<p>secret</p>{form}<form method='get'></form>", {"secret": 1})

    def told(values):
        if "missing" in values:
            raise UnknownId("there is no such <memory>")
        if "broken" in values:
            raise ZeroDivisionError
        return View("Told", f"<p>{escape(values['q'])}</p>", values)

    def keep(values):
        if values.get("id") == "bad":
            raise UsageError("that <id> is bad")
        done.append(values)
        return Done("kept <it>", "keep", {"id": "<a1>"}, "memman undo a1b2")

    def whole(title, body, _path):
        return f"<!doctype html><title>{title}</title><style>p{{color:red}}</style>{body}"

    monkeypatch.setattr(server, "_TICK", 0.01)
    site = Site({"/": start, "/told": told}, {"keep": keep}, {"remember": keep}, whole)
    page = Server(site, idle=600)
    thread = threading.Thread(target=page.run)
    thread.start()
    yield page
    page.stop()
    thread.join()


@pytest.fixture(name="stranger")
def _stranger(running):
    return Client(running)


@pytest.fixture(name="owner")
def _owner(running):
    return Client(running).enter()


def test_the_link_opens_the_page_once(running, stranger):
    """The link opens the page once."""
    token = running.token
    door = stranger.ask("GET", "/")
    assert door.status == 200
    assert "secret" not in door.text
    answer = stranger.post("/start", token=token)
    assert answer.status == 204
    assert re.fullmatch(
        rf"memman-{running.port}=[\w-]{{43}}; Path=/; HttpOnly; SameSite=Strict", answer.headers["Set-Cookie"]
    )
    for tried in (token, "", "x", "\u00e4"):
        again = stranger.post("/start", token=tried)
        assert (again.status, again.headers["Set-Cookie"]) == (403, None)
    stranger.cookie = "other=1; " + answer.headers["Set-Cookie"].partition(";")[0]
    assert "secret" in stranger.ask("GET", "/").text


@pytest.mark.parametrize("path", ["/told?q=x", "/.json", "/told.json?q=1", "/act/keep", "/nowhere", "/start"])
def test_nothing_but_the_door_is_served_without_the_cookie(running, stranger, path):
    """Nothing but the door is served without the cookie."""
    for cookie in (None, "x=1", f"memman-{running.port}=", f"memman-{running.port}=wrong", "memman-1=\u00e4"):
        answer = stranger.raw(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n".encode()
            + (f"Cookie: {cookie}\r\n".encode() if cookie else b"")
            + b"\r\n"
        )
        assert answer.status in {400, 401, 404}
        assert "secret" not in answer.text
        assert answer.text.count("\n") == 1


def test_what_another_site_opens_is_served_without_the_cookie(owner):
    """What another site opens is served without the cookie."""
    for site in ("cross-site", "same-site", "unheard-of"):
        assert "secret" not in owner.ask("GET", "/", Sec_Fetch_Site=site).text
        assert owner.ask("GET", "/told.json?q=1", Sec_Fetch_Site=site).status == 401
    assert "secret" in owner.ask("GET", "/", Sec_Fetch_Site="none").text


HOSTS = """evil.example 127.0.0.1 127.0.0.1:80 localhost [::1]:{port} 127.0.0.1.nip.io:{port} localhost.:{port}
    0.0.0.0:{port} 127.1:{port} a@127.0.0.1:{port}"""


@pytest.mark.parametrize("host", HOSTS.split())
def test_another_host_is_refused_whatever_the_path(owner, host):
    """Another host is refused whatever the path."""
    for method, path in (("GET", "/"), ("GET", "//told"), ("POST", "/start"), ("HEAD", "/%2e")):
        assert owner.ask(method, path, Host=host.format(port=owner.server.port)).status == 421


def test_localhost_is_the_same_host(owner):
    """Localhost is the same host."""
    assert "secret" in owner.ask("GET", "/", Host=f"LocalHost:{owner.server.port}").text


PATHS = """//told /told/ /./told /../told /told/.. /%74old /told%2ejson /%2e%2e/told
    /told;x /TOLD /told\\x /told%00 http://127.0.0.1/told * /told.json.json /told.html /told#x"""


@pytest.mark.parametrize("path", PATHS.split())
def test_a_path_that_is_written_otherwise_is_no_page(owner, path):
    """A path that is written otherwise is no page."""
    answer = owner.ask("GET", path)
    assert (answer.status, answer.text.count("\n")) == (404, 1)


def test_a_change_comes_from_the_page_itself(owner, done):
    """A change comes from the page itself."""
    csrf, ours = owner.csrf(), owner.server.address
    body = urlencode({"csrf": csrf, "id": "1"})
    for origin in (
        None,
        "null",
        "http://evil.example",
        f"{ours}.evil.example",
        ours.replace("http", "https"),
        ours[:-1],
    ):
        assert owner.ask("POST", "/act/keep", body, Origin=origin).status == 403
    for site in (None, "none", "cross-site", "same-site"):
        assert owner.ask("POST", "/act/keep", body, Sec_Fetch_Site=site).status == 403
    for wrong in ({}, {"csrf": ""}, {"csrf": "x"}, {"csrf": csrf + "x"}):
        assert owner.post("/act/keep", id="1", **wrong).status == 403
    assert Client(owner.server).ask("POST", "/act/keep", body).status == 401
    assert owner.ask("GET", f"/act/keep?{body}").status == 404
    assert done == []
    answer = owner.post("/act/keep", csrf=csrf, id="1", back="/told?q=1")
    assert (answer.status, answer.headers["Location"], done) == (303, "/told?q=1", [{"id": "1"}])
    assert owner.post("/act/nothing", csrf=csrf).status == 404


def test_a_notice_names_the_undo_once(owner):
    """A notice names the undo once."""
    owner.post("/act/keep", csrf=owner.csrf())
    shown = owner.ask("GET", "/").text
    assert "kept &lt;it&gt;" in shown
    assert "memman undo a1b2" in shown
    assert shown.count('name="csrf"') == 2
    assert "kept" not in owner.ask("GET", "/").text
    owner.post("/act/keep", csrf=owner.csrf(), id="bad")
    assert 'role="alert"><p>that &lt;id&gt; is bad' in owner.ask("GET", "/").text


@pytest.mark.parametrize(
    "back",
    ["//evil.example", "http://evil.example", "/\\evil.example", "/told\r\nSet-Cookie: a=b", "", "/told?q=\u00e4"],
)
def test_nobody_is_sent_elsewhere(owner, back):
    """Nobody is sent elsewhere."""
    assert owner.post("/act/keep", csrf=owner.csrf(), back=back).headers["Location"] == "/"


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_markup_or_a_header(owner, text):
    """No text becomes markup or a header."""
    answer = owner.ask("GET", f"/told?{urlencode({'q': text})}")
    assert answer.status == 200
    assert text not in answer.text or not set(text) & set("<>\"'")
    assert json.loads(owner.ask("GET", f"/told.json?{urlencode({'q': text})}").text) == {"q": text}
    policy = answer.headers["Content-Security-Policy"]
    assert re.fullmatch(
        r"default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; style-src 'sha256-[\w+/=]+'",
        policy,
    )
    assert owner.ask("GET", f"/told?missing={urlencode({'': text})[1:]}").status == 404


def test_json_says_no_secret_and_hides_nothing(owner):
    """As with --json: what the rules know is redacted, and what a reader would not see is written out."""
    told = owner.ask(
        "GET", f"/told.json?{urlencode({'q': 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' + chr(0x202E)})}"
    ).text
    assert "redacted" in told
    assert "\\u202e" in told


def test_every_answer_is_kept_from_caches_frames_and_guesses(owner, stranger):
    """Every answer is kept from caches frames and guesses."""
    answers = [stranger.ask("GET", path) for path in ("/", "/x")]
    for answer in (*answers, *(owner.ask("GET", path) for path in ("/", "/.json"))):
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Access-Control-Allow-Origin"] is None


def test_an_error_is_a_line_and_no_traceback(owner):
    """An error is a line and no traceback."""
    assert "there is no such &lt;memory&gt;" in owner.ask("GET", "/told?missing=1").text
    answer = owner.ask("GET", "/told.json?missing=1")
    assert (answer.status, json.loads(answer.text)) == (404, {"error": "there is no such <memory>"})
    broken = owner.ask("GET", "/told?broken=1")
    assert (broken.status, broken.text) == (500, "memman failed here: ZeroDivisionError\n")


def test_a_script_reads_all_and_may_remember(running, stranger, done):
    """A script reads all and may remember."""
    said = {"Authorization": f"Bearer {running.scripts}"}
    bare = said | {"Origin": None, "Sec_Fetch_Site": None}
    assert json.loads(stranger.ask("GET", "/.json", **said).text) == {"secret": 1}
    answer = stranger.ask("POST", "/act/remember.json", "text=Tea", **bare)
    assert (answer.status, json.loads(answer.text)["undo"], done) == (200, "memman undo a1b2", [{"text": "Tea"}])
    assert stranger.ask("POST", "/act/keep.json", "id=1", **bare).status == 404
    for wrong in (f"Bearer {running.token}", "Bearer ", "Basic eDp4", running.scripts):
        assert stranger.ask("GET", "/.json", Authorization=wrong).status == 401


BROKEN = {
    b"\r\n\r\n": 400,
    b"GET / HTTP/2.0\r\n\r\n": 400,
    b"GET /\r\n\r\n": 400,
    b"\x16\x03\x01\x02\x00\x01\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\n%H\r\n%H\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\n%H\r\n folded: x\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\n%H\r\nA : x\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\n%H\nB: x\r\n\r\n": 400,
    b"PUT / HTTP/1.1\r\n%H\r\n\r\n": 405,
    b"OPTIONS / HTTP/1.1\r\n%H\r\n\r\n": 405,
    b"POST /start HTTP/1.1\r\n%H\r\n\r\n": 411,
    b"POST /start HTTP/1.1\r\n%H\r\nContent-Length: -1\r\n\r\n": 411,
    b"POST /start HTTP/1.1\r\n%H\r\nContent-Length: 99999999\r\n\r\n": 413,
    b"POST /start HTTP/1.1\r\n%H\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n": 501,
    b"POST /start HTTP/1.1\r\n%H\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\n{}": 415,
    b"POST /start HTTP/1.1\r\n%H\r\nContent-Length: 1\r\n%F\r\n\r\na=1": 400,
    b"POST /start HTTP/1.1\r\n%H\r\nContent-Length: 7\r\n%F\r\n\r\na=1&a=2": 400,
    b"POST /start HTTP/1.1\r\n%H\r\nContent-Length: 5\r\n%F\r\n\r\na=%ff": 400,
    b"GET / HTTP/1.1\r\n%H\r\nX: " + b"x" * request.HEAD + b"\r\n\r\n": 431,
    b"x" * (2 * request.HEAD): 431,
}


@pytest.mark.parametrize(("sent", "status"), BROKEN.items(), ids=range(len(BROKEN)))
def test_a_broken_request_gets_its_status_and_a_line(running, stranger, sent, status):
    """A broken request gets its status and a line."""
    host, form = b"Host: 127.0.0.1:%d" % running.port, b"Content-Type: application/x-www-form-urlencoded"
    answer = stranger.raw(sent.replace(b"%H", host).replace(b"%F", form))
    assert (answer.status, answer.text.count("\n")) == (status, 1)


def test_a_slow_client_is_cut_off_and_keeps_nobody_waiting(owner, monkeypatch):
    """A slow client is cut off and keeps nobody waiting."""
    monkeypatch.setattr(request, "SECONDS", 0.3)
    with socket.create_connection(("127.0.0.1", owner.server.port), timeout=30) as slow:
        slow.sendall(b"GET / HT")
        assert "secret" in owner.ask("GET", "/").text
        assert slow.recv(100).startswith(b"HTTP/1.1 408 ")


def test_more_connections_than_there_is_room_for_are_turned_away(owner):
    """More connections than there is room for are turned away."""
    address = ("127.0.0.1", owner.server.port)
    held = [socket.create_connection(address, timeout=30) for _ in range(server.AT_ONCE)]
    with socket.create_connection(address, timeout=30) as more:
        assert more.recv(100) == b""
    for one in held:
        one.close()
    while True:  # until the threads have noticed
        try:
            assert "secret" in owner.ask("GET", "/").text
            break
        except (http.client.HTTPException, ConnectionError):
            continue


def test_head_is_the_same_without_the_page(owner):
    """Head is the same without the page."""
    answer = owner.ask("HEAD", "/")
    assert answer.status == 200
    assert int(answer.headers["Content-Length"]) > 100


def test_only_its_user_and_root_reach_it():
    """Only its user and root reach it."""
    if not os.path.exists("/proc/net/tcp"):
        return
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", ours)) as near:
            server.refuse_others(near.getsockname()[1], ours)
            with pytest.raises(request.Bad, match="another user"):
                server.refuse_others(near.getsockname()[1], ours, {os.getuid() + 1})


def test_another_user_of_the_machine_sees_nothing_even_with_the_token(running):
    """Another user sees nothing. Root tries it as nobody; anyone else has no second user to be."""
    if os.getuid() or not shutil.which("setpriv"):
        return
    code = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); print(s.recv(99))"
    command = ["setpriv", "--reuid", "65534", "--clear-groups", "/usr/bin/python3", "-c", code, str(running.port)]
    if not os.access("/usr/bin/python3", os.X_OK):
        command[4] = sys.executable
    shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert "HTTP/1.1 403" in shown.stdout, shown.stderr


def test_it_ends_when_it_is_idle(running):
    """It ends when it is idle."""
    running._ends = 0
    with pytest.raises((OSError, http.client.HTTPException)):
        keep_asking(Client(running))


def test_strangers_do_not_keep_it_up(owner, stranger):
    """Only who may see it keeps it up."""
    stranger.server._ends = before = 2 * server.monotonic()
    stranger.ask("GET", "/")
    stranger.ask("GET", "/told.json")
    assert stranger.server._ends == before
    owner.ask("GET", "/")
    assert stranger.server._ends != before


def keep_asking(client: Client) -> None:
    """Ask until nobody answers."""
    while True:
        client.ask("GET", "/")
