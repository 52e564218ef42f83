"""What was purged, by id and without a word of it: no restored backup brings it back.

A line each in `<data>/purged`: when, the note's uid, and the memory's, `-` for all that came of the note.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from memman.config.places import read_file, write_file

WHOLE = "-"


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The uids of what was purged: single memories, and notes with everything that came of them.

    `touched` are all notes of which something was purged: what they said must not be extracted again.
    """

    memories: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()

    @classmethod
    def load(cls, data: str) -> "Tombstones":
        """Read the file; a line that says nothing is passed over."""
        lines = [line.split() for line in read_file(_path(data)).splitlines()]
        rows = [(note, memory) for _, note, memory in (line for line in lines if len(line) == 3)]  # noqa: PLR2004
        return cls(
            frozenset(memory for _, memory in rows if memory != WHOLE),
            frozenset(note for note, memory in rows if memory == WHOLE),
            frozenset(note for note, _ in rows),
        )


def bury(data: str, rows: Iterable[tuple[str, str]], at: int) -> None:
    """Keep (note, memory or WHOLE) for ever; on disk when this returns."""
    lines = [f"{at} {note} {memory}\n" for note, memory in rows]
    write_file(_path(data), read_file(_path(data)) + "".join(lines))


def _path(data: str) -> str:
    return data + "/purged"
