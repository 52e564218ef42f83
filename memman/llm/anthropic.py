"""Models behind Anthropic's Messages API."""

from collections.abc import Mapping
from typing import Any

from memman.http import JsonObject
from memman.llm.remote import BOUNDS_REJECTED, Quirk, RemoteModel, Truncated, count, unbounded
from memman.model.records import Request, Usage

VERSION = "2023-06-01"
# Every kind of token read, and its price as a multiple of the plain one.
TOKENS_IN = {"input_tokens": 1.0, "cache_creation_input_tokens": 1.25, "cache_read_input_tokens": 0.1}
NO_ROOM = frozenset({"max_tokens", "model_context_window_exceeded"})


class AnthropicMessages(RemoteModel):
    """Messages at `endpoint`; structured output is one tool the model has to call."""

    quirks = (
        Quirk(("temperature",), lambda body, _: body.pop("temperature")),
        Quirk(BOUNDS_REJECTED, lambda body, asked: body["tools"][0].update(input_schema=unbounded(asked.schema))),
    )

    @staticmethod
    def url(endpoint: str) -> str:
        """Return where questions go."""
        return f"{endpoint.removesuffix('/v1')}/v1/messages"

    @staticmethod
    def headers(api_key: str) -> dict[str, str]:
        """Return the headers that show the key."""
        return {"x-api-key": api_key, "anthropic-version": VERSION}

    def _body(self, request: Request) -> JsonObject:
        # The mark covers everything before it, the tool too: what every call of a task has in common.
        system = {"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}
        tool = {"name": request.task, "description": "Give the answer.", "input_schema": request.schema}
        return {
            "model": self.model(request.role),
            "max_tokens": request.max_tokens,
            "temperature": 0,
            "system": [system],
            "messages": [{"role": "user", "content": request.user}],
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": request.task},
        }

    def _data(self, reply: JsonObject) -> Mapping[str, Any]:
        stop = reply.get("stop_reason")
        if stop == "refusal":
            raise self._refused()
        if stop in NO_ROOM:
            raise Truncated(f"{self.provider} sent a truncated reply")
        blocks = reply.get("content")
        for block in blocks if isinstance(blocks, list) else ():
            match block:
                case {"type": "tool_use", "input": dict(found)}:
                    return found
        raise self._bad("a reply without a tool call")

    def _usage(self, reply: JsonObject) -> Usage:
        usage = reply.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        read = {kind: count(usage.get(kind)) for kind in TOKENS_IN}
        tokens_out = count(usage.get("output_tokens"))
        paid_for = sum(tokens * TOKENS_IN[kind] for kind, tokens in read.items())
        return Usage(sum(read.values()), tokens_out, self._cost(paid_for, tokens_out))
