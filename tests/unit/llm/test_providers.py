import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from memman.config.env import Settings
from memman.config.providers import LLMS, Provider
from memman.http import Http, Policy
from memman.model.errors import BadReply, ProviderMisconfigured, ProviderUnavailable, Refused
from memman.model.records import Request
from memman.pipeline import conversation, extract, reconcile
from memman.pipeline.replies import FIELDS
from memman.providers.chosen import in_force
from memman.providers.pool import adapter
from tests.support.box import PATIENCE
from tests.support.providers import (
    DROP,
    GARBAGE_BODY,
    GARBAGE_CONTENT,
    NEVER,
    OK,
    REFUSAL,
    TRUNCATED_BODY,
    TRUNCATED_CONTENT,
    Act,
    ScriptedProvider,
    hang,
    redirect,
    schema_of,
    status,
)

if TYPE_CHECKING:
    from memman.llm import LLM

KEY = "sk-secret-0123456789"
MODELS = {"fast": "small", "slow": "large"}
SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}}
REQUEST = Request(
    task="extract",
    role="fast",
    system="You extract facts.",
    user="<note>Deploys of billing_service need Alice's approval.</note>",
    schema=SCHEMA,
    payload={},
)
REMOTE = {name: row for name, row in LLMS.items() if row.by_http}
EVERY = pytest.mark.parametrize("kind", REMOTE)


def ask(provider, kind="openai", *, times=1, price=None, reasks=1, tries=3, timeout=5.0, request=None):
    """Ask REQUEST, or another, `times` times through one model; give the last reply."""

    async def run():
        http = Http(Policy(timeout=timeout, tries=tries, backoff=0.001))
        row = REMOTE[kind]
        llm: LLM = adapter(row)(
            http, provider.url + urlsplit(row.endpoint).path, KEY, MODELS, price, provider=kind, reasks=reasks
        )
        try:
            for _ in range(times):
                reply = await llm.complete(request or REQUEST)
            return reply
        finally:
            await llm.close()

    return asyncio.run(run())


def test_every_model_that_can_be_set_is_known_everywhere():
    """Each has an address, a model, a line for the wizard and what doctor looks at for nothing."""
    assert all(row.models and row.free and row.help for row in REMOTE.values())


def test_a_provider_with_one_model_uses_it_for_every_question(monkeypatch):
    """A row that names one model has it extract and reconcile."""
    monkeypatch.setitem(LLMS, "one", Provider("one", "https://one.test/v1", ("only",), "memman.llm.openai:X"))
    record = in_force(Settings({"MEMMAN_LLM_PROVIDER": "one"}))["llm"]
    assert (record["fast"], record["slow"], record["endpoint"]) == ("only", "only", "https://one.test/v1")


def said(content, **choice):
    """Answer a chat completion with `content`."""
    reply = {"choices": [{"message": {"content": content}, "finish_reason": "stop"} | choice]}
    return Act(body=json.dumps(reply).encode())


@EVERY
def test_the_answer_is_an_object(kind):
    """A model behind either API answers a task with an object, its usage and its name."""
    with ScriptedProvider() as provider:
        reply = ask(provider, kind, price=(1.0, 2.0))
    fact = reply.data["facts"][0]
    assert fact["text"] == "Deploys of billing_service need Alice's approval."
    assert "Alice" in fact["entities"]
    assert reply.model == "small"
    assert reply.usage.cost == (reply.usage.tokens_in + 2 * reply.usage.tokens_out) / 1e6 > 0
    assert provider.tasks == {"extract": 1}
    assert provider.calls.total() == 1


def test_what_is_sent_to_openai():
    """A chat completion carries the key, the role's model, temperature 0 and the schema."""
    with ScriptedProvider() as provider:
        ask(provider)
    sent = provider.received[0]
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": REQUEST.system},
            {"role": "user", "content": REQUEST.user},
        ],
        "temperature": 0,
        "max_tokens": 2048,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "extract", "strict": True, "schema": SCHEMA},
        },
    }


