"""What is relevant at all. Safe on the hot path."""

from memman.recall.confidence import FLOOR, SILENT, Judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memman.embed.static import StaticTable
    from memman.recall.hit import Hit
    from memman.store.sqlite.reader import SqliteReader

# Hits looked at closely; no recall shows more.
CLOSE = 80


def gated(
    reader: "SqliteReader",
    table: "StaticTable",
    hits: "list[Hit]",
    query: str,
    limit: int,
    least: float | None = None,
    told: "Callable[[str], str]" = str,
) -> "list[Hit]":
    """Keep the first `limit` hits with evidence; nothing relevant gives nothing.

    With `least` every hit must be so sure, and that alone decides. Hits come
    best first and with their rows; none beyond those that are kept is looked at.
    """
    judge = Judge(reader, table, query, hits, told)
    floor = FLOOR if least is None else least
    kept: list[Hit] = []
    passed: set[int] = set()
    for hit in hits:
        if len(kept) == limit:
            break
        if hit.behind and hit.behind not in passed:
            continue
        judge.weigh(hit)
        if hit.confidence >= floor:
            passed.add(hit.id)
            kept.append(hit)
    if least is None and max((hit.confidence for hit in kept), default=0.0) < SILENT:
        return []
    return kept
