"""Whether the model and the embedder answer: a free look, or with leave a question."""

import asyncio
from collections.abc import Iterator
from contextlib import closing

from memman.config.env import shell_only
from memman.config.providers import EMBEDDERS, LLMS
from memman.doctor.finding import Context, Finding, fail, ok, shell, sound, warn
from memman.http import Http, Policy, Rejected
from memman.judge.embedder import BuiltinEmbedder
from memman.judge.judge import damage
from memman.llm.agent.clients import CLIENTS, here
from memman.llm.agent.process import find
from memman.model.errors import BadReply, MemmanError, ProviderError
from memman.model.records import Request
from memman.model.vocabulary import GARBLES
from memman.providers.chosen import in_force, unfit, unpriced
from memman.providers.pool import adapter, embedder, llm
from memman.queue.trouble import KEY, Trouble
from memman.queue.view import QueueView

# Seconds for one look; a person waits for it.
_PATIENCE = 10.0
_QUESTION = Request(
    task="answer",
    role="fast",
    system="Answer with a JSON object.",
    user="Say yes.",
    schema={"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]},
    payload={},
    max_tokens=16,
)
_MAY_ASK = "it may ask you something"


def model(context: Context) -> Iterator[Finding]:
    """Check that each provider answers and accepts the key, and show errors of the last drain.

    It also checks the files of judge and embedder, a budget without a price, and a proxy or certificates that only
    this shell knows.
    """
    if says := damage():  # nothing is stored until they are mended
        yield fail(f"the files of judge and embedder: {says}", "pip install --force-reinstall memman")
        return
    settings = context.settings
    used = in_force(settings)
    yield from _model(context, used["llm"])
    if used["embed"]["provider"] != "builtin":
        yield _looked_at(context, "embed", used["embed"])
    yield from _unfit(context, used["llm"])
    yield from map(fail, unpriced(settings).values())
    if any(record["endpoint"].startswith("https://") for record in used.values()):
        for name, variable in shell_only(settings).items():
            says = f"{variable} is set in this shell, but drains that the scheduler starts do not see it"
            yield warn(says, f'memman config set {name} "${variable}"')


def _model(context: Context, record: dict[str, str]) -> Iterator[Finding]:
    if record["provider"] == "builtin":
        says, agents = "built-in model, no provider", [one.name for one in here()]
        if agents:
            says += f"; {', '.join(agents)} could be it: `memman config set MEMMAN_LLM_PROVIDER {agents[0]}`"
        yield ok(says)
    elif record["endpoint"]:
        yield _looked_at(context, "llm", record | {"model": record["fast"]})
    else:
        yield from _agent(context, record["provider"])


def _unfit(context: Context, record: dict[str, str]) -> Iterator[Finding]:
    with closing(QueueView(context.data)) as queue:
        garbles = unfit(queue.meta(GARBLES), record)
    if garbles:
        hint = "drains try it again, and a good answer ends this; `memman doctor --billable` asks it now"
        yield warn(f"model unfit: {garbles}", _without("LLM"), hint)


def _looked_at(context: Context, role: str, record: dict[str, str]) -> Finding:
    """Look at a provider for nothing, or where the person allows it ask it; and at what it told the last drain."""
    family, row = role.upper(), (EMBEDDERS if role == "embed" else LLMS)[record["provider"]]
    base = record["endpoint"].rstrip("/").removesuffix("/v1" if row.free.startswith("/v1") else "")
    headers = adapter(row).headers(context.settings[f"MEMMAN_{family}_API_KEY"]) if row.keyed else {}
    said = f"{record['provider']} {record['model']}"
    at = f"{said} at {record['endpoint']}"
    try:
        asyncio.run(_reached(context, role, base + row.free, headers))
    except Rejected as rejected:
        if context.billable or rejected.status in {401, 403}:
            return _failed(family, f"{at}: {rejected}")
    except BadReply as error:
        if context.billable:
            return warn(f"{at}: {error}")
    except MemmanError as error:
        return _failed(family, f"{at}: {error}")
    if context.billable:
        return ok(f"{at} answers")
    with closing(QueueView(context.data)) as queue:
        last = [line for line in queue.last_drain().get("errors", ()) if line.startswith(record["endpoint"])]
    if last:
        return _failed(family, f"{said} failed in the last drain: {last[0]}")
    return ok(f"{at} answers, as far as a free request can tell")


async def _reached(context: Context, role: str, url: str, headers: dict[str, str]) -> None:
    context.settings.reach_out()
    http = Http(Policy(timeout=_PATIENCE, connect_timeout=_PATIENCE, tries=1))
    try:
        if not context.billable:
            await http.get(url, headers)
        elif role == "embed":
            await embedder(context.settings, lambda: http, BuiltinEmbedder()).embed(["yes"])
        else:
            await llm(context.settings, lambda: http).complete(_QUESTION)
    finally:
        await http.close()


def _failed(family: str, says: str) -> Finding:
    if any(f"answered {status}" in says for status in (401, 403)):
        mend = shell("memman", "config", "set", f"MEMMAN_{family}_API_KEY", "-")
        return fail(says, mend, "the command reads the new key from standard input")
    hint = f"check its model and MEMMAN_{family}_ENDPOINT, and that it runs; the command switches to the built-in one"
    return fail(says, _without(family), hint)


def _without(family: str) -> str:
    """Return the command that has the built-in one do what the provider of a `family` of keys does."""
    return shell("memman", "config", "set", f"MEMMAN_{family}_PROVIDER", "builtin")


def _agent(context: Context, provider: str) -> Iterator[Finding]:
    """Look whether an agent, with `auto` any, is there and was not left alone, or where the person allows, ask it."""
    agent = CLIENTS.get(provider)
    known = {provider: agent} if agent else CLIENTS
    named = context.settings["MEMMAN_LLM_COMMAND"]
    there = {name: program for name, client in known.items() if (program := find(client.program, named))}
    if not there:
        sought = named or ", ".join(client.program for client in known.values())
        hint = "install it, or give its path: `memman config set MEMMAN_LLM_COMMAND PATH`"
        yield fail(f"{provider}: no program {sought}; the judge decides instead", _without("LLM"), hint)
        return
    said = ", ".join(f"{name} ({program})" for name, program in there.items())
    if context.billable:
        try:
            asyncio.run(llm(context.settings, Http).complete(_QUESTION))
            yield ok(f"{said} answers")
        except ProviderError as error:
            yield fail(str(error), shell(next(iter(there.values()))), _MAY_ASK)
        return
    with closing(QueueView(context.data)) as queue:
        troubles = {name: why for name in there if (why := Trouble.load(queue.meta(KEY + name)).why)}
    left = (warn(f"{why}; the judge decides instead", shell(there[name]), _MAY_ASK) for name, why in troubles.items())
    yield from sound(left, f"{said}; only --billable asks it")
