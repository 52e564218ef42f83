import asyncio
import contextlib
import gzip
import json
import socket
import subprocess
import sys
import threading
import time
import tracemalloc

import pytest

from memman.http import Http, Pace, Policy, Rejected
from memman.model.errors import BadReply, ProviderMisconfigured, ProviderUnavailable
from tests.support.box import PATIENCE
from tests.support.providers import (
    DROP,
    GARBAGE_BODY,
    NEVER,
    OK,
    TRUNCATED_BODY,
    Act,
    ScriptedProvider,
    embedding,
    hang,
    redirect,
    status,
)

KEY = "sk-secret-0123456789"
FAST = Policy(timeout=PATIENCE, backoff=0.001, longest_pause=2.0)
BODY = {"model": "m", "input": ["private words of a note"]}


def post(url, policy=FAST, path="/v1/embeddings", headers=None, times=1):
    """Post BODY `times` times through one client, closing it afterwards; give the last reply."""

    async def run():
        http = Http(policy)
        try:
            for _ in range(times):
                reply = await http.post(url + path, headers or {"authorization": f"Bearer {KEY}"}, BODY)
            return reply
        finally:
            await http.close()

    return asyncio.run(run())


def elsewhere(provider):
    """Give the address of a provider as one that is not of the local network."""
    return provider.url.replace("127.0.0.1", "0.0.0.0")  # noqa: S104 - it is only called


def failure(error, *acts, policy=FAST):
    """Post against a scripted provider, expecting `error`; give its text and how often it was called."""
    with ScriptedProvider(script=acts) as provider:
        with pytest.raises(error) as caught:
            post(provider.url, policy)
        return str(caught.value), provider.calls.total()