def test_what_is_sent_to_anthropic():
    """A message carries the key, the version, a forced tool and a cacheable system prompt."""
    with ScriptedProvider() as provider:
        ask(provider, "anthropic")
    sent = provider.received[0]
    assert sent.headers["x-api-key"] == KEY
    assert sent.headers["anthropic-version"] == "2023-06-01"
    assert sent.body["system"] == [{"type": "text", "text": REQUEST.system, "cache_control": {"type": "ephemeral"}}]
    assert sent.body["tools"][0]["input_schema"] == SCHEMA
    assert sent.body["tool_choice"] == {"type": "tool", "name": "extract"}
    assert sent.body["messages"] == [{"role": "user", "content": REQUEST.user}]


def test_no_key_sends_no_authorization():
    """An empty key, as for a server on this machine, sends no authorization header."""

    async def run(url):
        llm = adapter(REMOTE["openai"])(Http(), f"{url}/v1/", "", MODELS, provider="openai")
        await llm.complete(REQUEST)
        await llm.close()

    with ScriptedProvider() as provider:
        asyncio.run(run(provider.url))
    assert "authorization" not in provider.received[0].headers


@EVERY
@pytest.mark.parametrize(
    ("act", "error"),
    [
        pytest.param(status(503), ProviderUnavailable, id="503"),
        pytest.param(status(529), ProviderUnavailable, id="529"),
        pytest.param(status(429, retry_after=3600), ProviderUnavailable, id="429"),
        pytest.param(DROP, ProviderUnavailable, id="drop"),
        pytest.param(hang(NEVER), ProviderUnavailable, id="hang"),
        pytest.param(TRUNCATED_BODY, BadReply, id="truncated-body"),
        pytest.param(GARBAGE_BODY, BadReply, id="garbage-body"),
        pytest.param(TRUNCATED_CONTENT, BadReply, id="truncated-content"),
        pytest.param(GARBAGE_CONTENT, BadReply, id="garbage-content"),
        pytest.param(Act(body=b"{}"), BadReply, id="empty-object"),
        pytest.param(REFUSAL, Refused, id="refusal"),
        pytest.param(status(401), ProviderMisconfigured, id="401"),
        pytest.param(status(404), ProviderMisconfigured, id="404"),
        pytest.param(redirect("http://127.0.0.1:9/"), ProviderMisconfigured, id="redirect"),
    ],
)
def test_each_fault_has_its_error(kind, act, error):
    """Every fault of a provider becomes one error of the tree, which never shows key or text."""
    with (
        ScriptedProvider(script=lambda _: act) as provider,
        pytest.raises(error) as caught,
    ):
        ask(provider, kind, tries=1, timeout=0.3 if act.delay else PATIENCE)
    assert KEY not in str(caught.value)
    assert "billing_service" not in str(caught.value)


@EVERY
def test_a_bad_reply_is_asked_again_once(kind):
    """One bad reply costs another ask, paid for in the usage; a second one is an error."""
    with ScriptedProvider(script=[GARBAGE_CONTENT]) as provider:
        twice = ask(provider, kind, price=(1.0, 1.0)).usage
        once = ask(provider, kind, price=(1.0, 1.0)).usage
    assert provider.calls.total() == 3
    assert twice.tokens_in == 2 * once.tokens_in
    assert twice.cost == pytest.approx(2 * once.cost)
    with ScriptedProvider(script=[GARBAGE_CONTENT, GARBAGE_CONTENT]) as provider, pytest.raises(BadReply):
        ask(provider, kind)
    with ScriptedProvider(script=[TRUNCATED_BODY]) as provider, pytest.raises(BadReply):
        ask(provider, kind, reasks=0)
    assert provider.calls.total() == 1


