"""What recall's stages hand on: an anchor, the memory read, a hit. None is changed once it is made. Hot."""

from memman.belief import ENDED, HOLDS
from memman.recall.confidence import LOW
from memman.store import MemoryRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self


class Stage:
    """A value with a slot for each argument that it is made of."""

    __slots__: "tuple[str, ...]" = ()

    def having(self, **changes: "Any") -> "Self":
        """Return the same value but for `changes`."""
        return type(self)(**{name: getattr(self, name) for name in self.__slots__} | changes)


class Anchor(Stage):
    """A memory that words or meaning brought up; `stands_for` is the superseded one found in its place."""

    __slots__ = ("cosine", "id", "meaning_rank", "score", "stands_for", "words", "words_rank")

    def __init__(
        self,
        id: int,  # noqa: A002 - the row's own name
        score: float,
        words: float = 0.0,
        words_rank: int = 0,
        cosine: float | None = None,
        meaning_rank: int = 0,
        stands_for: int | None = None,
    ) -> None:
        self.id, self.score, self.stands_for = id, score, stands_for
        self.words, self.words_rank = words, words_rank
        self.cosine, self.meaning_rank = cosine, meaning_rank


class Read(Stage):
    """An anchor whose memory was read and scored; `former` is what it stands for, `behind` what took its place."""

    __slots__ = ("anchor", "behind", "ended", "former", "maxsim", "row", "score", "session")

    def __init__(
        self,
        anchor: Anchor,
        row: MemoryRow,
        score: float,
        former: MemoryRow | None = None,
        session: float = 0.0,
        maxsim: float = 0.0,
        behind: int | None = None,
        ended: bool = False,
    ) -> None:
        self.anchor, self.row, self.score, self.former = anchor, row, score, former
        self.session, self.maxsim, self.behind, self.ended = session, maxsim, behind, ended

    @property
    def id(self) -> int:
        """The memory."""
        return self.anchor.id

    @property
    def place(self) -> int:
        """The memory whose vector stands for it."""
        return self.anchor.stands_for or self.anchor.id


# How a note that waits was found, or a memory that another one brought along.
UNREAD = Read(Anchor(0, 0.0), MemoryRow(), 0.0)


class Hit(Stage):
    """A memory, or a note that is not drained yet, as it is shown.

    `cosine` is that of the built-in vector, `alike` are uids of hits that say the same, `until` is how long
    `maybe_replaced_by` stands before it, `against` what it contradicts, unconfirmed, `aside` what is told behind it,
    `standing` how it stands (`belief.standing`).
    """

    __slots__ = (
        "against", "alike", "aside", "author", "confidence", "cosine", "coverage", "labels", "maybe_replaced_by",
        "read", "reliability", "row", "scope", "score", "standing", "until", "verified", "via", "visibility",
    )  # fmt: skip

    def __init__(
        self,
        row: MemoryRow,
        score: float,
        confidence: float,
        coverage: float = 0.0,
        cosine: float | None = None,
        read: Read = UNREAD,
        via: tuple[str, int] | None = None,
        alike: tuple[str, ...] = (),
        maybe_replaced_by: str | None = None,
        against: str | None = None,
        scope: str = "",
        labels: tuple[str, ...] = (),
        reliability: float | None = None,
        author: str | None = None,
        visibility: str | None = None,
        until: int | None = None,
        verified: bool = False,
        aside: tuple[str, ...] = (),
        standing: int = HOLDS,
    ) -> None:
        self.row, self.score, self.confidence = row, score, confidence
        self.coverage, self.cosine, self.read, self.via = coverage, cosine, read, via
        self.alike, self.maybe_replaced_by, self.against = alike, maybe_replaced_by, against
        self.scope, self.labels, self.reliability = scope, labels, reliability
        self.author, self.visibility, self.until, self.verified = author, visibility, until, verified
        self.aside, self.standing = aside, standing

    @property
    def id(self) -> int:
        """The row of a memory, 0 for a note."""
        return self.row.id

    @property
    def pending(self) -> bool:
        """Whether it is a note."""
        return self.row.status == "pending"

    @property
    def doubtful(self) -> bool:
        """Whether it is as likely about something else."""
        return self.confidence < LOW

    @property
    def ended(self) -> bool:
        """Whether it is past its end."""
        return self.standing == ENDED

    @property
    def after(self) -> str | None:
        """The uid of the memory that stands before it."""
        return self.against or self.maybe_replaced_by

    @property
    def behind(self) -> int | None:
        """The memory that took its place."""
        return self.read.behind
