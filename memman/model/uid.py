"""Ids of notes and acts. Safe on the hot path."""

import os


def new_uid(now_ms: int) -> str:
    """Make a UUIDv7 (RFC 9562) as 32 hexadecimal digits: sortable by time, 74 bits of chance."""
    chance = int.from_bytes(os.urandom(10), "big")
    value = now_ms << 80 | 7 << 76 | (chance >> 62 & 0xFFF) << 64 | 2 << 62 | chance & (1 << 62) - 1
    return f"{value:032x}"


def kept_uid(says: str) -> str:
    """Make a UUIDv8 of what names a note that is imported, or what a turn left: it is the same each time."""
    from hashlib import blake2b

    value = blake2b(says.encode(errors="replace"), digest_size=16).hexdigest()
    return f"{value[:12]}8{value[13:16]}8{value[17:]}"


def memory_uid(note: str, fact: int) -> str:
    """Return the uid that fact number `fact` of a note will have as a memory: known before it is stored."""
    from hashlib import blake2b

    # 80 bits: a collision within one store needs about 10^12 memories.
    return blake2b(f"{note}/{fact}".encode(), digest_size=10).hexdigest()
