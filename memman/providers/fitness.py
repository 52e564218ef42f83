"""Whether models answer what they are asked, counted from drain to drain: what garbles its answers is unfit."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from memman.queue.notes import Queue

# Answers in a row that make no sense, each asked for twice, before a model is unfit for that question.
GARBLED = 3
# Queue setting: what each model garbled last, as JSON rows.
UNFIT = "unfit"
# Characters of what is told of an answer.
_SAID = 200


class Asked(NamedTuple):
    """A question of one kind, and who is asked it."""

    provider: str
    model: str
    task: str


class Garbled(NamedTuple):
    """How many answers in a row made no sense, and what was wrong with the last."""

    times: int
    why: str


class Fitness:
    """Counts the answers of each model to each kind of question that make no sense; a good one starts over."""

    def __init__(
        self,
        queue: "Queue",
        tell: Callable[..., None] = lambda event, **fields: None,  # noqa: ARG005 - nobody looks on by default
    ) -> None:
        self.queue, self.tell = queue, tell
        self._known = _read(queue.meta(UNFIT))

    def unfit(self, asked: Asked) -> bool:
        """Whether the model has garbled its last answers to this kind of question."""
        return asked in self._known and self._known[asked].times >= GARBLED

    def garbled(self, asked: Asked, why: str) -> None:
        """Take note of an answer that makes no sense."""
        times = self._known[asked].times + 1 if asked in self._known else 1
        self._known[asked] = Garbled(times, why[:_SAID])
        self._save()
        if times == GARBLED:
            self.tell("model unfit", **asked._asdict(), why=why[:_SAID])

    def well(self, asked: Asked) -> None:
        """Take note of a good answer."""
        if asked not in self._known:
            return
        if self.unfit(asked):
            self.tell("model fit again", **asked._asdict())
        del self._known[asked]
        self._save()

    def _save(self) -> None:
        rows = [[*asked, *garbled] for asked, garbled in self._known.items()]
        self.queue.set_meta(UNFIT, json.dumps(rows) if rows else "")


def unfit(said: str, records: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return provider, model, task and why of those of `records` that the queue's setting UNFIT names."""
    named = {(record["provider"], record[role]) for record in records for role in ("fast", "slow")}
    return [
        asked._asdict() | {"why": garbled.why}
        for asked, garbled in _read(said).items()
        if garbled.times >= GARBLED and (asked.provider, asked.model) in named
    ]


def _read(said: str) -> dict[Asked, Garbled]:
    """Read the setting; what a damaged queue makes of it is passed over."""
    try:
        rows = json.loads(said or "[]")
        return {Asked(*map(str, asked)): Garbled(int(times), str(why)) for *asked, times, why in rows}
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return {}
