"""Which models garble what they answer, as the queue remembers it."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

# Answers in a row that make no sense, each asked for twice, before a model is unfit for that question.
GARBLED = 3
# Queue setting: what each model garbled last, as JSON rows.
UNFIT = "unfit"


class Asked(NamedTuple):
    """A question of one kind, and who is asked it."""

    provider: str
    model: str
    task: str


class Garbled(NamedTuple):
    """How many answers in a row made no sense, and what was wrong with the last."""

    times: int
    why: str


def unfit(said: str, record: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return model, task and why for what the queue's setting UNFIT says that the model in force garbles."""
    named = {(record["provider"], record[role]) for role in ("fast", "slow")}
    return [
        asked._asdict() | {"why": garbled.why}
        for asked, garbled in read(said).items()
        if garbled.times >= GARBLED and (asked.provider, asked.model) in named
    ]


def read(said: str) -> dict[Asked, Garbled]:
    """Read the setting; what a damaged queue makes of it is passed over."""
    try:
        rows = json.loads(said or "[]")
        return {Asked(*map(str, asked)): Garbled(int(times), str(why)) for *asked, times, why in rows}
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return {}
