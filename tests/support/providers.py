"""A scripted model provider: a real HTTP/1.1 server on loopback, with faults on demand.

    with ScriptedProvider(script=[status(503), OK]) as provider:
        llm = OpenAICompatible(http, f"{provider.url}/v1", ...)

It speaks the shapes of OpenAI, Anthropic, Ollama, Voyage and Cohere. From another
process: `python -m tests.support.providers --port 0 --latency 1.5 --log FILE`
prints its base URL as the first line and serves until it is told to stop.
"""

import argparse
import asyncio
import contextlib
import json
import math
import re
import signal
import sys
import threading
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, Self, TextIO, cast

Json = dict[str, Any]
Responder = Callable[[Json], Json]

KEPT_REQUESTS = 1000
# Seconds of a latency that outlasts every test: whoever ends meanwhile has not waited for the reply.
NEVER = 86_400.0
BACKLOG = 1024

_POLL = 0.01  # seconds
_NOTE = re.compile(r"<note>(.*)</note>", re.DOTALL)
_SPOKEN = re.compile(r"<(user|agent|summary)>\n(.*?)\n</\1>", re.DOTALL)
_TURN = re.compile(r"<turn>\n(\d+)\n(.*?)</turn>", re.DOTALL)
_WORD = re.compile(r"\w+")
_ENTITY = re.compile(r"\b(?:[A-Z][\w-]*|\w+(?:[._/-]\w+)+)")


@dataclass(frozen=True, slots=True)
class Act:
    """What to do with one request; the default is to answer it properly.

    `delay` is in seconds; the reply waits `until` a task was asked so many times. `drop` closes the
    connection without a word, `cut` closes it half-way through the body, `drip` sends a byte each so many seconds.
    `body` replaces the reply, `content` spoils only what the model said.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay: float = 0.0
    until: tuple[str, int] = ("", 0)
    drop: bool = False
    cut: bool = False
    drip: float = 0.0
    content: Literal["good", "truncated", "garbage", "refusal"] = "good"


OK = Act()
DROP = Act(drop=True)
TRUNCATED_BODY = Act(cut=True)
GARBAGE_BODY = Act(body=b"<html>not what you asked for</html>")
TRUNCATED_CONTENT = Act(content="truncated")
GARBAGE_CONTENT = Act(content="garbage")
REFUSAL = Act(content="refusal")


def status(code: int, *, retry_after: str | float | None = None, body: bytes = b'{"error":{}}') -> Act:
    """Answer `code`, asking to come back after `retry_after` (seconds)."""
    return Act(code, {} if retry_after is None else {"retry-after": str(retry_after)}, body)


def hang(seconds: float) -> Act:
    """Answer properly, but only after `seconds`."""
    return Act(delay=seconds)


def trickle(seconds: float) -> Act:
    """Answer properly, but so slowly that it takes about `seconds`: no single wait is long."""
    return Act(drip=seconds / 500)


def redirect(to: str) -> Act:
    """Point the client at another address."""
    return Act(307, {"location": to}, b"")


Script = Iterable[Act] | Callable[["Received"], Act]


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived. Header names are in lower case; `task` is empty where none was named."""

    path: str
    headers: Mapping[str, str]
    body: Json
    task: str


def respond(question: Json) -> Json:
    """Answer 'extract', 'conversation' and 'reconcile' dutifully, knowing no rules: every line of a turn is a fact."""
    if question["task"] == "reconcile":
        return {"verdicts": [], "causes": []}
    if question["task"] == "conversation":
        turns = _TURN.findall(question["user"])
        spoken = ((n, who, text) for n, turn in turns for who, text in _SPOKEN.findall(turn))
        lines = ((int(n), who, line) for n, who, text in spoken for line in text.splitlines() if line.strip())
        return {"facts": [_fact(line) | {"speaker": who, "from": [n]} for n, who, line in lines]}
    found = _NOTE.search(question["user"])
    return {"facts": [_fact(found[1].strip())] if found else []}