def test_a_good_reply_is_given_as_an_object():
    """A JSON object comes back as it was sent, and the request carries headers and body unchanged."""
    with ScriptedProvider() as provider:
        reply = post(provider.url)
    assert reply["object"] == "list"
    assert provider.received[0].body == BODY
    assert provider.received[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("code", [408, 409, 425, 429, 500, 502, 503, 529])
def test_a_passing_status_is_tried_again(code):
    """A status that can pass is met with another try, which may succeed."""
    with ScriptedProvider(script=[status(code), status(code)]) as provider:
        assert post(provider.url)["object"] == "list"
    assert provider.calls.total() == 3


@pytest.mark.parametrize("act", [status(503), status(429), DROP], ids=["503", "429", "drop"])
def test_lasting_trouble_is_unavailable_after_all_tries(act):
    """Trouble that lasts through every try ends as ProviderUnavailable."""
    text, calls = failure(ProviderUnavailable, *[act] * 3)
    assert calls == 3
    assert "/v1/embeddings" in text


def test_a_dropped_connection_is_tried_again():
    """A connection closed without an answer is opened anew."""
    with ScriptedProvider(script=[OK, DROP, OK]) as provider:
        assert post(provider.url, times=2)["object"] == "list"
    assert provider.calls.total() == 3


def test_a_hanging_server_is_left():
    """A try ends after the policy's timeout, and the next one may succeed."""
    policy = Policy(timeout=1.0, backoff=0.001)
    with ScriptedProvider(script=[hang(NEVER)]) as provider:
        assert post(elsewhere(provider), policy)["object"] == "list"
    with (
        ScriptedProvider(script=[hang(NEVER)] * 2) as provider,
        pytest.raises(ProviderUnavailable, match=r"did not answer within 0\.5 s"),
    ):
        post(elsewhere(provider), Policy(timeout=0.5, tries=2, backoff=0))
    assert provider.calls.total() == 2


def test_what_timed_out_on_this_machine_is_not_tried_again():
    """A local server that did not answer in time is busy: another try would only lengthen its queue."""
    text, calls = failure(ProviderUnavailable, hang(NEVER), policy=Policy(timeout=0.5, tries=3, backoff=0))
    assert calls == 1
    assert "did not answer within 0.5 s" in text


def together(url, calls, policy=FAST):
    """Post `calls` times at once through one client; give how many came to nothing."""

    async def run():
        http = Http(policy)
        posts = (http.post(url + "/v1/embeddings", {}, BODY) for _ in range(calls))
        done = await asyncio.gather(*posts, return_exceptions=True)
        await http.close()
        return sum(isinstance(one, ProviderUnavailable) for one in done)

    return asyncio.run(run())


def test_a_server_on_this_machine_is_sent_one_call_first_and_more_as_it_answers():
    """Where calls are answered in good time, more of them go along, without end."""
    seen = []
    with ScriptedProvider(script=lambda _: seen.append(provider.now) or OK, latency=0.1) as provider:
        assert together(provider.url, 60) == 0
    assert seen[0] == 0
    assert max(seen[:4]) <= 3
    assert provider.most > 8


def test_a_server_elsewhere_is_sent_all_calls_at_once_until_it_has_too_many():
    """A 429 halves the calls in flight, once for those that were in flight together."""
    with ScriptedProvider(latency=0.5) as provider:
        assert together(elsewhere(provider), 16) == 0
        assert provider.most == 16
    seen = []
    acts = lambda _: seen.append(provider.now) or (status(429) if len(seen) <= 16 else OK)  # noqa: E731
    with ScriptedProvider(script=acts, latency=0.5) as provider:
        assert together(elsewhere(provider), 16) == 0
    assert (max(seen[:16]), max(seen[16:24])) == (15, 7)


def test_a_call_that_is_given_up_while_it_waits_its_turn_takes_nobody_elses():
    """Calls that are cancelled before they were sent, or as they are let in, leave room for those behind them."""

    async def run():
        pace = Pace(1)
        await pace.enter()
        calls = [asyncio.create_task(pace.enter()) for _ in range(4)]
        await asyncio.sleep(0)
        calls[0].cancel()
        pace.leave()  # lets calls[1] in
        calls[1].cancel()
        await asyncio.gather(*calls[:2], return_exceptions=True)
        await calls[2]
        assert (pace.flying, calls[3].done()) == (1, False)
        pace.leave()
        await calls[3]
        pace.leave()
        assert pace.flying == 0

    asyncio.run(run())


def test_a_trickling_body_is_left():
    """The timeout covers the whole reply, not only its first byte."""

    async def run():
        async def trickle(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                while True:
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.01)
            writer.close()

        server = await asyncio.start_server(trickle, "127.0.0.1", 0)
        http = Http(Policy(timeout=0.1, tries=1))
        url = "http://127.0.0.1:{1}/".format(*server.sockets[0].getsockname())
        try:
            with pytest.raises(ProviderUnavailable):
                await http.post(url, {}, BODY)
        finally:
            await http.close()
            server.close()
            await asyncio.sleep(0.05)

    asyncio.run(run())


def test_nobody_listening_is_unavailable():
    """A refused connection is ProviderUnavailable."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(ProviderUnavailable, match="cannot be reached"):
            post(f"http://127.0.0.1:{port}")


def test_retry_after_in_seconds_is_honoured():
    """The next try waits at least as long as Retry-After asks."""
    with ScriptedProvider(script=[status(429, retry_after=0.3)]) as provider:
        started = time.monotonic()
        post(provider.url)
    assert time.monotonic() - started >= 0.3


def test_too_long_a_retry_after_gives_up_at_once():
    """A server that asks for more than the longest pause is not waited for."""
    assert failure(ProviderUnavailable, status(429, retry_after=3600))[1] == 1


@pytest.mark.parametrize("value", ["soon", "-5", "nan", "inf", "", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_senseless_retry_after_is_ignored(value):
    """A Retry-After that says nothing sensible, or a date, falls back to the backoff."""
    with ScriptedProvider(script=[status(503, retry_after=value)]) as provider:
        assert post(provider.url)["object"] == "list"


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404, 405, 413, 422])
def test_a_rejection_is_misconfigured_and_not_repeated(code):
    """A rejected request is ProviderMisconfigured at once, naming endpoint, status and what to check."""
    body = json.dumps({"error": {"code": KEY, "message": f"{KEY} {BODY}"}}).encode()
    text, calls = failure(ProviderMisconfigured, status(code, body=body))
    assert calls == 1
    assert f"/v1/embeddings answered {code}: check " in text
    assert KEY not in text
    assert "private" not in text
    assert "\n" not in text


def test_a_rejection_carries_the_providers_words_for_deciding():
    """Rejected has the status and the provider's own words, cut short, in lower case."""
    with (
        ScriptedProvider(script=[status(400, body=b"Unsupported: TEMPERATURE" + b"x" * 9000)]) as provider,
        pytest.raises(Rejected) as caught,
    ):
        post(provider.url)
    assert caught.value.status == 400
    assert "unsupported: temperature" in caught.value.detail
    assert len(caught.value.detail) == 2000


def test_a_redirect_is_misconfigured_and_not_followed():
    """A redirect is never followed: keys go only where they were meant to."""
    with ScriptedProvider() as other:
        text, calls = failure(ProviderMisconfigured, redirect(other.url + "/v1/embeddings"))
    assert calls == 1
    assert "redirects" in text
    assert not other.calls


@pytest.mark.parametrize(
    "act",
    [
        GARBAGE_BODY,
        TRUNCATED_BODY,
        Act(body=b"[1]"),
        Act(body=b"[" * 100_000),
        Act(body=b""),
        Act(body=b"\xff"),
    ],
    ids=["html", "cut", "array", "deep", "empty", "bytes"],
)
def test_a_reply_that_is_no_object_is_bad(act):
    """A body that is cut, not JSON or not an object is a BadReply."""
    assert failure(BadReply, act)[1] == 1


def bomb(times):
    """Return 64 MB of blanks in few bytes: packed so many times."""
    packed = b" " * 2**26
    for _ in range(times):
        packed = gzip.compress(packed)
    return packed


def test_a_packed_reply_is_unpacked():
    """A reply in gzip, the only encoding that is asked for, is the object in it."""
    act = Act(headers={"content-encoding": "gzip"}, body=gzip.compress(b'{"object": "list"}'))
    with ScriptedProvider(script=[act]) as provider:
        assert post(provider.url) == {"object": "list"}
    assert provider.received[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "gzip, identity", "deflate", "zstd"])
