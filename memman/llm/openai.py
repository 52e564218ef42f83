"""Models behind any OpenAI-compatible `/chat/completions`: OpenRouter, vLLM, LiteLLM, Ollama's /v1."""

import json
from collections.abc import Mapping
from typing import Any

from memman.http import Http, JsonObject, bearer
from memman.llm.remote import BOUNDS_REJECTED, Quirk, RemoteModel, Truncated, amount, count, unbounded
from memman.llm.text import outermost
from memman.model.records import Request, Usage


def _default_temperature(body: JsonObject, _: Request) -> None:
    del body["temperature"]


def _newer_token_limit(body: JsonObject, _: Request) -> None:
    body["max_completion_tokens"] = body.pop("max_tokens")


def _without_bounds(body: JsonObject, request: Request) -> None:
    if "json_schema" in body.get("response_format", {}):
        body["response_format"]["json_schema"]["schema"] = unbounded(request.schema)


def _any_object(body: JsonObject, request: Request) -> None:
    body["response_format"] = {"type": "json_object"}
    schema = json.dumps(request.schema)
    body["messages"][0]["content"] += f"\n\nAnswer with one JSON object that satisfies this schema: {schema}"


def _any_text(body: JsonObject, _: Request) -> None:
    del body["response_format"]


class OpenAICompatible(RemoteModel):
    """Chat completions at `endpoint`.

    Structured output is asked for as a JSON schema, then without its bounds, as any JSON object, then as plain text.
    """

    quirks = (
        Quirk(("temperature",), _default_temperature),
        Quirk(("max_tokens",), _newer_token_limit),
        Quirk(BOUNDS_REJECTED, _without_bounds),
        Quirk((), _any_object),
        Quirk((), _any_text),
    )

    def __init__(
        self,
        http: Http,
        endpoint: str,
        api_key: str,
        models: Mapping[str, str],
        price: tuple[float, float] | None = None,
        *,
        reasks: int = 1,
        provider: str = "openai",
    ) -> None:
        super().__init__(
            http,
            f"{endpoint.rstrip('/')}/chat/completions",
            bearer(api_key),
            models,
            provider=provider,
            price=price,
            reasks=reasks,
        )

    headers = staticmethod(bearer)

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