def _fact(text: str) -> Json:
    words = dict.fromkeys(_WORD.findall(text.lower()))
    return {
        "text": text,
        "category": "fact",
        "importance": 3,
        "entities": list(dict.fromkeys(_ENTITY.findall(text)))[:6],
        "keywords": sorted(words, key=len, reverse=True)[:6],
        "summary": "",
    }


@lru_cache(maxsize=65536)
def _token_hash(token: str) -> int:
    return zlib.crc32(token.encode())


def embedding(text: str, dimension: int) -> list[float]:
    """Embed `text` as a bag of hashed words: unit length, equal for equal words in any order."""
    row = [0.0] * dimension
    for token in _WORD.findall(text.lower()) or [text]:
        spot = _token_hash(token)
        row[spot % dimension] += 1.0
        row[(spot >> 16) % dimension] += 0.5
    length = math.hypot(*row)
    return [value / length for value in row]


# --- shapes: each takes the request apart, or puts a reply together ---


def _count_tokens(text: str) -> int:
    return 1 + len(text) // 4


def _openai_question(body: Json) -> Json:
    said = {message["role"]: message["content"] for message in body["messages"]}
    asked = body.get("response_format", {}).get("json_schema", {})
    return {
        "task": asked.get("name", ""),
        "schema": asked.get("schema", {}),
        "system": said.get("system", ""),
        "user": said.get("user", ""),
        "shape": "openai",
    }


