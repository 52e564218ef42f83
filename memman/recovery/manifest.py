"""What a backup says of itself, and which backups there are."""

import json
import os
import time
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from memman.config.places import read_file
from memman.config.stores import valid_name
from memman.model.errors import AmbiguousId, DamagedFile, UnknownId
from memman.model.objects import parsed, typed

NEWEST = "latest"
# What is counted: the memories that hold, as everywhere where memories are counted.
CURRENT = "current"
_STAMP = "%Y%m%dT%H%M%SZ"
_STAMP_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Part:
    """One database of a backup: that of `store`, or with '' the queue; `rows` has CURRENT."""

    file: str
    store: str
    schema: int
    bytes: int
    sha256: str
    rows: dict[str, int]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds. `number` tells the order they were taken in, which a clock that jumps does not.

    `active` and `bindings` are those files' text, and so are `purged`, `purged_key` and `purged_texts`, by which what
    was purged is known again.
    """

    id: str
    number: int
    at: int
    label: str
    automatic: bool
    taken_by: str
    memman: str
    active: str
    bindings: str
    purged: str
    purged_key: str
    purged_texts: str
    parts: tuple[Part, ...]

    @classmethod
    def load(cls, folder: str) -> "Manifest":
        """Read the manifest in `folder`, if its digest fits and it names a backup's files. Raises DamagedFile."""
        path = manifest_path(folder)
        try:
            sound = typed(cls, _intact(parsed(read_file(path)) or {}))
            parts = tuple(Part(**typed(Part, part)) for part in sound["parts"])
            found = cls(**sound | {"parts": parts})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise DamagedFile(f"{path} was changed or is damaged, so the backup's contents are unknown") from error
        if found.id != os.path.basename(folder):
            raise DamagedFile(f"{path} belongs to backup {found.id[:80]!a}: rename the folder back to that")
        names = dict.fromkeys(part.store for part in parts)
        if [part.file for part in parts] != [part_file(name) for name in names if not name or valid_name(name)]:
            raise DamagedFile(f"{path} lists files that do not belong to a backup")
        return found

    def text(self) -> str:
        """Write the manifest."""
        said = asdict(self)
        return json.dumps(said | {"digest": _digest(said)}, ensure_ascii=False, indent=2) + "\n"

    @property
    def stores(self) -> dict[str, Part]:
        """The stores it holds, by name."""
        return {part.store: part for part in self.parts if part.store}

    @property
    def memories(self) -> int:
        """How many memories hold in its stores."""
        return sum(part.rows.get(CURRENT, 0) for part in self.parts)

    @property
    def queue(self) -> Part | None:
        """The queue it holds."""
        return next((part for part in self.parts if not part.store), None)


def part_file(store: str) -> str:
    """Return where the copy of a store, or with '' of the queue, is in a backup's folder."""
    return f"stores/{store}.db" if store else "queue.db"


def backups_path(data: str) -> str:
    """Return the folder that backups are in."""
    return data + "/backups"


def manifest_path(folder: str) -> str:
    """Return the path of a backup's manifest."""
    return folder + "/manifest.json"


def new_id(at: int, label: str) -> str:
    """Name a backup taken at `at` (Unix milliseconds)."""
    stamp = time.strftime(_STAMP, time.gmtime(at / 1000))
    return f"{stamp}-{label}" if label else stamp


def listed(data: str) -> dict[str, Manifest | None]:
    """Return every backup by its id, the last taken first; None for one whose manifest cannot be read."""
    try:
        names = [name for name in os.listdir(backups_path(data)) if _is_id(name)]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found = {name: _loaded(f"{backups_path(data)}/{name}") for name in names}
    return dict(sorted(found.items(), key=lambda item: (item[1].number if item[1] else 0, item[0]), reverse=True))


def found(data: str, part: str) -> str:
    """Return the id that `part` begins, or that of the last backup for 'latest'. Raises UnknownId, AmbiguousId."""
    ids = list(listed(data))
    named = ids[:1] if part == NEWEST else [part] if part in ids else [name for name in ids if name.startswith(part)]
    if not named:
        raise UnknownId(f"there is no backup {part[:80]!a}: `memman backup list` shows them")
    if len(named) > 1:
        raise AmbiguousId(f"{part} is ambiguous, give more characters: {', '.join(sorted(named)[:5])}")
    return named[0]


def _is_id(name: str) -> bool:
    stamp = name[:_STAMP_LENGTH]
    return len(stamp) == _STAMP_LENGTH and stamp[8] == "T" and stamp[-1] == "Z" and (stamp[:8] + stamp[9:-1]).isdigit()


def _loaded(folder: str) -> Manifest | None:
    try:
        return Manifest.load(folder)
    except DamagedFile:
        return None


def _intact(said: dict[str, Any]) -> dict[str, Any]:
    """Return what a manifest says beside its digest. Raises ValueError where that is not what was written."""
    if said.pop("digest", None) != _digest(said):
        raise ValueError("digest")
    return said


def _digest(said: dict[str, Any]) -> str:
    """Return the SHA-256 of all that a manifest says but this."""
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
