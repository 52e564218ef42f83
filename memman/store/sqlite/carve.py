"""Rows found on the pages of a file themselves, whatever is left of the tree that led to them.

Only for rows that carry a digest: nothing else tells a row from what looks like one. The format is SQLite's
(sqlite.org/fileformat2.html): table leaves, records, overflow chains.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

_TABLE_LEAF = 13
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_TEXT = 13
_HEADER = 100


def carved(data: bytes, page_size: int, reserved: int, columns: int, more: int = 0) -> Iterator[tuple[Any, ...]]:
    """Yield (row id, values…) of whatever looks like a row of so many columns on any page that is in use.

    `more` columns may follow, which a later schema has added; they are left out.
    """
    free = _free(data, page_size)
    for number in range(len(data) // page_size):
        if number + 1 in free:
            continue
        start = number * page_size
        head = start + (_HEADER if number == 0 else 0)
        if data[head] != _TABLE_LEAF:
            continue
        for n in range(int.from_bytes(data[head + 3 : head + 5], "big")):
            place = int.from_bytes(data[head + 8 + 2 * n : head + 10 + 2 * n], "big")
            with suppress(ValueError, IndexError, struct.error):
                row = _row(data, start + place, page_size, reserved)
                if columns <= len(row) <= columns + more:
                    yield row[:columns]


def _free(data: bytes, page_size: int) -> set[int]:
    """Return the pages that hold nothing any more: what was deleted must not come back."""
    free: set[int] = set()
    trunk = int.from_bytes(data[32:36], "big")
    while trunk and trunk not in free and trunk * page_size <= len(data):
        start = (trunk - 1) * page_size
        count = min(int.from_bytes(data[start + 4 : start + 8], "big"), page_size // 4 - 2)
        free |= {trunk, *struct.unpack_from(f">{count}I", data, start + 8)}
        trunk = int.from_bytes(data[start : start + 4], "big")
    return free


def _row(data: bytes, at: int, page_size: int, reserved: int) -> tuple[Any, ...]:
    size, at = _varint(data, at)
    rowid, at = _varint(data, at)
    values = _record(_payload(data, at, size, page_size, page_size - reserved))
    return (rowid, *values[1:])


def _payload(data: bytes, at: int, size: int, page_size: int, usable: int) -> bytes:
    """Return the bytes of a record: those on its leaf, and those of its overflow pages."""
    if size > len(data):
        raise ValueError(size)
    most, least = usable - 35, (usable - 12) * 32 // 255 - 23
    here = least + (size - least) % (usable - 4)
    here = size if size <= most else here if here <= most else least
    parts, left = [data[at : at + here]], size - here
    at += here
    while left > 0:
        page = int.from_bytes(data[at : at + 4], "big")
        if not page:
            raise ValueError(page)
        at = (page - 1) * page_size
        parts.append(data[at + 4 : at + 4 + min(left, usable - 4)])
        left -= usable - 4
    return b"".join(parts)


def _record(payload: bytes) -> list[Any]:
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values = []
    for kind in kinds:
        size = _INTEGERS.get(kind, 8 if kind == 7 else max(0, kind - 12) // 2)  # noqa: PLR2004 - 7 is a real number
        values.append(_value(kind, payload[at : at + size]))
        at += size
    return values


def _value(kind: int, raw: bytes) -> Any:
    if kind >= _TEXT and kind % 2:
        return raw.decode()
    if kind in _INTEGERS:
        return int.from_bytes(raw, "big", signed=True)
    return {0: None, 8: 0, 9: 1}.get(kind, raw)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(9):
        byte = data[at + n]
        if n == 8:  # noqa: PLR2004 - the ninth byte counts whole
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004 - the last byte of a varint
            return value, at + n + 1
    raise ValueError(at)
