"""What recall's stages hand on: an anchor, the memory read, a hit. None is changed once it is made. Hot.

How sure recall is that a hit is what was asked for goes from 0 to 1. Two things speak for a hit, each by itself: how
near it is in meaning, which was taught to mean the same in every store (docs/adr/0053), and that it holds nearly all of
the question's words, as where a name is asked for that the table does not know: of questions that nothing answers, 4 of
100 find a memory with three quarters of their words.
"""

from memman.belief import ENDED, HOLDS
from memman.store import MemoryRow, Value

# Fitted to writer 203 and bench/data/aside, for this table (docs/adr/0054).
TABLE = "memman-questions-v1"
# Weight of the cosine, and of the share of the question's words beside it or where there is no vector; and what is
# added to each.
MEANING, WORDS, WORDS_ALONE = (14.1, -5.75), (16.0, -13.5), (4.25, -2.74)
# An answer whose best hit is less sure than SILENT is none; of others, hits below FLOOR are left out. Questions
# about something else mostly stay below LOW.
SILENT = 0.05
FLOOR = 0.013
LOW = 0.18
_E = 2.718281828459045


class Anchor(Value):
    """A memory that words or meaning brought up; `stands_for` is the superseded one found in its place."""

    id: int
    score: float
    words: float = 0.0
    words_rank: int = 0
    cosine: float | None = None
    meaning_rank: int = 0
    stands_for: int | None = None


class Read(Value):
    """An anchor whose memory was read and scored; `former` is what it stands for, `behind` what took its place."""

    anchor: Anchor
    row: MemoryRow
    score: float
    former: MemoryRow | None = None
    session: float = 0.0
    maxsim: float = 0.0
    behind: int | None = None
    ended: bool = False

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


class Hit(Value):
    """A memory, or a note that is not drained yet, as it is shown.

    `cosine` is that of the built-in vector, `alike` are uids of hits that say the same, `until` is how long
    `maybe_replaced_by` stands before it, `against` what it contradicts, unconfirmed, `aside` what is told behind it,
    `standing` how it stands (`belief.standing`).
    """

    row: MemoryRow
    score: float
    confidence: float
    coverage: float = 0.0
    cosine: float | None = None
    read: Read = UNREAD
    via: tuple[str, int] | None = None
    alike: tuple[str, ...] = ()
    maybe_replaced_by: str | None = None
    against: str | None = None
    scope: str = ""
    labels: tuple[str, ...] = ()
    reliability: float | None = None
    author: str | None = None
    visibility: str | None = None
    until: int | None = None
    verified: bool = False
    aside: tuple[str, ...] = ()
    standing: int = HOLDS

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


def confidence(cosine: float | None, coverage: float) -> float:
    """Return the probability that goes with a cosine and a coverage; more of either never gives less."""
    if cosine is None:
        return _chance(coverage, WORDS_ALONE) if coverage else 0.0
    return max(_chance(cosine, MEANING), _chance(coverage, WORDS))


def _chance(value: float, fitted: tuple[float, float]) -> float:
    chance: float = 1 / (1 + _E ** -(fitted[0] * value + fitted[1]))
    return chance
