"""Whether the models' providers answer, and answer what they are asked."""

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from memman import compose
from memman.doctor.finding import Context, Finding, fail, ok, warn
from memman.drain.fitness import UNFIT, unfit
from memman.judge.judge import damage
from memman.model.records import Request
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
    record, second = compose.llm_in_force(context.settings), compose.fallback_in_force(context.settings)
    if context.settings["MEMMAN_JUDGE"] != "off" and (says := damage()):
        yield fail(f"the judge's files: {says}", "pip install --force-reinstall memman")
    elif record["provider"] == "builtin":
        yield ok("built-in model, no provider")
    if record["provider"] == "builtin":
        return
    from memman.doctor.probe import probed, without

    yield probed(context, "LLM", record | {"model": record["fast"]}, _ask(compose.llm, context))
    if second:
        yield probed(context, "LLM_FALLBACK", second | {"model": second["fast"]}, _ask(compose.fallback_llm, context))
    with closing(QueueView(context.data)) as queue:
        misfits = unfit(queue.meta(UNFIT), [record, second] if second else [record])
    for one in misfits:
        yield warn(
            f"model unfit: {one['provider']} {one['model']} for {one['task']}: {one['why']}",
            without("LLM_FALLBACK" if one["provider"] == second.get("provider") else "LLM"),
            "drains ask it once each, and a good answer ends this; `memman doctor --billable` asks it now; or name "
            "another model; the command leaves it out",
        )


def _ask(
    model: "Callable[[Settings, Callable[[], Http]], LLM | None]", context: Context
) -> "Callable[[Http], Awaitable[None]]":
    async def ask(http: "Http") -> None:
        if one := model(context.settings, lambda: http):
            await one.complete(_QUESTION)

    return ask