def _openai_reply(body: Json, question: Json, answer: Json, content: str) -> Json:
    text = json.dumps(answer)
    message: Json = {"role": "assistant", "content": text}
    finish = "stop"
    if content == "truncated":
        message["content"], finish = text[: len(text) // 2], "length"
    elif content == "garbage":
        message["content"] = "I would rather talk about the weather."
    elif content == "refusal":
        message |= {"content": None, "refusal": "I cannot help with that."}
    tokens_in = _count_tokens(question["system"] + question["user"])
    return {
        "id": "scripted",
        "object": "chat.completion",
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": _count_tokens(text)},
    }


def _anthropic_question(body: Json) -> Json:
    tool = body["tools"][0] if body.get("tools") else {}
    system = body.get("system", "")
    return {
        "task": tool.get("name", ""),
        "schema": tool.get("input_schema", {}),
        "system": system if isinstance(system, str) else "".join(block["text"] for block in system),
        "user": "".join(message["content"] for message in body["messages"]),
        "shape": "anthropic",
    }


def _anthropic_reply(body: Json, question: Json, answer: Json, content: str) -> Json:
    blocks: list[Json] = [{"type": "tool_use", "id": "t", "name": question["task"], "input": answer}]
    stop = "tool_use"
    if content == "truncated":
        blocks[0]["input"], stop = {}, "max_tokens"
    elif content == "garbage":
        blocks, stop = [{"type": "text", "text": "I would rather talk about the weather."}], "end_turn"
    elif content == "refusal":
        blocks, stop = [], "refusal"
    return {
        "id": "scripted",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks,
        "stop_reason": stop,
        "usage": {
            "input_tokens": _count_tokens(question["system"] + question["user"]),
            "output_tokens": _count_tokens(json.dumps(answer)),
        },
    }


def _texts(body: Json) -> list[str]:
    given = body["input"]
    return [given] if isinstance(given, str) else given


def _embeddings_reply(body: Json, dimension: int) -> Json:
    texts = _texts(body)
    rows = [
        {"object": "embedding", "index": number, "embedding": embedding(text, dimension)}
        for number, text in enumerate(texts)
    ]
    tokens = sum(map(_count_tokens, texts))
    return {
        "object": "list",
        "data": rows,
        "model": body["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _ollama_embed_reply(body: Json, dimension: int) -> Json:
    texts = _texts(body)
    return {
        "model": body["model"],
        "embeddings": [embedding(text, dimension) for text in texts],
        "prompt_eval_count": sum(map(_count_tokens, texts)),
    }


# Found by how the path ends, so any prefix (/v1, /api/v1) will do.
_CHATS: dict[str, tuple[Callable[[Json], Json], Callable[[Json, Json, Json, str], Json]]] = {
    "/chat/completions": (_openai_question, _openai_reply),
    "/messages": (_anthropic_question, _anthropic_reply),
}
_EMBEDDINGS: dict[str, Callable[[Json, int], Json]] = {
    "/embeddings": _embeddings_reply,
    "/api/embed": _ollama_embed_reply,
}


def schema_of(received: Received) -> Json:
    """Return the schema that a chat asked for its answer in, whatever the API."""
    schema: Json = _find(_CHATS, received.path)[0](received.body)["schema"]
    return schema


def _find(table: Mapping[str, Any], path: str) -> Any:
    return next((value for end, value in table.items() if path.endswith(end)), None)


class ScriptedProvider:
    """A model provider on a loopback port, in a thread of its own; a context manager.

    `script` says what to do with each request in turn (when an iterable ends,
    requests are answered properly), `respond` gives the object a chat answers
    with, `latency` is seconds before each reply, `dimension` is that of the
    embeddings, `log` gets one JSON line per request. With `serial` requests are
    served one after another, as a model on a CPU does: the others wait, and
    one whose client left while it waited is passed over.

    `calls` counts requests by path, `tasks` by task, those without a body apart; `received` keeps the last
    of them. `now` is how many are on their way, `most` how many were at once.
    """

    def __init__(
        self,
        *,
        script: Script = (),
        respond: Responder = respond,
        latency: float = 0.0,
        dimension: int = 64,
        port: int = 0,
        log: TextIO | None = None,
        serial: bool = False,
    ) -> None:
        self._next = script if callable(script) else partial(_take, iter(script))
        self._respond = respond
        self._latency = latency
        self._dimension = dimension
        self._port = port
        self._log = log
        self._serial = serial
        self._thread = threading.Thread(target=self._run, name="scripted-provider", daemon=True)
        self._ready = threading.Event()
        self._failure: OSError | None = None
        self.calls: Counter[str] = Counter()
        self.tasks: Counter[str] = Counter()
        self.received: deque[Received] = deque(maxlen=KEPT_REQUESTS)
        self.url = ""
        self.most = 0
        self.now = 0

    def __enter__(self) -> Self:
        """Start serving; `url` is set from here on. Raises OSError where the port is taken."""
        self._thread.start()
        self._ready.wait()
        if self._failure:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        """Close every connection and stop."""
        with contextlib.suppress(RuntimeError):  # already stopped
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as failure:
            self._failure = failure
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._turn = asyncio.Lock()
        open_now: set[asyncio.Transport] = set()
        server = await self._loop.create_server(
            partial(_Connection, self, open_now), "127.0.0.1", self._port, backlog=BACKLOG
        )
        self.url = "http://127.0.0.1:{1}".format(*server.sockets[0].getsockname())
        self._ready.set()
        await self._stop.wait()
        server.close()
        for transport in tuple(open_now):
            transport.abort()
        await asyncio.sleep(0)  # lets the aborted transports close their sockets

    def answer(self, path: str, headers: Mapping[str, str], raw: bytes) -> tuple[Act, bytes]:
        """Decide what to do with one request: the act, and the whole reply as bytes."""
        if not raw:
            return Act(404), _reply(Act(404), b'{"error": {"message": "there is nothing to look at"}}')
        body = json.loads(raw)
        chat = _find(_CHATS, path)
        question = chat[0](body) if chat else {"task": ""}
        received = Received(path, headers, body, question["task"])
        act = self._next(received)
        self._note(received, act)
        if act.body is not None:
            return act, _reply(act, act.body)
        if chat:
            reply = chat[1](body, question, self._respond(question), act.content)
        elif embed := _find(_EMBEDDINGS, path):
            reply = embed(body, self._dimension)
        else:
            act, reply = Act(404), {"error": {"message": "no such path"}}
        return act, _reply(act, json.dumps(reply).encode())

    def serve(self, act: Act, write: Callable[[], None], gone: Callable[[], bool]) -> asyncio.Task[None]:
        """Have the reply to `act` written when it is due, unless the client is `gone`."""
        self.now += 1
        self.most = max(self.most, self.now)
        return asyncio.get_running_loop().create_task(self._serve_one(act, write, gone))

    async def _serve_one(self, act: Act, write: Callable[[], None], gone: Callable[[], bool]) -> None:
        try:
            async with self._turn if self._serial else contextlib.nullcontext():
                if not gone() and (wait := self._latency + act.delay):
                    await asyncio.sleep(wait)
                while not gone() and self.tasks[act.until[0]] < act.until[1]:  # noqa: ASYNC110 - few wait, and not for long
                    await asyncio.sleep(_POLL)
        finally:
            self.now -= 1
        if not gone():
            write()

    def _note(self, received: Received, act: Act) -> None:
        self.calls[received.path] += 1
        self.tasks[received.task] += 1
        self.received.append(received)
        if self._log:
            line = {
                "time": time.time(),
                "path": received.path,
                "task": received.task,
                "status": 0 if act.drop else act.status,
            }
            self._log.write(json.dumps(line) + "\n")


def _take(acts: Iterator[Act], _: Received) -> Act:
    return next(acts, OK)


def _reply(act: Act, body: bytes) -> bytes:
    head = [
        f"HTTP/1.1 {act.status} Scripted",
        "content-type: application/json",
        f"content-length: {len(body)}",
    ]
    head += [f"{name}: {value}" for name, value in act.headers.items()]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


class _Connection(asyncio.Protocol):
    """One keep-alive connection; a request is read only after the one before it is answered."""

    def __init__(self, provider: ScriptedProvider, open_now: set[asyncio.Transport]) -> None:
        self._provider = provider
        self._open_now = open_now
        self._buffer = bytearray()
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # asyncio sets TCP_NODELAY on every stream socket by itself.
        self._transport = cast("asyncio.Transport", transport)
        self._open_now.add(self._transport)

    def connection_lost(self, _: Exception | None) -> None:
        self._open_now.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._read()

    def _read(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if self._busy or end < 0:
            return
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        stop = end + 4 + int(headers.get("content-length", 0))
        if len(self._buffer) < stop:
            return
        raw = bytes(self._buffer[end + 4 : stop])
        del self._buffer[:stop]
        self._busy = True
        act, reply = self._provider.answer(first.split(" ")[1], headers, raw)
        self._serving = self._provider.serve(act, partial(self._write, act, reply), self._transport.is_closing)

    def _write(self, act: Act, reply: bytes) -> None:
        self._busy = False
        if act.drop:
            self._transport.close()
        elif act.cut:
            self._transport.write(reply[: reply.index(b"\r\n\r\n") + 4 + 20])
            self._transport.close()
        elif act.drip:
            self._drip(act.drip, reply)
        else:
            self._transport.write(reply)
            self._read()

    def _drip(self, pause: float, rest: bytes) -> None:
        self._transport.write(rest[:1])
        if self._transport.is_closing():
            return
        if rest[1:]:
            asyncio.get_running_loop().call_later(pause, self._drip, pause, rest[1:])
        else:
            self._read()


def main() -> None:
    """Serve from the command line until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.providers", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--dimension", type=int, default=64, help="of the embeddings")
    parser.add_argument("--log", type=Path, help="gets one JSON line per request")
    given = parser.parse_args()
    # Before any thread starts, so that every thread inherits it and sigwait gets the signal.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(given.log.open("a", buffering=1)) if given.log else None
        provider = ScriptedProvider(latency=given.latency, dimension=given.dimension, port=given.port, log=log)
        stack.enter_context(provider)
        sys.stdout.write(provider.url + "\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
