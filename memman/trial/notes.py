"""The graded notes: what is said, what is stored already, and what any right outcome holds."""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Graded:
    """One note and how it is graded.

    `kind` is fact, change, near (a near miss), turn, language or hostile. A note has a `reply` only if it is a turn;
    `stored` are the memories that are there before it, and `retired` the places of those that it makes out of date:
    all others must stay. `found` holds a tuple of regular expressions (case ignored) for each statement: one memory
    must match all of a tuple. None that recall shows may match one of `unsaid`. `answer` is a right answer, said by
    `speaker`.
    """

    id: str
    kind: str
    text: str
    answer: tuple[str, ...]
    found: tuple[tuple[str, ...], ...]
    unsaid: tuple[str, ...]
    reply: str = ""
    source: str = "user"
    speaker: str = "user"
    stored: tuple[str, ...] = ()
    retired: tuple[int, ...] = ()

    @property
    def channel(self) -> str:
        """How the note arrives: `note` or `turn`."""
        return "turn" if self.reply else "note"


def graded() -> tuple[Graded, ...]:
    """Read the notes of the wheel."""
    lines = (files(__package__) / "graded.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_read(json.loads(line)) for line in lines)


def _read(record: dict[str, Any]) -> Graded:
    return Graded(**{name: _frozen(value) for name, value in record.items()})


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
