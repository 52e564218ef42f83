"""Nearness of stored vectors where the sqlite-vec extension cannot be loaded. Safe on the hot path."""

from _operator import mul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(code: bytes, rows: "Iterable[tuple[int, bytes]]", limit: int) -> list[tuple[int, int]]:
    """Return (id, Hamming distance) of the sign codes nearest to `code`, ties by id."""
    pairs = list(rows)
    wanted = int.from_bytes(code, "big")
    distances = [(int.from_bytes(other, "big") ^ wanted).bit_count() for _, other in pairs]
    # Sorting small integers to find the cut, and then only what lies within it, halves the cost of sorting pairs.
    cut = sorted(distances)[limit - 1] if len(pairs) > limit else len(code) * 8
    within = [(distance, pair[0]) for distance, pair in zip(distances, pairs, strict=True) if distance <= cut]
    return [(memory, distance) for distance, memory in sorted(within)[:limit]]


def cosines(vector: bytes, rows: "Iterable[tuple[int, bytes]]") -> dict[int, float]:
    """Return the cosine between an int8 `vector` and each of `rows`, none where either is zero."""
    one = memoryview(vector).cast("b").tolist()
    norm = sum(map(mul, one, one))
    found: dict[int, float] = {}
    for memory, blob in rows:
        other = memoryview(blob).cast("b").tolist()
        norms = norm * sum(map(mul, other, other))
        if norms:
            found[memory] = sum(map(mul, one, other)) / norms**0.5
    return found
