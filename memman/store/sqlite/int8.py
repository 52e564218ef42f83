"""Cosine of int8 vectors where the sqlite-vec extension cannot be loaded."""

from _operator import mul

# Byte -> its value as a two's complement number.
_SIGNED = tuple(byte - 256 if byte > 127 else byte for byte in range(256))  # noqa: PLR2004


def cosine(one: bytes, other: bytes) -> float:
    """Return the cosine of two int8 vectors of equal length, 0 when either is zero."""
    a, b = [_SIGNED[byte] for byte in one], [_SIGNED[byte] for byte in other]
    norms = sum(map(mul, a, a)) * sum(map(mul, b, b))
    return float(sum(map(mul, a, b)) / norms**0.5) if norms else 0.0