def test_a_reply_that_unpacks_to_too_much_is_bad_and_takes_no_memory(encoding):
    """However often and in whatever a reply is packed, no more than the limit is unpacked."""
    act = Act(headers={"content-encoding": encoding}, body=bomb(1 + encoding.count(", gzip")))
    tracemalloc.start()
    try:
        failure(BadReply, act, policy=Policy(reply_bytes=100_000))
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()


def test_a_broken_encoding_is_bad():
    """A body that is not in the encoding it claims is a BadReply."""
    assert failure(BadReply, Act(headers={"content-encoding": "gzip"}, body=b"not gzip"))[1] == 1


def test_too_long_a_reply_is_bad():
    """A reply past the size limit is not read to its end."""
    text, _ = failure(BadReply, Act(body=b" " * 5000), policy=Policy(reply_bytes=1000))
    assert "more than 1000 bytes" in text


def test_an_error_inside_a_good_status_counts():
    """An error object inside a 200 is treated by the code it carries."""
    act = Act(body=b'{"error": {"code": 429, "message": "slow down"}}')
    with ScriptedProvider(script=[act]) as provider:
        assert post(provider.url)["object"] == "list"
    assert provider.calls.total() == 2


@pytest.mark.parametrize(
    "url", ["", "ftp://x/", "http://", "http://me:secret@127.0.0.1/", "http://h:port/", "host/path"]
)
def test_an_address_that_is_none_is_misconfigured(url):
    """An endpoint that is no plain http address is reported before anything is sent."""
    with pytest.raises(ProviderMisconfigured) as caught:
        post(url, path="")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-secret\n", "sk-sécret", "sk-\x00secret"])
def test_a_key_no_header_can_carry_is_misconfigured(key):
    """A key with a line break or other odd characters is reported without being shown."""
    with pytest.raises(ProviderMisconfigured) as caught:
        post("http://127.0.0.1:9", headers={"authorization": key})
    assert "cret" not in str(caught.value)