@EVERY
def test_trouble_that_passes_is_not_seen(kind):
    """An overloaded provider is tried again and the answer is the same."""
    with ScriptedProvider(script=[status(529), DROP]) as provider:
        assert ask(provider, kind).data["facts"]
    assert provider.calls.total() == 3


@pytest.mark.parametrize("code", [400, 422])
def test_structured_output_falls_back_and_is_remembered(code):
    """An endpoint without JSON schemas is asked for any object, then for text, and never again for more."""
    formats = []

    def script(received):
        formats.append(received.body.get("response_format", {}).get("type"))
        return status(code) if formats[-1] else OK

    with ScriptedProvider(script=script) as provider:
        ask(provider, times=3)
    assert formats == ["json_schema", "json_object", None, None, None]
    assert json.dumps(SCHEMA) in provider.received[-1].body["messages"][0]["content"]


def test_the_first_fallback_that_works_is_kept():
    """Where any JSON object is accepted, that stays the way to ask."""
    with ScriptedProvider(script=[status(400)]) as provider:
        ask(provider, times=2)
    assert [r.body["response_format"]["type"] for r in provider.received] == [
        "json_schema",
        "json_object",
        "json_object",
    ]


def test_parameters_of_newer_models():
    """An endpoint that names a parameter it rejects is asked without it, keeping the schema."""
    script = [
        status(400, body=b'{"error": {"message": "Unsupported parameter: \'max_tokens\'"}}'),
        status(400, body=b'{"error": {"message": "Unsupported value: \'temperature\'"}}'),
    ]
    with ScriptedProvider(script=script) as provider:
        ask(provider, times=2)
    sent = provider.received[-1].body
    assert provider.calls.total() == 4
    assert sent["max_completion_tokens"] == 2048
    assert sent["response_format"]["type"] == "json_schema"
    assert not {"max_tokens", "temperature"} & set(sent)


def bounds(schema):
    """Collect the bounds that stand in a schema."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    own = {name: value for name, value in schema.items() if "max" in name} if isinstance(schema, dict) else {}
    return [*own.items(), *(found for part in parts for found in bounds(part))]


@EVERY
@pytest.mark.parametrize(
    "words",
    [
        "Invalid schema for response_format 'extract': In context=('facts',), 'maxItems' is not permitted.",
        "Failed to initialize samplers: failed to parse grammar",
    ],
)
def test_bounds_that_an_endpoint_rejects_are_left_out_and_nothing_else(kind, words):
    """A rejection that speaks of the schema is answered without bounds, and that is remembered."""
    schemas = []

    def script(received):
        asked = schema_of(received)
        schemas.append(asked)
        return status(400, body=json.dumps({"error": {"message": words}}).encode()) if bounds(asked) else OK

    with ScriptedProvider(script=script) as provider:
        ask(provider, kind, times=3, request=replace(REQUEST, schema=extract.SCHEMA))
    assert [bool(bounds(schema)) for schema in schemas] == [True, False, False, False]
    assert schemas[1]["properties"]["facts"]["items"]["required"] == list(FIELDS)


@pytest.mark.parametrize("stage", [extract, conversation, reconcile])
def test_every_list_and_free_text_that_is_asked_for_is_bounded(stage):
    """Neither lists nor strings grow until a model's tokens are used up; llama.cpp takes bounds below 2,000."""

    def unbounded(schema):
        if schema["type"] == "array":
            return "maxItems" not in schema or unbounded(schema["items"])
        if schema["type"] == "string":
            return not {"maxLength", "enum"} & schema.keys()
        return any(map(unbounded, schema.get("properties", {}).values()))

    assert not unbounded(stage.SCHEMA)
    assert all(value < 2000 for _, value in bounds(stage.SCHEMA))


@EVERY
def test_a_rejection_nothing_explains_is_misconfigured(kind):
    """When every way of asking is rejected, the configuration is wrong, and nothing is remembered."""
    with ScriptedProvider(script=lambda _: status(400)) as provider:
        with pytest.raises(ProviderMisconfigured):
            ask(provider, kind)
        assert provider.calls.total() == 1 + sum(not quirk.cues for quirk in adapter(REMOTE[kind]).quirks)


