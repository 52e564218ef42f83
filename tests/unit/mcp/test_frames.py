"""Frames, as whole as they come and as broken."""

import io
import json
import random

from memman.mcp.protocol import LONGEST, Server, serve

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