def test_a_query_is_not_shown():
    """What follows the path of an endpoint may be a key, so errors leave it out."""
    with ScriptedProvider(script=[status(401)]) as provider, pytest.raises(ProviderMisconfigured) as caught:
        post(provider.url, path=f"/v1/embeddings?key={KEY}")
    assert KEY not in str(caught.value)


def test_a_lone_surrogate_is_replaced():
    """Text no JSON can carry is sent with the odd character replaced."""

    async def run(url):
        http = Http(FAST)
        await http.post(url, {}, {"model": "m", "input": "a\udc80b"})
        await http.close()

    with ScriptedProvider() as provider:
        asyncio.run(run(provider.url + "/v1/embeddings"))
    assert provider.received[0].body["input"] == "a?b"


def test_connections_are_reused_and_bounded():
    """Calls in a row share one connection, and no more are open than the policy allows."""
    ports = set()

    async def run(serve):
        http = Http(Policy(connections=3))
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = "http://127.0.0.1:{1}/".format(*server.sockets[0].getsockname())
        for _ in range(5):
            await http.post(url, {}, {})
        alone = len(ports)
        await asyncio.gather(*[http.post(url, {}, {}) for _ in range(20)])
        await http.close()
        server.close()
        await asyncio.sleep(0.02)
        return alone

    async def serve(reader, writer):
        ports.add(writer.get_extra_info("peername")[1])
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r\n\r\n{}")
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        writer.close()

    assert asyncio.run(run(serve)) == 1
    assert len(ports) == 3


def test_what_is_not_encrypted_goes_past_every_proxy(monkeypatch):
    """A server of the local network is asked itself, whatever proxy the environment names."""
    with ScriptedProvider() as provider, ScriptedProvider() as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("no_proxy", "")
        post(provider.url)
        with pytest.raises(ProviderUnavailable):
            post("http://models.invalid")
    assert not proxy.calls


def test_a_proxy_learns_the_host_alone(monkeypatch):
    """What is encrypted goes through the proxy that the environment names, which sees neither key nor text."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.setenv("no_proxy", "")
        said = []

        def refuse():
            client, _ = proxy.accept()
            with client:
                said.append(client.recv(65_536).decode())
                client.sendall(b"HTTP/1.1 503 No\r\n\r\n")

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        with pytest.raises(ProviderUnavailable, match="cannot be reached"):
            post("https://models.invalid", Policy(timeout=5, tries=1))
        thread.join(20)
    assert said[0].startswith("CONNECT models.invalid:443 ")
    assert KEY not in said[0]
    assert "private" not in said[0]


def test_a_closed_client_opens_again():
    """Closing releases connections; a later call works, in another event loop too."""

    async def run(http, url):
        await http.post(url, {}, BODY)
        await http.close()
        await http.close()

    http = Http(FAST)
    with ScriptedProvider() as provider:
        asyncio.run(run(http, provider.url + "/v1/embeddings"))
        asyncio.run(run(http, provider.url + "/v1/embeddings"))
    assert provider.calls.total() == 2


def test_a_cancelled_call_leaves_the_client_usable():
    """Cancelling a call in flight frees its connection and harms no later call."""

    async def run(url):
        http = Http(Policy(connections=1))
        call = asyncio.create_task(http.post(url, {}, BODY))
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        reply = await http.post(url, {}, BODY)
        await http.close()
        return reply

    with ScriptedProvider(script=[hang(NEVER)]) as provider:
        assert asyncio.run(run(provider.url + "/v1/embeddings"))["object"] == "list"


def test_the_scripted_provider_runs_as_a_process(tmp_path):
    """From the command line it prints its address first, logs each request, and ends on SIGTERM."""
    log = tmp_path / "log"
    command = [sys.executable, "-m", "tests.support.providers", "--log", str(log), "--dimension", "8"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        assert post(url)["data"][0]["embedding"] == embedding(BODY["input"][0], 8)
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert json.loads(log.read_text())["path"] == "/v1/embeddings"
