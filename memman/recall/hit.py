"""One recall result and what speaks for it. Safe on the hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Hit:
    """A memory, or a note that is not drained yet, with its score and the factors behind it.

    `row` is the memory in the order of the reader's ROW. `text_score` is BM25,
    `cosine` in [-1, 1], `coverage` the share of the query's words in the text,
    `likeness` of its words to the query's, `session` what the best hit of its
    session adds to its score, `via` the edge that led here, `confidence` how
    likely it is what was asked for, and whether that is `doubtful`, `alike` the
    uids of hits that say the same, `behind` the hit that took its place,
    `maybe_replaced_by` the uid of the memory that may have, `rerank` what a
    reranker gave it.
    """

    __slots__ = (
        "alike",
        "behind",
        "confidence",
        "cosine",
        "coverage",
        "doubtful",
        "former",
        "id",
        "likeness",
        "maybe_replaced_by",
        "meaning_rank",
        "pending",
        "rerank",
        "row",
        "score",
        "session",
        "stands_for",
        "text_rank",
        "text_score",
        "via",
    )

    def __init__(self, id: int) -> None:  # noqa: A002 - the row's own name
        self.id = id
        self.score = self.text_score = self.coverage = 0.0
        self.confidence, self.doubtful = 1.0, False
        self.cosine: float | None = None
        self.text_rank = self.meaning_rank = 0
        self.via: tuple[str, int] | None = None
        self.likeness = self.session = 0.0
        self.stands_for: int | None = None
        self.behind: int | None = None
        self.maybe_replaced_by: str | None = None
        self.former: tuple[Any, ...] | None = None
        self.pending = False
        self.alike: tuple[str, ...] = ()
        self.rerank: float | None = None
        self.row: tuple[Any, ...] = ()
