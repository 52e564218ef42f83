"""What was purged, by id and without a word of it: no restored backup brings it back.

A line each in `<data>/purged`: when, the note's or rule's uid, the memory's or `-`, and a checksum.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from hashlib import sha256

from memman.config.places import read_file, write_file
from memman.model.errors import DamagedFile

WHOLE = "-"
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The uids of what was purged; `touched` are all notes of which something was, and which are not read again."""

    memories: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()

    @classmethod
    def load(cls, data: str) -> "Tombstones":
        """Read the file. Raises DamagedFile where a line is not what was written."""
        rows = cls.rows(data)
        return cls(
            frozenset(memory for _, memory in rows if memory != WHOLE),
            frozenset(note for note, memory in rows if memory == WHOLE),
            frozenset(note for note, _ in rows),
        )

    @staticmethod
    def rows(data: str) -> list[tuple[str, str]]:
        """Return (note, memory or WHOLE) of every line, oldest first. Raises DamagedFile."""
        lines = enumerate(read_file(tombstones_path(data)).split("\n"), 1)
        return [_read(tombstones_path(data), number, line) for number, line in lines if line]

    def hold(self, note: str, memory: str) -> bool:
        """Whether a memory of a note was purged."""
        return memory in self.memories or note in self.notes


def bury(data: str, rows: Iterable[tuple[str, str]], at: int) -> None:
    """Keep (note, memory or WHOLE) for ever; on disk when this returns."""
    lines = [_line(f"{at} {note} {memory}") + "\n" for note, memory in rows]
    before = read_file(tombstones_path(data))
    if before and not before.endswith("\n"):  # the disk has changed it: that line is lost, no other must be
        before += "\n"
    write_file(tombstones_path(data), before + "".join(lines))


def dig_up(data: str, memories: Collection[str], notes: Collection[str]) -> None:
    """Let go of memories, and of notes of which all was purged, that a person has brought back."""
    path = tombstones_path(data)
    text = read_file(path)
    kept = [line for line in text.split("\n") if not line or not _names(_read(path, 0, line), memories, notes)]
    if "\n".join(kept) != text:
        write_file(path, "\n".join(kept))


def _names(row: tuple[str, str], memories: Collection[str], notes: Collection[str]) -> bool:
    note, memory = row
    return memory in memories or (memory == WHOLE and note in notes)


def _line(says: str) -> str:
    return f"{says} {sha256(says.encode()).hexdigest()[:_DIGITS]}"


def _read(path: str, number: int, line: str) -> tuple[str, str]:
    """Return the note and the memory that a line names."""
    says = line.rpartition(" ")[0]
    if _line(says) != line:
        raise DamagedFile(
            f"line {number} of {path} is damaged, so a restore could bring back what was purged: delete the line,"
            " and after a restore `memman purge` it again"
        )
    _, note, memory = says.split(" ")
    return note, memory


def tombstones_path(data: str) -> str:
    """Return the path of the file."""
    return data + "/purged"
