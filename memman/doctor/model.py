"""Whether the model's provider answers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memman import compose
from memman.doctor.finding import Context, Finding, fail, ok
from memman.judge.judge import damage
from memman.model.records import Request

if TYPE_CHECKING:
    from memman.http import Http

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
    """Look whether the model's provider answers."""
    record = compose.in_force(context.settings)["llm"]
    if context.settings["MEMMAN_JUDGE"] != "off" and (says := damage()):
        yield fail(f"the judge's files: {says}", "pip install --force-reinstall memman")
    elif record["provider"] == "builtin":
        yield ok("built-in model, no provider")
    if record["provider"] == "builtin":
        return
    from memman.doctor.probe import probed

    async def ask(http: "Http") -> None:
        await compose.llm(context.settings, lambda: http).complete(_QUESTION)

    yield probed(context, "LLM", record | {"model": record["fast"]}, ask)
