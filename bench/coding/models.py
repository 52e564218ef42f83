"""Tasks put to a model: a loopback one behind a real client, which only obeys, or the one that the settings choose."""

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.coding.tasks import Task
from bench.coding.world import World
from memman.config.env import Settings
from memman.config.places import data_dir
from memman.model.records import Request
from memman.model.vocabulary import BUILTIN
from memman.providers.chosen import llm_provider
from memman.providers.pool import Providers

_AGENTS = Path(__file__).parents[2] / "e2e" / "agents"
KNOWN, GUESSED = "Done, as it was decided.", "Done, as seemed best."
_SYSTEM = "You are a coding agent. Say in at most six sentences how you do what is asked, and by which rules."
_SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


def in_client(name: str, world: World, tasks: Sequence[Task]) -> Iterator[tuple[Task, bool, str, float]]:
    """Yield for each task whether a client's model knew what was decided, all that it was given, and seconds."""
    sys.path.insert(0, str(_AGENTS))
    import registry
    from clients import CLIENTS, Desk
    from model_server import ModelServer

    asked: list[Task] = []

    def say(body: object) -> str:
        return KNOWN if asked[-1].stands(_read(json.dumps(body, ensure_ascii=False))) else GUESSED

    with ModelServer(say=say) as model:
        desk = Desk(CLIENTS[name], world.home, registry.clients(), model)
        desk.prepare()
        world.run("install", "--no-wizard", "--allow-conversation-access", "--target", name)
        for task in tasks:
            asked.append(task)
            turn = desk.ask(task.prompt, folder=f"src/{task.repository}")
            yield task, KNOWN in turn.output, _read(turn.whole), turn.seconds


def _read(request: str) -> str:
    return request.replace("\\n", "\n").replace('\\"', '"')


def configured() -> bool:
    """Whether memman's settings choose a model."""
    return llm_provider(Settings.load(data_dir())) != BUILTIN


def answers(prompts: Sequence[tuple[str, str]]) -> list[str]:
    """Return what the configured model says to each (context, prompt)."""
    return asyncio.run(_answers(prompts))


async def _answers(prompts: Sequence[tuple[str, str]]) -> list[str]:
    pool = Providers(data_dir(), Settings.load(data_dir()))
    try:
        model = pool.model()
        return [str((await model.complete(_request(*one))).data["answer"]) for one in prompts]
    finally:
        await pool.close()


def _request(context: str, prompt: str) -> Request:
    user = "\n\n".join(filter(None, (context, prompt)))
    return Request("task", "slow", _SYSTEM, user, _SCHEMA, {})
