"""Whether the model, its fallback, the embedder and the reranker answer: a free look, or with leave a question."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from memman import providers
from memman.config.env import shell_only
from memman.config.providers import EMBEDDERS, LLMS
from memman.doctor.finding import Context, Finding, fail, ok, shell, warn
from memman.govern.embedding import status
from memman.model.errors import BadConfig, BadReply, MemmanError, ProviderError, ProviderMisconfigured
from memman.model.plural import counted
from memman.model.records import Request
from memman.model.vocabulary import MINILM
from memman.providers.build import adapter
from memman.providers.fitness import UNFIT, unfit
from memman.queue.trouble import KEY, Trouble
from memman.queue.view import QueueView

if TYPE_CHECKING:
    from memman.config.env import Settings
    from memman.http import Http
    from memman.llm import LLM

# Seconds for one look; a person waits for it.
PATIENCE = 10.0
_QUESTION = Request(
    task="answer",
    role="fast",
    system="Answer with a JSON object.",
    user="Say yes.",
    schema={"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]},
    payload={},
    max_tokens=16,
)
_RERANK = ("MEMMAN_RERANK", "MEMMAN_RERANK_PROVIDER")

Build = Callable[["Settings", Callable[[], "Http"]], "LLM | None"]


def check(context: Context) -> Iterator[Finding]:
    """Look at each provider, and at what drains found of it.

    Fails where one does not answer, rejects the key, failed in the last drain, or has a budget and no price; warns of a
    model that drains found unfit, of an unfinished change of the embedder, and of a proxy or certificates that only
    this shell knows
    """
    settings = context.settings
    used = providers.in_force(settings)
    yield from _model(context, "LLM", used["llm"], providers.llm)
    if used["fallback"]:
        yield from _model(context, "LLM_FALLBACK", used["fallback"], providers.fallback_llm)
    yield from _embedder(context, used["embed"])
    yield from _reranker(context)
    yield from _unfit(context, [record for record in (used["llm"], used["fallback"]) if record])
    yield from map(fail, providers.unpriced(settings).values())
    if any(record.get("endpoint", "").startswith("https://") for record in used.values()):
        for name, variable in shell_only(settings).items():
            says = f"{variable} is set in this shell, but drains that others start do not know of it"
            yield warn(says, f'memman config set {name} "${variable}"')
    for name in () if settings.faults else context.stores:
        if swap := status(context.data, name)["swap"]:
            left = counted(swap["left"], "memory")
            says = f"store {name!r}: the switch to {swap['target']} is unfinished, {left} to go"
            yield warn(says, "memman embed swap --resume")


def _model(context: Context, family: str, record: dict[str, str], build: Build) -> Iterator[Finding]:
    if record["provider"] == "builtin":
        yield _judge(context)
    elif not record["endpoint"]:
        yield from _agent(context, family, record["provider"], build)
    else:

        async def ask(http: "Http") -> None:
            if model := build(context.settings, lambda: http):
                await model.complete(_QUESTION)

        yield _looked_at(context, family, record | {"model": record["fast"]}, ask)


def _judge(context: Context) -> Finding:
    """Look at the judge's files, and say which agents on this machine could be the model."""
    from memman.judge.judge import damage
    from memman.llm.agent.offer import here

    if context.settings["MEMMAN_JUDGE"] != "off" and (says := damage()):
        return fail(f"the judge's files: {says}", "pip install --force-reinstall memman")
    agents = [one.name for one in here()]
    offer = f"; {', '.join(agents)} could be it: `memman config set MEMMAN_LLM_PROVIDER {agents[0]}`" if agents else ""
    return ok(f"built-in model, no provider{offer}")


def _embedder(context: Context, record: dict[str, str]) -> Iterator[Finding]:
    if record["provider"] == MINILM:
        yield _minilm()
    elif record["provider"] != "builtin":

        async def ask(http: "Http") -> None:
            from memman.embed.builtin import BuiltinEmbedder

            await providers.embedder(context.settings, lambda: http, BuiltinEmbedder()).embed(["yes"])

        yield _looked_at(context, "EMBED", record, ask)


def _minilm() -> Finding:
    """Have MiniLM embed a word: its weights may be missing, or not be the pinned ones."""
    from memman.embed.minilm import FINGERPRINT, INSTALL, MiniLM

    try:
        MiniLM().vectors(["yes"])
    except ProviderMisconfigured as error:
        return fail(str(error), _without("EMBED"), f"or {INSTALL}; the command goes back to the built-in vectors")
    return ok(f"{FINGERPRINT.model} is installed: nothing to reach")


def _reranker(context: Context) -> Iterator[Finding]:
    if not any(context.settings.said.get(name, "off") != "off" for name in _RERANK):
        return
    from memman.rerank import reranker

    without = " && ".join(shell("memman", "config", "unset", name) for name in _RERANK)
    try:
        model = reranker(context.settings)
        if context.billable:
            model.scores("yes", ("yes", "no"))
    except BadConfig as error:
        yield fail(f"reranking is not set up: {error}", without, "the command turns it off")
    except ProviderError as error:
        hint = "correct the setting it names, or turn reranking off"
        yield warn(f"recall keeps its own order: {error}", without, hint)
    else:
        yield ok(model.about + (" answers in time" if context.billable else "; only --billable asks it"))


