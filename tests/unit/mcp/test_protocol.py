"""What requests of both eras are answered."""

import io
import json
import random

import pytest

from memman.mcp.protocol import INITIALIZED, LONGEST, STATELESS, Server, serve

META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS[0],
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "newer", "version": "1"},
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "older", "version": "1"}}


def request(method, params=None, number=1):
    """Write a request."""
    return {"jsonrpc": "2.0", "id": number, "method": method} | ({} if params is None else {"params": params})


@pytest.fixture
def server():
    """Give a server whose tools say what they were given."""
    return Server(lambda tool, given, client: (f"{tool} {dict(given)} for {client}", False))


def code(server, method, params=None):
    """Return the code of the error that a request is answered with."""
    return server.answer(request(method, params))["error"]["code"]


@pytest.mark.parametrize("version", INITIALIZED)
def test_initialize_speaks_each_older_revision(server, version):
    """What a client speaks is what it is answered with, and what it calls has no word of the newer revision."""
    said = server.answer(request("initialize", HELLO | {"protocolVersion": version}))["result"]
    assert said["protocolVersion"] == version
    assert said["instructions"]
    assert server.answer({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    assert server.answer(request("ping"))["result"] == {}
    assert set(server.answer(request("tools/list"))["result"]) == {"tools"}
    called = server.answer(request("tools/call", {"name": "status"}))["result"]
    assert called == {"content": [{"type": "text", "text": "status {} for older"}], "isError": False}


def test_initialize_offers_its_last_revision_for_one_it_does_not_know(server):
    """A revision nobody knows is answered with the last that begins so."""
    assert (
        server.answer(request("initialize", HELLO | {"protocolVersion": "1999"}))["result"]["protocolVersion"]
        == (INITIALIZED[-1])
    )


@pytest.mark.parametrize("before", [(), (request("initialize", HELLO),)])
def test_a_request_of_the_newer_revision_stands_alone(server, before):
    """It is served with or without an `initialize`, and says what may be kept for how long."""
    for one in before:
        server.answer(one)
    said = server.answer(request("server/discover", {"_meta": META}))["result"]
    assert said["supportedVersions"] == [*STATELESS]
    assert said["resultType"] == "complete"
    listed = server.answer(request("tools/list", {"_meta": META}))["result"]
    assert (listed["cacheScope"], listed["ttlMs"] > 0, listed["resultType"]) == ("private", True, "complete")
    called = server.answer(request("tools/call", {"_meta": META, "name": "status"}))["result"]
    assert called["content"][0]["text"] == "status {} for newer"
    assert "ttlMs" not in called
    assert called["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "memman"


def test_what_is_wrong_has_its_code(server):
    """Each mistake of a client has the code that the revision names."""
    assert code(server, "server/discover") == -32602
    assert code(server, "tools/list") == -32602
    assert code(server, "tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": STATELESS[0]}}) == -32602
    other = META | {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    assert server.answer(request("tools/list", {"_meta": other}))["error"] == {
        "code": -32022,
        "message": "unsupported protocol version",
        "data": {"supported": [*STATELESS], "requested": "2031-01-01"},
    }
    assert code(server, "ping", {"_meta": META}) == -32601
    assert code(server, "resources/list", {"_meta": META}) == -32601
    assert code(server, "tools/call", {"_meta": META, "name": "purge"}) == -32602
    assert code(server, "tools/call", {"_meta": META, "name": "recall", "arguments": []}) == -32602
    assert code(server, "initialize", {}) == -32602
    for frame in (
        1,
        "x",
        None,
        {},
        {"jsonrpc": "2.0", "id": 1},
        request("ping", number=None),
        request("ping", number=1.5),
    ):
        assert server.answer(frame)["error"]["code"] == -32600
    assert server.answer({"jsonrpc": "2.0", "id": 1, "result": {}}) is None


SEED = 20_260_728
WORDS = ("initialize", "tools/call", "tools/list", "server/discover", "ping", "recall", "forget", "_meta", "arguments")
KEYS = ("jsonrpc", "id", "method", "params", "name", "arguments", "_meta", "io.modelcontextprotocol/protocolVersion")


def answered(lines: bytes) -> list:
    """Return what lines are answered."""
    out = io.BytesIO()
    serve(io.BufferedReader(io.BytesIO(lines)), out, Server(lambda *_: ("said", False)).answer)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_what_is_no_frame_is_answered_and_the_next_one_too():
    """Neither text, depth, numbers nor length keep a server from the next request."""
    ping = b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n'
    for bad, code in {
        b"x": -32700,
        b"\xff\xfe": -32700,
        b"[" * 100_000: -32700,
        b"9" * 5_000: -32700,
        b'{"id":NaN}': -32700,
        b"[]": -32600,
        b'"' + b"a" * (LONGEST + 9) + b'"': -32600,
    }.items():
        first, second = answered(bad + b"\n" + ping)
        assert (first["id"], first["error"]["code"]) == (None, code)
        assert second == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_several_frames_in_one_are_answered_in_one():
    """As the revision of 2025-03-26 has it; what wants no answer gets none."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    heard = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    (said,) = answered(json.dumps([ping, heard, ping | {"id": "b"}]).encode())
    assert [one["id"] for one in said] == [1, "b"]
    assert answered(json.dumps([heard]).encode()) == []


def _value(chance: random.Random, depth: int = 0) -> object:
    kind = chance.randrange(9 if depth < 4 else 6)
    if kind == 6:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind > 6:
        return {chance.choice(KEYS): _value(chance, depth + 1) for _ in range(chance.randrange(6))}
    said = chance.choice(WORDS)
    return [
        None,
        True,
        chance.randrange(-9, 10**18),
        chance.random(),
        said,
        chance.choice(["2.0", "\ud800", "\0", "2026-07-28"]),
    ][kind]


def test_random_frames_end_in_answers():
    """Of 10,000 frames, random or cut anywhere, each is answered as JSON-RPC has it, or is none."""
    chance = random.Random(SEED)
    frames = []
    for _ in range(10_000):
        frame = {"jsonrpc": "2.0", "id": chance.randrange(99), "method": chance.choice(WORDS)}
        other = _value(chance)
        frame = frame | other if isinstance(other, dict) else other
        line = json.dumps(frame).encode()
        if not chance.randrange(4):
            line = line[: chance.randrange(len(line) + 1)] + bytes(chance.randrange(256) for _ in range(3))
        frames.append(line.replace(b"\n", b" "))
    said = answered(b"\n".join(frames))
    assert len(said) > 5_000
    for one in said:
        for answer in one if isinstance(one, list) else [one]:
            assert answer["jsonrpc"] == "2.0"
            assert ("result" in answer) != ("error" in answer)
            assert answer.get("error", {"code": -32700})["code"] in {-32700, -32600, -32601, -32602, -32022}