@EVERY
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, '{"error": {"code": "content_filter"}}'),
        (400, '{"error": {"code": "context_length_exceeded"}}'),
        (400, '{"error": {"message": "prompt is too long: 250000 tokens"}}'),
        (403, '{"error": {"message": "Your input was flagged"}}'),
        (413, '{"error": {"type": "request_too_large"}}'),
    ],
)
def test_a_rejected_text_is_refused(kind, code, message):
    """A provider that cannot take this one text refuses it; the configuration is not to blame."""
    with ScriptedProvider(script=[status(code, body=message.encode())]) as provider, pytest.raises(Refused):
        ask(provider, kind)


@pytest.mark.parametrize(
    "content",
    [
        '{"a": {"b": "}"}}',
        '```json\n{"a": {"b": "}"}}\n```',
        'Here you are:\n\n{"a": {"b": "}"}}\n\nAnything else?',
        '<think>maybe {"a": 1}?</think>{"a": {"b": "}"}}',
        [{"type": "text", "text": '{"a": {"b"'}, {"type": "text", "text": ': "}"}}'}],
        'It needs an object like {"a": 1}.\n</think>\n{"a": {"b": "}"}}',
    ],
)
def test_the_object_is_found_in_the_content(content):
    """Fences, prose, thinking and parts around the object do not hide it."""
    with ScriptedProvider(script=[said(content)]) as provider:
        assert ask(provider).data == {"a": {"b": "}"}}


def test_an_answer_may_speak_of_the_mark_that_ends_thinking():
    """Only before the object does the mark end thinking."""
    for content in ('{"a": "Qwen ends with </think> alone"}', 'Hm.</think>{"a": "Qwen ends with </think> alone"}'):
        with ScriptedProvider(script=[said(content)]) as provider:
            assert ask(provider).data == {"a": "Qwen ends with </think> alone"}


@EVERY
def test_a_model_that_thinks_its_tokens_away_gets_more_room_once(kind):
    """A truncated answer is asked for again with more room, which the model has from then on."""

    def script(received):
        limits.append(received.body["max_tokens"])
        return OK if limits[-1] > REQUEST.max_tokens else TRUNCATED_CONTENT

    limits: list[int] = []
    with ScriptedProvider(script=script) as provider:
        assert ask(provider, kind, times=2).data["facts"]
    assert limits == [2048, 8192, 8192]
    limits.clear()
    with ScriptedProvider(script=lambda got: limits.append(got.body["max_tokens"]) or TRUNCATED_CONTENT) as provider:
        with pytest.raises(BadReply, match="truncated"):
            ask(provider, kind)
        assert limits == [2048, 8192]


@EVERY
@pytest.mark.parametrize(
    "act", [status(400, body=b'{"error": {"message": "max_tokens is too large: 8192"}}'), status(503)]
)
def test_a_server_without_more_room_has_sent_a_truncated_answer(kind, act):
    """What the second question runs into is no outage and no refusal: the model did answer, badly."""
    with (
        ScriptedProvider(script=[TRUNCATED_CONTENT, act, act]) as provider,
        pytest.raises(BadReply, match="truncated"),
    ):
        ask(provider, kind, tries=1)


@pytest.mark.parametrize(
    "choice",
    [
        {"finish_reason": "error"},
        {"finish_reason": "error", "error": {"message": "Provider returned error", "code": 502}},
        {"error": {"message": "Overloaded", "code": "overloaded"}},
    ],
)
def test_an_error_inside_the_choice_is_an_outage(choice):
    """It is tried again, and where it lasts the provider is unavailable: the model said nothing that could be bad."""
    with ScriptedProvider(script=[said("", **choice)]) as provider:
        assert ask(provider).data["facts"]
    with ScriptedProvider(script=lambda _: said("", **choice)) as provider, pytest.raises(ProviderUnavailable):
        ask(provider, tries=1)


