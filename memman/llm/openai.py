"""Models behind any OpenAI-compatible `/chat/completions`: OpenRouter, vLLM, LiteLLM, Ollama's /v1."""

import json
from collections.abc import Mapping
from typing import Any

from memman.http import JsonObject, bearer
from memman.llm.remote import BOUNDS_REJECTED, Quirk, RemoteModel, Truncated, amount, count, outermost, unbounded
from memman.model.records import Request, Usage


def _without_bounds(body: JsonObject, request: Request) -> None:
    if "json_schema" in body.get("response_format", {}):
        body["response_format"]["json_schema"]["schema"] = unbounded(request.schema)


def _any_object(body: JsonObject, request: Request) -> None:
    body["response_format"] = {"type": "json_object"}
    schema = json.dumps(request.schema)
    body["messages"][0]["content"] += f"\n\nAnswer with one JSON object that satisfies this schema: {schema}"


class OpenAICompatible(RemoteModel):
    """Chat completions at `endpoint`.

    Structured output is asked for as a JSON schema, then without its bounds, as any JSON object, then as plain text.
    """

    quirks = (
        Quirk(("temperature",), lambda body, _: body.pop("temperature")),
        Quirk(("max_tokens",), lambda body, _: body.update(max_completion_tokens=body.pop("max_tokens"))),
        Quirk(BOUNDS_REJECTED, _without_bounds),
        Quirk((), _any_object),
        Quirk((), lambda body, _: body.pop("response_format")),
    )

    headers = staticmethod(bearer)

    @staticmethod
    def url(endpoint: str) -> str:
        """Return where questions go."""
        return f"{endpoint}/chat/completions"

    def _body(self, request: Request) -> JsonObject:
        form = {"name": request.task, "strict": True, "schema": request.schema}
        return {
            "model": self.model(request.role),
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "temperature": 0,
            "max_tokens": request.max_tokens,
            "response_format": {"type": "json_schema", "json_schema": form},
        }

    def _data(self, reply: JsonObject) -> Mapping[str, Any]:
        match reply:
            case {"choices": [{"message": dict(message), **choice}, *_]}:
                finish = choice.get("finish_reason")
            case _:
                raise self._bad("a reply without a message")
        if message.get("refusal") or finish == "content_filter":
            raise self._refused()
        if finish == "length":
            raise Truncated(f"{self.provider} sent a truncated reply")
        found = outermost(_text(message.get("content")))
        if found is None:
            raise self._bad("something other than a JSON object")
        return found

    def _usage(self, reply: JsonObject) -> Usage:
        usage = reply.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        tokens_in, tokens_out = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
        told = amount(usage.get("cost"))
        return Usage(tokens_in, tokens_out, self._cost(tokens_in, tokens_out) if told is None else told)


def _text(content: object) -> str:
    """Join a message's content, which some servers send in parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))
