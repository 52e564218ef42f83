"""What sessions reported of a memory moves its hit a little, never further than the clamp. Safe on the hot path."""

from memman.belief import factor, reliability, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.hit import Hit
    from memman.store.sqlite.reader import SqliteReader


def weighed(reader: "SqliteReader", hits: "list[Hit]", as_of: int | None = None) -> "list[Hit]":
    """Return the hits with scores moved by evidence; superseded ones move along, ended ones stay below."""
    evidence = reader.evidence(hit.id for hit in hits) if hits else {}
    reliable = {
        memory: reliability(*sessions(piece for piece in pieces if as_of is None or piece[2] <= as_of))
        for memory, pieces in evidence.items()
    }
    if not reliable:
        return hits
    moved = [
        hit.having(
            score=hit.score * factor(reliable.get(hit.id if hit.behind is None else hit.behind, 0.5)),
            reliability=reliable.get(hit.id),
        )
        for hit in hits
    ]
    return sorted(moved, key=lambda hit: (hit.read.ended, -hit.score))