GRAMMAR = status(500, body=b'{"error": {"message": "Failed to initialize samplers: failed to parse grammar"}}')


def test_a_500_that_names_the_grammar_is_answered_without_schema():
    """It is no outage: the schema is dropped at once, and for good."""
    formats = []

    def script(received):
        formats.append(received.body.get("response_format", {}).get("type"))
        return GRAMMAR if formats[-1] else OK

    with ScriptedProvider(script=script) as provider:
        assert ask(provider, times=2).data["facts"]
    assert formats == ["json_schema", "json_schema", "json_object", None, None]
    with ScriptedProvider(script=lambda _: GRAMMAR) as provider, pytest.raises(ProviderUnavailable):
        ask(provider)


@EVERY
def test_the_page_of_a_web_filter_is_an_outage(kind):
    """It speaks of the line, not of the text or the key, whatever words it uses."""
    page = b"<!doctype html><HTML><title>Blocked</title>Your request was flagged by the web filter.</html>"
    with (
        ScriptedProvider(script=lambda _: status(403, body=page)) as provider,
        pytest.raises(ProviderUnavailable, match="web page"),
    ):
        ask(provider, kind)
    with (
        ScriptedProvider(script=lambda _: status(200, body=page)) as provider,
        pytest.raises(BadReply, match="answered 200 with a web page, as a web filter"),
    ):
        ask(provider, kind)


@pytest.mark.parametrize(
    ("content", "choice"),
    [
        ('{"facts": [{"text": "half"}', {}),
        ('{"facts": []}', {"finish_reason": "length"}),
        ("[1, 2]", {}),
        ("", {}),
        (None, {}),
        ('{"a":' * 100_000, {}),
    ],
)
def test_a_truncated_content_is_bad(content, choice):
    """Half an object is never taken for a whole one, nor anything else for an object."""
    with ScriptedProvider(script=[said(content, **choice)]) as provider, pytest.raises(BadReply):
        ask(provider, reasks=0)


def test_a_content_filter_is_a_refusal():
    """A reply cut by the provider's filter is Refused, not asked again."""
    with (
        ScriptedProvider(script=[said("", finish_reason="content_filter")]) as provider,
        pytest.raises(Refused),
    ):
        ask(provider)
    assert provider.calls.total() == 1


@pytest.mark.parametrize(
    ("usage", "price", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}, (1.0, 1.0), (10, 5, 0.25)),
        ({"prompt_tokens": 10, "completion_tokens": 5}, (1.0, 2.0), (10, 5, 20e-6)),
        ({"prompt_tokens": 10, "completion_tokens": 5}, None, (10, 5, None)),
        ({"prompt_tokens": "many", "completion_tokens": -1, "cost": "free"}, None, (0, 0, None)),
        (None, None, (0, 0, None)),
    ],
)
def test_usage_and_cost(usage, price, expected):
    """Cost is what the provider says, else what the price makes of the tokens, else unknown."""
    reply = {"choices": [{"message": {"content": "{}"}}], "usage": usage}
    with ScriptedProvider(script=[Act(body=json.dumps(reply).encode())]) as provider:
        told = ask(provider, price=price).usage
    assert (told.tokens_in, told.tokens_out, told.cost) == expected


def test_cached_tokens_have_their_own_price():
    """Tokens written to and read from Anthropic's cache count as read, at their own price."""
    reply = {
        "content": [{"type": "tool_use", "input": {}}],
        "usage": {
            "input_tokens": 100,
            "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 1000,
            "output_tokens": 10,
        },
    }
    with ScriptedProvider(script=[Act(body=json.dumps(reply).encode())]) as provider:
        told = ask(provider, "anthropic", price=(1.0, 1.0)).usage
    assert told.tokens_in == 2100
    assert told.cost == pytest.approx(1460e-6)
