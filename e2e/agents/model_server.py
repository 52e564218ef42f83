"""A loopback stand-in for the model APIs that coding agents call: it keeps every request and answers what it is told.

Anthropic messages, OpenAI responses and chat completions, Gemini generateContent, plain and streamed.
A prompt that holds `CALL <tool> <json>;` is answered by one call of that tool, so that hooks around tools fire too; one
that holds several, each with another text, by one after the other.
"""

import json
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

SAY = "Understood, done."
# A prompt that is shown cut short ends in …: what it asked for is not asked again.
CALL = re.compile(r"CALL (?:(\w+)\.)?([\w-]+) (\{[^…]*?\});")
# How Claude Code has its model give an answer that satisfies a schema.
STRUCTURED = "StructuredOutput"
LEAST = {"integer": 1, "number": 1, "boolean": False, "array": []}
USAGE = {"input_tokens": 5, "output_tokens": 5}

Event = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Call:
    """A tool the model asks for, the how many-th call; Codex keeps some in a namespace: `CALL namespace.tool`."""

    name: str
    arguments: dict[str, Any]
    namespace: str = ""
    number: int = 1


@dataclass(frozen=True)
class Request:
    """One call an agent made to its model."""

    path: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """The whole body as readable text."""
        return json.dumps(self.body, ensure_ascii=False)


class ModelServer(ThreadingHTTPServer):
    """Runs in a thread of the test; `requests` holds what it was asked, oldest first."""

    daemon_threads = True

    def __init__(self, port: int = 0, say: Callable[[dict[str, Any]], str] = lambda _: SAY) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.say = say
        # What every question is answered with instead, where it is no 200.
        self.status = 200
        self.requests: list[Request] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        """Serve until the block ends."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop and free the port."""
        self.shutdown()
        self.server_close()

    def asked(self, words: str) -> list[Request]:
        """Return the requests that hold these words."""
        return [one for one in self.requests if words in one.text]


def wanted(turns: Any) -> Call | None:
    """Return the tool call that the conversation asks for and has not had yet."""
    said = json.dumps(turns, ensure_ascii=False)
    # A client may put the prompt in quotes, and then its own are escaped once more.
    calls = list(dict.fromkeys(CALL.findall(re.sub(r'\\+"', '"', said))))
    made = said.count(f'"name": "{calls[0][1]}"') if calls else 0
    if made >= len(calls):
        return None
    namespace, name, arguments = calls[made]
    return Call(name, json.loads(arguments), namespace, made + 1)


def anthropic(body: dict[str, Any], said: str) -> Iterable[Event]:
    """Answer `POST /v1/messages`."""
    call = wanted(body["messages"]) if body.get("tools") else None
    if any(tool["name"] == STRUCTURED for tool in body.get("tools", ())):
        call = Call(STRUCTURED, json.loads(said))
    start = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "m"),
        "stop_sequence": None,
        "usage": USAGE,
    }
    if call:
        block: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{call.number}", "name": call.name}
        empty, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
        full, reason = {"input": call.arguments}, "tool_use"
    else:
        block = {"type": "text"}
        empty, delta = {"text": ""}, {"type": "text_delta", "text": said}
        full, reason = {"text": said}, "end_turn"
    yield "", start | {"content": [block | full], "stop_reason": reason}
    yield "message_start", {"message": start | {"content": [], "stop_reason": None}}
    yield "content_block_start", {"index": 0, "content_block": block | empty}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
    yield "message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": USAGE}
    yield "message_stop", {}


def responses(body: dict[str, Any], said: str) -> Iterable[Event]:
    """Answer `POST /v1/responses`."""
    call = wanted(body["input"]) if body.get("tools") else None
    if call:
        item: dict[str, Any] = {
            "type": "function_call",
            "id": f"f{call.number}",
            "call_id": f"call_{call.number}",
            "name": call.name,
            "arguments": json.dumps(call.arguments),
        } | ({"namespace": call.namespace} if call.namespace else {})
    else:
        text = [{"type": "output_text", "text": said, "annotations": []}]
        item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": text}
    start = {"id": "r1", "object": "response", "status": "in_progress", "output": [], "model": body.get("model")}
    usage = USAGE | {
        "total_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    done = start | {"status": "completed", "output": [item], "usage": usage}
    yield "", done
    yield "response.created", {"response": start}
    yield "response.output_item.added", {"output_index": 0, "item": item}
    if not call:
        place = {"item_id": "m1", "output_index": 0, "content_index": 0}
        yield "response.output_text.delta", place | {"delta": said}
    yield "response.output_item.done", {"output_index": 0, "item": item}
    yield "response.completed", {"response": done}


def gemini(body: dict[str, Any], said: str) -> Iterable[Event]:
    """Answer `generateContent` and `streamGenerateContent`."""
    call = wanted(body["contents"]) if body.get("tools") else None
    schema = body.get("generationConfig", {}).get("responseJsonSchema")
    said = json.dumps(filled(schema)) if schema else said
    part = {"functionCall": {"name": call.name, "args": call.arguments}} if call else {"text": said}
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10},
    }
    yield "", answer
    yield "", answer


def filled(schema: dict[str, Any]) -> Any:
    """Return the least answer a schema accepts (Gemini CLI first asks a small model how hard the task is)."""
    kind = schema.get("type", "string").lower()
    if kind == "object":
        return {name: filled(part) for name, part in schema.get("properties", {}).items()}
    return schema.get("enum", [LEAST.get(kind, SAY)])[0]


def chat(body: dict[str, Any], said: str) -> Iterable[Event]:
    """Answer `POST /v1/chat/completions`."""
    call = wanted(body["messages"]) if body.get("tools") else None
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if call:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        message = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}],
        }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    reason = "tool_calls" if call else "stop"
    yield "", {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": body.get("model")}
    yield "", chunk | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]}
    yield "", chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


APIS = (
    ("/v1/messages", anthropic),
    ("/responses", responses),
    (":generateContent", gemini),
    (":streamGenerateContent", gemini),
    ("/chat/completions", chat),
)


class Handler(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ModelServer

    def log_message(self, *_: object) -> None:
        """Keep the test's output quiet."""

    def do_HEAD(self) -> None:
        """Say that the server is there."""
        self.answer(b"", "application/json")

    def do_GET(self) -> None:
        """Answer every other question with nothing."""
        self.answer(b"{}", "application/json")

    def do_POST(self) -> None:
        """Keep the request, then answer as the API it was meant for."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw) if raw.startswith(b"{") else {}
        path = self.path.partition("?")[0]
        self.server.requests.append(Request(path, body))
        if self.server.status != 200:
            said = {
                "error": {"type": "authentication_error", "message": "invalid x-api-key", "code": self.server.status}
            }
            return self.answer(json.dumps(said).encode(), "application/json", self.server.status)
        api = next((api for end, api in APIS if path.endswith(end)), None)
        if api is None:
            return self.answer(json.dumps(USAGE).encode(), "application/json")
        plain, *events = api(body, self.server.say(body))
        if body.get("stream") or "stream" in path:
            return self.answer(b"".join(map(framed, events)) + done(path), "text/event-stream")
        return self.answer(json.dumps(plain[1]).encode(), "application/json")

    def answer(self, body: bytes, kind: str, status: int = 200) -> None:
        """Send one whole reply."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def framed(event: Event) -> bytes:
    """Write one server-sent event."""
    name, data = event
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data | ({'type': name} if name else {}))}\n\n".encode()


def done(path: str) -> bytes:
    """Return the mark that ends a chat completion's stream."""
    return b"data: [DONE]\n\n" if path.endswith("/chat/completions") else b""
