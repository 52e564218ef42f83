"""The pipeline as a table: its stages, what each depends on, and what each cost last."""

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from memman.pipeline import PIPELINE
from memman.queue.ledger import Ledger
from memman.queue.view import QueueView

_SUMMED = ("calls", "tokens_in", "tokens_out", "cost")
_ENTRIES = 1000


def stages(data: str, versions: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the stages in order, each with the account of the last day it made a call on."""
    with closing(QueueView(data)) as queue:
        entries = Ledger(queue.db).days(_ENTRIES)
    return [
        {
            "stage": stage.name,
            "version": versions[stage.name],
            "journaled": list(stage.journaled),
            "waits_for": stage.after or "nothing",
            "last": _last_day(stage.name, entries),
        }
        for stage in PIPELINE
    ]


def _last_day(stage: str, entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Sum the newest day's entries of one stage; `entries` come newest first."""
    own = [entry for entry in entries if entry["stage"] == stage]
    if not own:
        return None
    newest = [entry for entry in own if entry["day"] == own[0]["day"]]
    return {"day": own[0]["day"]} | {name: sum(entry[name] for entry in newest) for name in _SUMMED}
