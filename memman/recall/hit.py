"""One recall result and what speaks for it. Safe on the hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Hit:
    """A memory, or a note that is not drained yet, with its score and the factors behind it.

    `row` is the memory in the order of the reader's ROW. `text_score` is BM25,
    `cosine` in [-1, 1], `coverage` the share of the query's words in the text,
    `nudge` the factor by importance, age and use, `via` the edge that led here.
    """

    __slots__ = (
        "cosine",
        "coverage",
        "id",
        "meaning_rank",
        "nudge",
        "pending",
        "row",
        "score",
        "stands_for",
        "text_rank",
        "text_score",
        "via",
    )

    def __init__(self, id: int) -> None:  # noqa: A002 - the row's own name
        self.id = id
        self.score = self.text_score = self.coverage = 0.0
        self.cosine: float | None = None
        self.text_rank = self.meaning_rank = 0
        self.nudge = 1.0
        self.via: tuple[str, int] | None = None
        self.stands_for: int | None = None
        self.pending = False
        self.row: tuple[Any, ...] = ()
