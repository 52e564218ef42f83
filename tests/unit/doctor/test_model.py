"""What doctor says of providers: a free look, a question with leave, and what the last drain met."""

import contextlib
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import memman
from memman.model.errors import ProviderMisconfigured, ProviderUnavailable
from tests.support.providers import GARBAGE_BODY, ScriptedProvider, status
from tests.unit.doctor.looking import found


@contextlib.contextmanager
def listing(code, body=b'{"data": []}', answers=404, certificate=None):
    """Serve a list of models with one status, and answer every question with another; give address and requests."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status_, said):
            asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            self.send_response(status_)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def do_GET(self):
            self.answer(code, body)

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.answer(answers, b"{}")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http{'s' if certificate else ''}://localhost:{server.server_port}", asked
        server.shutdown()


@pytest.mark.parametrize(
    ("provider", "header"), [("openai", ("authorization", "Bearer k")), ("anthropic", ("x-api-key", "k"))]
)
def test_the_model_is_looked_at_for_free(box, provider, header):
    """One GET of the list of models with the key, and no question."""
    with listing(200) as (url, asked):
        box.configure(LLM_PROVIDER=provider, LLM_ENDPOINT=url + "/v1" * (provider == "openai"), LLM_API_KEY="k")
        assert [status_ for status_, _ in found(box, "model")] == ["ok"]
    ((place, headers),) = asked
    assert place == "/v1/models"
    assert headers[header[0]] == header[1]


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [(404, b"{}", "ok"), (200, b"<html>", "ok"), (401, b"{}", "fail"), (503, b"{}", "fail")],
)
def test_what_a_provider_answers_is_weighed(box, code, body, expected):
    """A server that answers is there, whatever it lists; a rejected key and an ailing server are failures."""
    with listing(code, body) as (url, _):
        box.configure(EMBED_PROVIDER="openai", EMBED_ENDPOINT=f"{url}/v1", EMBED_API_KEY="k")
        assert found(box, "model")[-1][0] == expected


@pytest.mark.parametrize(
    ("code", "ends", "mend"),
    [
        (404, ProviderMisconfigured.exit_code, "MEMMAN_LLM_PROVIDER builtin"),
        (401, ProviderMisconfigured.exit_code, "MEMMAN_LLM_API_KEY -"),
        (503, ProviderUnavailable.exit_code, "MEMMAN_LLM_PROVIDER builtin"),
    ],
)
def test_a_model_that_lists_itself_and_refuses_every_call_is_never_healthy(box, code, ends, mend):
    """A retired model, a revoked key, an outage: the drain ends with the error's code, and everybody says why."""
    with listing(200, answers=code) as (url, _):
        box.configure(LLM_PROVIDER="openai", LLM_ENDPOINT=f"{url}/v1", LLM_API_KEY="k", HTTP_TRIES=1)
        box.remember("The shop listens on port 9191.")
        assert box.memman("scheduler", "drain").returncode == ends
        record = json.loads(box.memman("doctor", "--json").stdout)
        seen = {one["check"]: one for one in record["findings"] if one["check"] in {"queue", "drains", "model"}}
        for verb in (("status",), ("scheduler", "status"), ("scheduler", "queue", "list")):
            assert f"answered {code}" in box.memman(*verb).stdout, verb
    assert record["healthy"] is False
    assert seen["model"]["status"] == "fail"
    assert f"answered {code}" in seen["model"]["says"]
    assert seen["model"]["mend"].endswith(mend)
    assert (seen["queue"]["status"], f"answered {code}" in seen["queue"]["hint"]) == ("warn", True)
    assert seen["drains"]["status"] == ("warn" if ends == ProviderUnavailable.exit_code else "fail")