def _unfit(context: Context, records: list[dict[str, str]]) -> Iterator[Finding]:
    with closing(QueueView(context.data)) as queue:
        misfits = unfit(queue.meta(UNFIT), records)
    for one in misfits:
        family = "LLM_FALLBACK" if one["provider"] == records[-1]["provider"] and len(records) > 1 else "LLM"
        yield warn(
            f"model unfit: {one['provider']} {one['model']} for {one['task']}: {one['why']}",
            _without(family),
            "drains ask it once each, and a good answer ends this; `memman doctor --billable` asks it now",
        )


def _looked_at(
    context: Context, family: str, record: dict[str, str], ask: "Callable[[Http], Awaitable[None]]"
) -> Finding:
    """Look at a provider for nothing, or where the person allows it `ask` it; and at what it told the last drain."""
    from memman.http import Rejected

    row = (EMBEDDERS if family == "EMBED" else LLMS)[providers.without_role(record["provider"])]
    base = record["endpoint"].rstrip("/").removesuffix("/v1" if row.free.startswith("/v1") else "")
    headers = adapter(row).headers(context.settings[f"MEMMAN_{family}_API_KEY"]) if row.keyed else {}
    said = f"{record['provider']} {record['model']} at {record['endpoint']}"
    try:
        asyncio.run(_with_http(context, ask if context.billable else partial(_get, base + row.free, headers)))
    except Rejected as rejected:
        if context.billable or rejected.status in {401, 403}:
            return _failed(family, f"{said}: {rejected}")
    except BadReply as error:
        if context.billable:
            return warn(f"{said}: {error}")
    except MemmanError as error:
        return _failed(family, f"{said}: {error}")
    with closing(QueueView(context.data)) as queue:
        last = [line for line in queue.last_drain().get("errors", ()) if line.startswith(record["endpoint"])]
    if last and not context.billable:
        return _failed(family, f"{record['provider']} {record['model']} failed in the last drain: {last[0]}")
    return ok(f"{said} answers" + ("" if context.billable else ", as far as a free request can tell"))


async def _get(url: str, headers: dict[str, str], http: "Http") -> None:
    await http.get(url, headers)


async def _with_http(context: Context, call: "Callable[[Http], Awaitable[None]]") -> None:
    from memman.http import Http, Policy

    context.settings.reach_out()
    http = Http(Policy(timeout=PATIENCE, connect_timeout=PATIENCE, tries=1))
    try:
        await call(http)
    finally:
        await http.close()


def _failed(family: str, says: str) -> Finding:
    if any(f"answered {status}" in says for status in (401, 403)):
        mend = shell("memman", "config", "set", f"MEMMAN_{family}_API_KEY", "-")
        return fail(says, mend, "the command reads the new key from standard input")
    hint = f"start it, or correct its model or MEMMAN_{family}_ENDPOINT; the command switches to the built-in one"
    return fail(says, _without(family), hint)


def _without(family: str) -> str:
    """Return the command that has the built-in one do what the provider of a `family` of keys does."""
    name = f"MEMMAN_{family}" if family.endswith("_FALLBACK") else f"MEMMAN_{family}_PROVIDER"
    return shell("memman", "config", "set", name, "builtin")


def _agent(context: Context, family: str, provider: str, build: Build) -> Iterator[Finding]:
    """Look whether the user's agent is there and was not left alone, or where the person allows it, ask it.

    `provider` is an agent's name, also as a fallback, or `auto`.
    """
    from memman.llm.agent.clients import CLIENTS
    from memman.llm.agent.program import find

    agent = CLIENTS.get(providers.without_role(provider))
    known = {provider: agent} if agent else CLIENTS
    named = context.settings["MEMMAN_LLM_COMMAND"] if family == "LLM" else ""
    there = {name: program for name, client in known.items() if (program := find(client.program, named))}
    if not there:
        sought = named or ", ".join(client.program for client in known.values())
        hint = "install it, or name its place: `memman config set MEMMAN_LLM_COMMAND PATH`"
        yield fail(f"{provider}: no program {sought}; the judge decides instead", _without(family), hint)
        return
    said = ", ".join(f"{name} ({program})" for name, program in there.items())
    with closing(QueueView(context.data)) as queue:
        troubles = {name: why for name in there if (why := Trouble.load(queue.meta(KEY + name)).why)}
    if not context.billable:
        for name, why in troubles.items():
            yield warn(f"{why}; the judge decides instead", shell(there[name]), "it may ask you something")
        if not troubles:
            yield ok(f"{said}; only --billable asks it")
        return
    try:
        if model := build(context.settings, _no_http):
            asyncio.run(model.complete(_QUESTION))
    except ProviderError as error:
        yield fail(str(error), shell(next(iter(there.values()))), "it may ask you something")
    else:
        yield ok(f"{said} answers")


def _no_http() -> "Http":
    raise AssertionError("an agent is asked without HTTP")
