"""Whether the models' providers answer, and answer what they are asked.

Looks at: the model's provider, and the fallback's
Finds: does not answer, or rejects the key; warns of a model that drains found unfit, with what it
answered
"""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from memman import providers
from memman.doctor.finding import Context, Finding, fail, ok, shell, warn
from memman.judge.judge import damage
from memman.model.errors import ProviderError
from memman.model.records import Request
from memman.providers.fitness import UNFIT, unfit
from memman.queue.trouble import KEY, Trouble
from memman.queue.view import QueueView

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memman.config.env import Settings
    from memman.http import Http
    from memman.llm import LLM

_QUESTION = Request(
    task="answer",
    role="fast",
    system="Answer with a JSON object.",
    user="Say yes.",
    schema={"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]},
    payload={},
    max_tokens=16,
)


def check(context: Context) -> Iterator[Finding]:
    """Look whether each provider answers, and whether drains found a model unfit."""
    record, second = providers.llm_in_force(context.settings), providers.fallback_in_force(context.settings)
    if context.settings["MEMMAN_JUDGE"] != "off" and (says := damage()):
        yield fail(f"the judge's files: {says}", "pip install --force-reinstall memman")
    elif record["provider"] == "builtin":
        yield ok("built-in model, no provider" + _offer())
    if record["provider"] == "builtin":
        return
    if providers.by_agent(context.settings):
        yield from _agent(context, record["provider"], context.settings["MEMMAN_LLM_COMMAND"])
        yield from _fallback(context, second)
        return
    from memman.doctor.probe import probed, without

    yield probed(context, "LLM", record | {"model": record["fast"]}, _ask(providers.llm, context))
    yield from _fallback(context, second)
    with closing(QueueView(context.data)) as queue:
        misfits = unfit(queue.meta(UNFIT), [record, second] if second else [record])
    for one in misfits:
        yield warn(
            f"model unfit: {one['provider']} {one['model']} for {one['task']}: {one['why']}",
            without("LLM_FALLBACK" if one["provider"] == second.get("provider") else "LLM"),
            "drains ask it once each, and a good answer ends this; `memman doctor --billable` asks it now; or name "
            "another model; the command leaves it out",
        )


def _fallback(context: Context, record: dict[str, str]) -> Iterator[Finding]:
    """Look whether what answers in place of the model can."""
    from memman.doctor.probe import probed

    if record and not record["endpoint"]:
        yield from _agent(context, record["provider"])
    elif record:
        yield probed(context, "LLM_FALLBACK", record | {"model": record["fast"]}, _ask(providers.fallback_llm, context))


def _ask(
    model: "Callable[[Settings, Callable[[], Http]], LLM | None]", context: Context
) -> "Callable[[Http], Awaitable[None]]":
    async def ask(http: "Http") -> None:
        if one := model(context.settings, lambda: http):
            await one.complete(_QUESTION)

    return ask


def _offer() -> str:
    """Say which agents on this machine could be the model, and what that would mean."""
    from memman.llm.agent.offer import here, sentence

    said = [f"{sentence(one)}: `memman config set MEMMAN_LLM_PROVIDER {one.name}`" for one in here()]
    return f"; it could be {'; or '.join(said)}" if said else ""


def _agent(context: Context, provider: str, named: str = "") -> Iterator[Finding]:
    """Look whether the user's agent is there and was not left alone, or where the person allows it, ask it.

    `provider` is an agent's name, also as a fallback, or `auto`; `named` its program where the settings name one.
    """
    from memman.doctor.probe import without
    from memman.llm.agent.clients import CLIENTS
    from memman.llm.agent.program import find

    agent = CLIENTS.get(providers.without_role(provider))
    known = {provider: agent} if agent else CLIENTS
    there = {name: program for name, client in known.items() if (program := find(client.program, named))}
    first = provider == context.settings["MEMMAN_LLM_PROVIDER"]
    if not there:
        sought = named or ", ".join(client.program for client in known.values())
        says = f"{provider}: no program {sought}; the judge decides instead"
        yield fail(
            says,
            without("LLM" if first else "LLM_FALLBACK"),
            "install it, or name its place: `memman config set MEMMAN_LLM_COMMAND PATH`",
        )
        return
    troubles = {name: why for name in there if (why := _trouble(context, name))}
    if troubles and not context.billable:
        for name, why in troubles.items():
            yield warn(f"{why}; the judge decides instead", shell(there[name]), "it may ask you something")
        return
    said = ", ".join(f"{name} ({program})" for name, program in there.items())
    if not context.billable:
        yield ok(f"{said}; only --billable asks it")
        return
    try:
        if model := (providers.llm if first else providers.fallback_llm)(context.settings, _no_http):
            asyncio.run(model.complete(_QUESTION))
    except ProviderError as error:
        yield fail(str(error), shell(next(iter(there.values()))), "it may ask you something")
    else:
        yield ok(f"{said} answers")


def _no_http() -> "Http":
    raise AssertionError("an agent is asked without HTTP")


def _trouble(context: Context, name: str) -> str:
    with closing(QueueView(context.data)) as queue:
        return Trouble.load(queue.meta(KEY + name)).why
