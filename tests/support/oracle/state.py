"""What the oracle keeps, and what of a row an undo puts back."""

from dataclasses import dataclass, field, fields
from typing import Any

from memman.model.records import Fingerprint, Scope
from memman.store import MemoryRow

SUPERSEDES = ("status", "valid_to", "retired_at", "superseded_by")
# What a memory is that nothing has retired, in the columns that superseding it sets.
HOLDS = ("current", None, None, None)
# What an undo puts back, as the attributes of a State.
TRACKED = ("memories", "meta", "links", "evidence", "freshness", "files")


@dataclass
class State:
    """All that is stored; no value in it is ever changed, only replaced, so that a shallow copy keeps it."""

    memories: dict[int, MemoryRow] = field(default_factory=dict)
    receipts: dict[str, dict[str, Any]] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)
    scopes: dict[int, Scope] = field(default_factory=dict)
    named: dict[int, frozenset[str]] = field(default_factory=dict)
    aliases: dict[int, frozenset[tuple[str, str]]] = field(default_factory=dict)
    # (from, kind, to) -> (weight in ten-thousandths, detail)
    links: dict[tuple[int, int, int], tuple[int, str]] = field(default_factory=dict)
    evidence: dict[tuple[int, str, str], tuple[int]] = field(default_factory=dict)
    freshness: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    files: dict[tuple[int, str], tuple[str, int | None]] = field(default_factory=dict)
    embedders: dict[Fingerprint, int] = field(default_factory=dict)
    # memory -> for whom it is, where that was said
    visibility: dict[int, str] = field(default_factory=dict)
    # first row of a run -> what linked its memories; no undo takes it back
    linkers: dict[int, str] = field(default_factory=dict)
    # (embedder, memory) -> (planes, squared length)
    vectors: dict[tuple[int, int], tuple[bytes, int]] = field(default_factory=dict)
    # memory -> its words in each column of the index
    index: dict[int, dict[str, list[str]]] = field(default_factory=dict)
    rejected: dict[bytes, int] = field(default_factory=dict)
    log: dict[int, dict[str, Any]] = field(default_factory=dict)
    # note -> what its transaction changed of older memories: (table, key) -> (before, after)
    images: dict[str, dict[tuple[str, Any], tuple[Any, Any]]] = field(default_factory=dict)
    # The last number that memories, and lines of the log, were given.
    last: tuple[int, int] = (0, 0)

    def copy(self) -> "State":
        """Return the same, to be changed by itself."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return State(**{name: dict(value) if isinstance(value, dict) else value for name, value in values.items()})


def said(state: State, table: str, key: Any) -> Any:
    """Return what a row says, as far as an undo goes; None where there is none."""
    row = getattr(state, table).get(key)
    return tuple(getattr(row, name) for name in SUPERSEDES) if table == "memories" and row else row


def alike(table: str, one: Any, other: Any) -> bool:
    """Whether two values of a row say the same; of a file only what it holds tells whether somebody changed it."""
    return (one and one[0]) == (other and other[0]) if table == "files" else one == other


def named(table: str, key: Any) -> tuple[int, ...]:
    """Return the memories that a key names."""
    if table == "meta":
        return ()
    return key[::2] if table == "links" else key[:1] if isinstance(key, tuple) else (key,)
