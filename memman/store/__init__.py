"""What a store is read as: rows, and with them the columns that are asked for. Safe on the hot path."""

from memman.sqlite import Row


class MemoryRow(Row):
    """A memory; times are Unix milliseconds, lists JSON."""

    __slots__ = ()
    id: int
    uid: str
    note: str
    text: str
    category: str
    importance: int
    entities: str
    keywords: str
    summary: str
    source: str
    origin: str
    valid_from: int
    valid_to: "int | None"
    recorded_at: int
    retired_at: "int | None"
    status: str
    superseded_by: "int | None"
    uses: int


class EdgeRow(Row):
    """An edge as seen from one of its ends: `near` is the memory that was asked about, `far` the other."""

    __slots__ = ()
    src: int
    kind: str
    dst: int
    weight: float
    detail: str
    near: int
    far: int
