"""What goes to a provider: to a server that proves who it is, over TLS or near, and into no log."""

import asyncio
import shutil
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memman import http
from memman.config.env import Settings, change
from memman.http import Http, Policy
from memman.model.errors import BadConfig, ProviderUnavailable
from tests.support.providers import ScriptedProvider

FAR = (
    "http://models.example/v1",
    "http://8.8.8.8/v1",
    "http://localhost.example/v1",
    "http://[2001:4860::8888]/v1",
    # 8.8.8.8 as other readers of addresses write it
    "http://134744072/v1",
    "http://0x08080808/v1",
    "http://010.8.8.8/v1",
    "http://8.8.2056/v1",
    "http://[::ffff:8.8.8.8]/v1",
    # where clouds tell a machine its keys
    "http://169.254.169.254/v1",
    "http://[fd00:ec2::254]/v1",
    "http://metadata.google.internal/v1",
    # addresses that are nobody's, or everybody's
    "http://0.0.0.0:1/v1",
    "http://198.18.0.1/v1",
    "http://240.0.0.1/v1",
    "http://[2001::1]/v1",
    # names that another reader takes for another name
    "http://models\uff0eexample/v1",
    "http://models\u3002example/v1",
    "http://models%2eexample/v1",
    "http://models.example\\.local/v1",
    "http://\u0661/v1",
    "http://-/v1",
)
NEAR = (
    "http://127.0.0.1:1/v1",
    "http://localhost/v1",
    "http://192.168.1.5:11434",
    "http://10.0.0.7/v1",
    "http://172.31.255.1/v1",
    "http://169.254.7.7/v1",
    "http://[fd12:3456::1]:8080/v1",
    "http://[fe80::1]/v1",
    "http://[::ffff:192.168.1.5]/v1",
    "http://gpu-box:8000",
    "http://models.localhost:1",
    "http://LOCALHOST:1",
    "http://ollama:11434",
    "http://nas.local",
    "http://[::1]/v1",
    "http://host.docker.internal:1",
)
WRONG = ("ftp://x", "https://", "https://a:b@c/", "https://x:port/", "http://[::1/", "x")


@pytest.mark.parametrize("family", ["LLM", "EMBED"])
def test_plain_text_stays_on_the_local_network(box, family):
    """A key and a note go over http:// only to this machine or one near; elsewhere it takes https://."""
    name = f"MEMMAN_{family}_ENDPOINT"
    for value in (*NEAR, "https://models.example/v1"):
        change(str(box.data), name, value)
        assert Settings.load(str(box.data))[name] == value
    for value in (*FAR, *WRONG):
        with pytest.raises(BadConfig, match=f"{name} takes"):
            change(str(box.data), name, value)
        box.configure(**{name.removeprefix("MEMMAN_"): value})
        with pytest.raises(BadConfig, match=f"{name} takes"):
            Settings.load(str(box.data))
        (box.data / "env").unlink()


class _Silent(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


@pytest.mark.skipif(not shutil.which("openssl"), reason="a certificate has to be made")
def test_a_server_that_does_not_prove_itself_gets_nothing(tmp_path, monkeypatch):
    """A certificate that no authority vouches for ends the call before the request; one of SSL_CERT_FILE does not."""
    key, certificate = f"{tmp_path}/key", f"{tmp_path}/certificate"
    subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
        f" -keyout {key} -out {certificate}".split(),
        check=True,
        capture_output=True,
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Silent)
    server.asked = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://localhost:{server.server_address[1]}/v1"

    async def call():
        client = Http(Policy(timeout=10, tries=1))
        try:
            return await client.post(url, {"authorization": "Bearer sk-secret"}, {"input": "private words"})
        finally:
            await client.close()

    try:
        http._tls.cache_clear()
        with pytest.raises(ProviderUnavailable, match=r"(?i)certificate"):
            asyncio.run(call())
        assert server.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
        http._tls.cache_clear()
        assert asyncio.run(call()) == {}
    finally:
        http._tls.cache_clear()
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("level", ["info", "debug"])
def test_no_request_is_logged(box, level):
    """After a drain with a provider no file holds a key, and no log a piece of what was asked; at info no text."""
    with ScriptedProvider() as provider:
        box.use(provider, LOG_LEVEL=level)
        box.remember("The billing service caches invoices in Redis at Wolfsburg.")
        done = box.memman("scheduler", "drain")
        assert done.returncode == 0
        asked = [str(got.body) for got in provider.received]
    assert asked
    logs = b"".join(path.read_bytes() for path in (box.data / "logs").rglob("*") if path.is_file())
    assert logs
    for part in (b"key-of-the-test", b"Bearer", b'"messages"', b"response_format", b"json_schema"):
        assert part not in logs
    assert (b"Wolfsburg" in logs) <= (level == "debug")
    kept = [path for path in box.data.rglob("*") if path.is_file() and path.name != "env"]
    assert [path for path in kept if b"key-of-the-test" in path.read_bytes()] == []