@pytest.mark.parametrize(
    ("name", "flipped", "remote"),
    [
        ("embed/static.db", True, False),
        ("embed/static.db", False, True),
        ("judge/memory.safetensors", True, True),
        ("judge/judge.safetensors", False, True),
    ],
)
def test_a_changed_or_missing_file_of_judge_or_embedder_is_never_healthy(box, tmp_path, name, flipped, remote):
    """Memories are embedded with these files whichever model extracts, so they are looked at with a remote one too."""
    package = tmp_path / "package" / "memman"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(memman.__file__).parent, package, copy_function=os.symlink, ignore=ignored)
    content = bytearray((package / name).read_bytes())
    content[100_000] ^= 1
    (package / name).unlink()
    if flipped:
        (package / name).write_bytes(content)
    environ = box.environ | {"PYTHONPATH": str(package.parent)}
    with listing(200) as (url, _):
        if remote:
            box.configure(LLM_PROVIDER="openai", LLM_ENDPOINT=f"{url}/v1", LLM_API_KEY="k")
        words = [sys.executable, "-m", "memman", "doctor", "--json", "--check", "model"]
        done = subprocess.run(words, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    (finding,) = json.loads(done.stdout)["findings"]
    assert (done.returncode, finding["status"], f"package/memman/{name}" in finding["says"]) == (1, "fail", True)
    assert finding["mend"] == "pip install --force-reinstall memman"


def test_a_question_is_asked_only_with_leave(box):
    """--billable asks the model and the embedder once each, and sees what a look cannot."""
    with ScriptedProvider(respond=lambda _: {"yes": True}) as provider:
        box.use(provider)
        assert [status_ for status_, _ in found(box, "model", billable=True)] == ["ok", "ok"]
        assert provider.calls.total() == 2
    with ScriptedProvider(script=lambda _: status(404)) as provider:
        box.use(provider)
        assert found(box, "model", billable=True)[0][0] == "fail"
    with ScriptedProvider(script=lambda _: GARBAGE_BODY) as provider:
        box.use(provider)
        assert found(box, "model", billable=True)[0][0] == "warn"


def test_a_proxy_that_only_the_shell_knows_is_a_warning_and_install_takes_it_over(box):
    """Drains that a service manager starts have neither proxy nor certificates of the shell; a setting has both."""
    box.configure(LLM_PROVIDER="openai", LLM_ENDPOINT="https://127.0.0.1:9/v1", LLM_API_KEY="k")
    shell = {"https_proxy": "http://127.0.0.1:3128", "NODE_EXTRA_CA_CERTS": "/nowhere/ca.pem"}
    box.environ.update(shell)
    findings = json.loads(box.memman("doctor", "--json", "--check", "model").stdout)["findings"]
    warned = {one["says"].split()[0]: one["mend"] for one in findings if one["status"] == "warn"}
    assert warned.keys() == shell.keys()
    assert warned["https_proxy"].endswith('config set MEMMAN_HTTPS_PROXY "$https_proxy"')
    said = box.memman("install", "--no-wizard").stdout
    assert "https_proxy of this shell is taken" in said
    settings = (box.data / "env").read_text()
    assert "MEMMAN_HTTPS_PROXY=http://127.0.0.1:3128\n" in settings
    assert "MEMMAN_SSL_CERT_FILE=/nowhere/ca.pem\n" in settings
    again = json.loads(box.memman("doctor", "--json", "--check", "model").stdout)["findings"]
    assert not [one for one in again if one["status"] == "warn"]


@pytest.mark.skipif(not shutil.which("openssl"), reason="a certificate has to be made")
def test_a_drain_without_the_shell_trusts_the_certificates_of_the_settings(box, tmp_path):
    """A server that only a file of one's own vouches for is reached by a drain with a bare environment."""
    own = tmp_path / "own.pem"
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run([*made.split(), "-keyout", own, "-out", tmp_path / "leaf"], check=True, capture_output=True)
    own.write_text(own.read_text() + (tmp_path / "leaf").read_text())
    bare = {"HOME": box.environ["HOME"], "PATH": "/usr/bin:/bin", "MEMMAN_DATA_DIR": str(box.data)}

    def drain():
        box.queue("UPDATE note SET retry_at = 0")
        return subprocess.run([box.script, "scheduler", "drain"], env=bare, capture_output=True, text=True, check=False)

    with listing(200, answers=404, certificate=own) as (url, asked):
        box.configure(LLM_PROVIDER="openai", LLM_ENDPOINT=f"{url}/v1", LLM_API_KEY="k", HTTP_TRIES=1)
        box.remember("The shop listens on port 9191.")
        refused = drain()
        assert (refused.returncode, asked) == (ProviderUnavailable.exit_code, [])
        assert "CERTIFICATE_VERIFY_FAILED" in refused.stderr
        with (box.data / "env").open("a") as settings:
            settings.write(f"MEMMAN_SSL_CERT_FILE={own}\n")
        assert drain().returncode == ProviderMisconfigured.exit_code
        assert asked
        own.unlink()
        assert f"({own}) cannot be read" in drain().stderr
