"""What recall was asked and found no answer to: a bounded record, a line each. Hot where there is none.

A line is when, in which store, by which agent and in which repository ('' for none), and the question, between tabs.
"""

import os
import time
from collections import namedtuple

from memman.config.places import append_line, asked_path, text_at, write_file
from memman.secrets import screened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST_BYTES = 131_072
_DAYS = 90
# Characters of a question that are kept.
_LONGEST = 200


# A question at a time, who asked it ('' for a person), and in which repository ('' at home).
Unanswered = namedtuple("Unanswered", "at store agent repository question")  # noqa: PYI024 - typing is slow to load


def note_unanswered(data: str, store: str, at: int, agent: str, repository: str, question: str) -> None:
    """Append a question; it may fail silently."""
    said = screened(" ".join(question.split()))[:_LONGEST]
    append_line(asked_path(data), _line(Unanswered(at, store, screened(agent), repository, said)), _MOST_BYTES)


def _line(one: Unanswered) -> str:
    return f"{one.at}\t{one.store}\t{one.agent}\t{one.repository}\t{one.question}\n"


def unanswered(data: str, store: str) -> "list[Unanswered]":
    """Return the questions of a store, oldest first."""
    return [one for one in _lines(data) if one.store == store]


def _lines(data: str) -> "Iterator[Unanswered]":
    for line in text_at(asked_path(data)).split("\n"):
        at, *said = line.split("\t")
        if at.isascii() and at.isdigit() and len(at) <= 15 and len(said) == 4:  # noqa: PLR2004 - digits of a moment
            yield Unanswered(int(at), *said)


def drop_asked(data: str, gone: "Callable[[str], bool] | None" = None) -> None:
    """Drop old questions, the older ones of too many, and those that are `gone`."""
    found = list(_lines(data))
    if not found:
        return
    oldest = (time.time() - _DAYS * 86_400) * 1000
    kept = [one for one in found if one.at >= oldest and not (gone and gone(one.question))]
    if os.path.getsize(asked_path(data)) > _MOST_BYTES // 2:
        kept = kept[len(kept) * 2 // 3 :]
    if kept != found:
        write_file(asked_path(data), "".join(map(_line, kept)))
