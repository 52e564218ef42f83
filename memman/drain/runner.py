"""One note through the stages, each paid output journaled before the next stage begins."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from memman.drain.store_queue import InFlight, StoreQueue
from memman.llm import LLM, Wrapper
from memman.model.errors import MemmanError
from memman.model.records import Note, Reply, Request
from memman.pipeline import PIPELINE
from memman.pipeline.plan import Plan, Stage, Tools, decode, encode
from memman.queue.ledger import Journal
from memman.store.sqlite.store import SqliteStore


class Answering(Wrapper):
    """A model, and in `names` who answered when it was asked, each once."""

    def __init__(self, inner: LLM, names: list[str]) -> None:
        super().__init__(inner)
        self.names = names

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises what the model does."""
        reply = await self.inner.complete(request)
        name = f"{reply.provider}/{reply.model}"
        if name not in self.names:
            self.names.append(name)
        return reply


def heard(tools: Tools) -> tuple[Tools, list[str]]:
    """Return `tools` for one stage of one note, and a list that comes to name the models that answered.

    In place of the one that is set up the built-in one may have.
    """
    names: list[str] = []
    return replace(tools, llm=Answering(tools.llm, names), builtin=Answering(tools.builtin, names)), names


_WRITER = "commit"
# What a model reads with the rest of its session.
_READ_TOGETHER = ("turn", "compact")


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks on: `reach` hears of each point a crash test may strike at, `trace` of each stage's plan.

    `tell` hears what became of each note, as an event with fields for the worker's log, `remind`, before a
    note is done, what the user said in it that their agent might have noted.
    """

    reach: Callable[[str, Note | None], None] = lambda point, note: None  # noqa: ARG005 - nobody looks on by default
    trace: Callable[[str, Plan], None] = lambda stage, plan: None  # noqa: ARG005 - the same
    progress: Callable[[], None] = lambda: None
    tell: Callable[..., None] = lambda event, **fields: None  # noqa: ARG005 - the same
    remind: Callable[[Note, str], None] = lambda note, text: None  # noqa: ARG005 - the same


class Stopped(MemmanError):
    """The drain was asked to stop between two stages; the note goes back, its journal stays."""


async def run_note(
    flight: InFlight,
    store_queue: StoreQueue,
    tools: Tools,
    store: SqliteStore,
    journal: Journal,
    stopping: Callable[[], bool],
    watch: Watch,
) -> Plan:
    """Take one note through the pipeline. Raises Stopped, or what a stage raised."""
    plan = Plan(flight.note)
    if flight.note.channel in _READ_TOGETHER and tools.llm.provider != tools.builtin.provider:
        tools = replace(tools, conversations=store_queue.conversations())
        await store_queue.wait_for_conversations(flight)
    for stage in PIPELINE:
        await store_queue.wait(flight, stage.after)
        if stopping():
            raise Stopped("the drain is stopping")
        watch.reach(f"before:{stage.name}", flight.note)
        if stage.after == "known":
            plan = replace(plan, earlier=tuple((before.note, before.facts) for before in store_queue.earlier(flight)))
        given = replace(tools, store=store) if stage.name == _WRITER else tools
        plan = await _stage(stage, given, plan, journal, watch)
        watch.reach(f"after:{stage.name}", flight.note)
        watch.trace(stage.name, plan)
        if "facts" in stage.journaled:
            flight.know(plan.facts)
    return plan


async def _stage(stage: Stage, tools: Tools, plan: Plan, journal: Journal, watch: Watch) -> Plan:
    if not stage.paid(tools):
        return await _run(stage, tools, plan)
    version = stage.version(tools)
    saved = journal.read(plan.note.uid, stage.name, version)
    if saved is not None:
        return decode(plan, saved)
    plan = await _run(stage, tools, plan)
    watch.reach(f"unjournaled:{stage.name}", plan.note)
    journal.write(plan.note.uid, stage.name, version, encode(plan, stage.journaled))
    return plan


async def _run(stage: Stage, tools: Tools, plan: Plan) -> Plan:
    """Run a stage, and name the models that answered."""
    given, names = heard(tools)
    plan = await stage.run(given, plan)
    return replace(plan, models=(*plan.models, (stage.name, ", ".join(names)))) if names else plan
