"""`self-update`: how memman came here and what updates it; the network only where it is asked for."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from memman import __version__
from memman.commands import help as helping
from memman.model.errors import BadReply, ProviderUnavailable

AUDITED = """
import sys
seen = []
sys.addaudithook(lambda event, _: seen.append(event) if event.startswith("socket.") else None)
from memman._entry import main
main()
sys.stderr.write(f"{seen} {'httpx' in sys.modules}")
"""


@pytest.fixture(name="index")
def _index(box, monkeypatch):  # noqa: ARG001 - a data folder of our own
    """Serve an index on loopback: what is put into the list is its next answer."""
    answers = []

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, body = answers.pop(0)
            self.send_response(code)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Index) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(helping, "INDEX", f"http://127.0.0.1:{server.server_port}/pypi/memman/json")
        yield answers
        server.shutdown()


def test_without_being_asked_it_opens_no_socket(box) -> None:
    """It names the version, what installed it and the command; it loads no client and opens no socket."""
    done = box.start(sys.executable, "-c", AUDITED, "self-update")
    out, seen = done.communicate()

    assert out.startswith(f"memman {__version__}, installed by pip")
    assert "\nto update: " in out
    assert seen == "[] False"
    assert box.memman("self-update", "--json").stdout.count('"newest": null') == 1


@pytest.mark.parametrize(
    ("newest", "newer"), [("99.0", True), (__version__, False), ("0.1.9", False), ("0.10.0", True)]
)
def test_the_index_says_which_is_the_newest(index, newest: str, newer: bool) -> None:
    """With --check its version is compared by numbers."""
    index.append((200, {"info": {"version": newest}}))
    record = helping.self_update(check=True)

    assert (record["newest"], record["newer"], record["version"]) == (newest, newer, __version__)


@pytest.mark.parametrize("body", [{}, {"info": []}, {"info": {"version": 3}}, {"info": {"version": "latest"}}])
def test_an_answer_that_names_no_version_is_an_error(index, body: dict) -> None:
    """Whatever the index answers, one line says what is wrong."""
    index.append((200, body))
    with pytest.raises(BadReply, match="names no version"):
        helping.self_update(check=True)


def test_an_index_that_does_not_answer_is_an_error(index) -> None:
    """So is an index that has no memman, and none at all."""
    index.append((404, {}))
    with pytest.raises(ProviderUnavailable, match="does not say which version is the newest"):
        helping.self_update(check=True)


@pytest.mark.parametrize(
    ("place", "mark", "by", "update"),
    [
        ("pipx/venvs/memman", "pipx_metadata.json", "pipx", "pipx upgrade memman"),
        ("uv/tools/memman", "uv-receipt.toml", "uv tool", "uv tool upgrade memman"),
        (".cache/uv/x", "", "nothing: it runs from a cache", "uvx memman@latest install"),
        ("memman/program/x", "", "memman install, as a copy", "uvx memman@latest install"),
        ("venv", "", "pip", "-m pip install --upgrade memman"),
    ],
)
def test_each_installer_is_known(box, tmp_path, monkeypatch, place: str, mark: str, by: str, update: str) -> None:
    """By what it leaves in the environment, or where that is."""
    prefix = tmp_path / place
    prefix.mkdir(parents=True)
    if mark:
        (prefix / mark).touch()
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(helping, "_checkout", lambda: "")
    told, command = helping.installed(str(box.data))

    assert told.startswith(by)
    assert command.endswith(update)
