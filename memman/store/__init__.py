"""What a store is read as: rows, with the columns that are asked for, and values. Safe on the hot path."""

from memman.sqlite import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self, dataclass_transform
else:
    dataclass_transform = lambda: lambda cls: cls  # noqa: E731 - typing would cost the start of each recall


@dataclass_transform()
class Value:
    """Parts given by their place or name, or else as the class has them. None is changed once it is made."""

    parts: "ClassVar[dict[str, None]]" = {}  # noqa: RUF012 - typing would cost each recall its import

    def __init_subclass__(cls) -> None:
        cls.parts = cls.parts | dict.fromkeys(cls.__annotations__)

    def __init__(self, *parts: "Any", **named: "Any") -> None:
        self.__dict__.update(zip(self.parts, parts, strict=False), **named)
        if not self.parts.keys() >= self.__dict__.keys():
            raise TypeError(f"{type(self).__name__} has no such part: {', '.join(named)}")

    def having(self, **changes: "Any") -> "Self":
        """Return the same value but for `changes`."""
        return type(self)(**self.__dict__ | changes)


# The schema of a store; whatever adds a column raises it.
SCHEMA = 11


class MemoryRow(Row):
    """A memory; times are Unix milliseconds, lists JSON.

    What a fact has under the name of a column is stored there. A column that is added needs a default.
    """

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


# The columns that are lists, and those that hold what somebody said.
LISTS = ("entities", "keywords")
TEXTS = ("text", "summary", "origin", *LISTS)


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
