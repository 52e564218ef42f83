"""Notes through the real pipeline: a data folder of their own, the real queue, the real drain; removed afterwards."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

from memman.config.env import Settings
from memman.config.places import make_folder, store_path
from memman.config.schedule import NOBODY, Schedule
from memman.drain.consequences import consequence
from memman.drain.loop import Drain, Limits
from memman.drain.runner import Watch
from memman.drain.stores import Stores
from memman.llm import LLM
from memman.model.errors import BadReply, MemmanError, ProviderError, Refused
from memman.model.records import Reply, Request, Usage
from memman.pipeline.extract import MAX_FACTS
from memman.pipeline.plan import Tools
from memman.pipeline.prompts import prompt
from memman.pipeline.replies import listed
from memman.providers.meter import Budget, MeteredLLM
from memman.providers.pool import Providers
from memman.queue.append import append_all
from memman.queue.ledger import SUMMED, Ledger
from memman.queue.notes import Queue
from memman.store.protocols import Store
from memman.store.sqlite.catalogue import Catalogue
from memman.trial.grade import Landed, Outcome, faults
from memman.trial.notes import Graded

# Drains, after which a provider that keeps failing is given up.
_ROUNDS = 5
# For the estimate; both are rather too much than too little.
_CHARACTERS_A_TOKEN, _TOKENS_AN_ANSWER = 3, 200
_NOTHING: dict[str, list[object]] = {"verdicts": [], "causes": []}
_ROW: dict[str, str | int | None] = {
    **dict.fromkeys("entities replaces agent session cwd repository revision host user".split(), ""),
    "category": None,
    "importance": None,
}
Progress = Callable[[int, int], None]
_Opened = Callable[[str], tuple[Store, Tools]]


def _unseen(done: int, total: int) -> None:
    """Show nothing of how far the work has come."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a provider made of the notes: the `faults` of each, and what it took.

    `cost` is in US dollars, None where a price is not known.
    """

    provider: str
    models: tuple[str, ...]
    faults: tuple[tuple[str, ...], ...]
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    seconds: float


def estimate(notes: Sequence[Graded]) -> tuple[int, int]:
    """Return about how many calls and tokens a trial takes of a provider."""
    asked = [prompt("turn" if note.reply else "extract") + note.text + note.reply for note in notes]
    compared = [prompt("reconcile") + "".join((*note.answer, *note.stored)) for note in notes if note.stored]
    calls = asked + compared
    tokens = sum(len(text) // _CHARACTERS_A_TOKEN + _TOKENS_AN_ANSWER for text in calls)
    return len(calls), tokens


def measure(settings: Settings, ledger: Ledger, notes: Sequence[Graded], progress: Progress = _unseen) -> Trial:
    """Have the model that the settings mean work on `notes`; what it costs counts in `ledger`, and within the budget.

    Raises ProviderError where it cannot be asked to the end.
    """
    # Only the model is on trial: no text is sent to the embedder, and what is kept of turns is what fits the model.
    settings = settings.replaced({"MEMMAN_EMBED_PROVIDER": None, "MEMMAN_CAPTURE": None})
    with TemporaryDirectory(prefix="memman-trial-") as place:
        data = place + "/data"
        make_folder(data)
        Schedule(NOBODY).save(data)
        return asyncio.run(_measure(data, settings, ledger, notes, progress))


async def _measure(data: str, settings: Settings, ledger: Ledger, notes: Sequence[Graded], progress: Progress) -> Trial:
    stores = [f"note-{number}" for number in range(len(notes))]
    witnesses = {store: _Witness() for store in stores}
    opened = Stores(Providers(data, settings, ledger))
    with _queue(data) as queue:
        own = Ledger(queue.db)

        def plain(store: str) -> tuple[Store, Tools]:
            place, tools = opened.equipped(store)
            return place, replace(tools, llm=_Verbatim())

        def watched(store: str) -> tuple[Store, Tools]:
            place, tools = opened.equipped(store)
            return place, witnesses[store].beside(tools, own)

        try:
            before = [_row(store, text) for store, note in zip(stores, notes, strict=True) for text in note.stored]
            append_all(data, before)
            await _drained(queue, plain, settings, lambda: None, witnesses)
            append_all(data, [_note(store, note) for store, note in zip(stores, notes, strict=True)])
            began, before_it = time.monotonic(), _spent(ledger)
            await _drained(queue, watched, settings, _counting(progress, len(notes)), witnesses)
            seconds, model = time.monotonic() - began, opened.providers.model()
            calls, tokens_in, tokens_out, cost = (
                now - then for now, then in zip(_spent(ledger), before_it, strict=True)
            )
        finally:
            await opened.close()
        priced = not any(row["unpriced"] for row in own.days(100))
    outcomes = [_outcome(data, store, note, witnesses[store]) for store, note in zip(stores, notes, strict=True)]
    return Trial(
        model.provider,
        tuple(dict.fromkeys(map(model.model, ("fast", "slow")))),
        tuple(faults(note, outcome) for note, outcome in zip(notes, outcomes, strict=True)),
        int(calls),
        int(tokens_in),
        int(tokens_out),
        cost if priced else None,
        seconds,
    )


async def _drained(
    queue: Queue, opened: _Opened, settings: Settings, landed: Callable[[], None], witnesses: "dict[str, _Witness]"
) -> None:
    """Drain until nothing waits. Raises ProviderError where a provider cannot be asked, else MemmanError."""
    limits = Limits(int(settings["MEMMAN_DRAIN_CONCURRENCY"]))
    for _ in range(_ROUNDS):
        report = await Drain(queue, opened, limits, Watch(progress=landed)).run()
        if not queue.waiting():
            return
        error = next((one.error for one in witnesses.values() if one.error), None)
        if error and consequence(error).stops:
            break
        queue.hurry()
        queue.rewind()
    raise error or MemmanError("; ".join(report.errors))


def _spent(ledger: Ledger) -> tuple[float, ...]:
    """Return calls, tokens in and out, and dollars, of all that is in the ledger: several notes may share a call."""
    stages = ledger.totals().values()
    return tuple(sum(stage[name] for stage in stages) for name in SUMMED)


def _counting(progress: Progress, total: int) -> Callable[[], None]:
    done = 0

    def landed() -> None:
        nonlocal done
        done = min(done + 1, total)
        progress(done, total)

    return landed


@contextmanager
def accounted(data: str) -> Iterator[Ledger]:
    """Open the ledger of a data folder, for what a trial costs."""
    with _queue(data) as queue:
        yield Ledger(queue.db)


@contextmanager
def _queue(data: str) -> Iterator[Queue]:
    queue = Queue(data)
    try:
        yield queue
    finally:
        queue.close()


def _row(store: str, text: str, source: str = "user") -> dict[str, str | int | None]:
    return _ROW | {"store": store, "text": text, "source": source}


def _note(store: str, note: Graded) -> dict[str, str | int | None]:
    return _row(store, note.text, note.source) | {"channel": note.channel, "reply": note.reply}


def _outcome(data: str, store: str, note: Graded, witness: "_Witness") -> Outcome:
    """Look up what became of a note. What was stored before it came first, in its order."""
    with Catalogue.open(store_path(data, store)) as catalogue:
        rows = catalogue.listed(category=None, source=None, status="all", limit=1000)[::-1]
    before = len(note.stored)
    return Outcome(
        tuple(Landed(row["text"], row["status"] == "current") for row in rows[before:]),
        frozenset(place for place, row in enumerate(rows[:before]) if row["status"] == "superseded"),
        tuple(witness.claimed),
        witness.helped,
    )


class _Verbatim:
    """A model that stores what it is told as it is and retires nothing, for what is there before the graded notes."""

    provider = "verbatim"

    def model(self, role: str) -> str:
        """Name it."""
        return role

    async def complete(self, request: Request) -> Reply:
        """Answer."""
        said = {"facts": [{"text": request.payload["text"]}]} if request.task == "extract" else _NOTHING
        return Reply(said, Usage(), self.model(request.role))

    async def close(self) -> None:
        """Release nothing."""


class _Witness:
    """Who watches the models at work on one note: how often the one on trial was asked, and whether it was of use."""

    def __init__(self) -> None:
        self.helped = False
        self.claimed: list[str] = []
        self.error: ProviderError | None = None

    def beside(self, tools: Tools, ledger: Ledger) -> Tools:
        """Watch the models of `tools`, the one on trial with a meter of its own; the built-in one helps nobody."""
        if tools.llm is tools.builtin:
            return tools
        asked = MeteredLLM(_Tried(tools.llm, self), ledger, Budget())
        return replace(tools, llm=asked, builtin=_Helping(tools.builtin, self))


class _Watched:
    """A model with a witness."""

    def __init__(self, inner: LLM, witness: _Witness) -> None:
        self.inner, self.witness, self.provider = inner, witness, inner.provider

    def model(self, role: str) -> str:
        """Name the model that serves `role`."""
        return self.inner.model(role)

    async def close(self) -> None:
        """Release connections."""
        await self.inner.close()


class _Tried(_Watched):
    """The model on trial: what it answers unreadably the built-in one takes over at once, not after five drains."""

    async def complete(self, request: Request) -> Reply:
        """Answer."""
        self.witness.error = None
        try:
            reply = await self.inner.complete(request)
            if "facts" in request.schema["properties"]:
                self.witness.claimed += [str(one.get("text")) for one in listed(reply.data, "facts", MAX_FACTS)]
        except (BadReply, Refused) as error:
            self.witness.helped = True
            raise Refused(str(error)) from error
        except ProviderError as error:
            self.witness.error = error
            raise
        return reply


class _Helping(_Watched):
    """The built-in model: it is asked what a note says where the one on trial found nothing in it that holds."""

    async def complete(self, request: Request) -> Reply:
        """Answer."""
        self.witness.helped |= request.task == "extract"
        return await self.inner.complete(request)
