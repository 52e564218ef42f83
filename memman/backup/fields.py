"""What each field of a manifest may say. Nothing of it is believed: anybody may have written it."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from memman.config.stores import valid_name

Check = Callable[[Any], bool]


def _is(kind: type) -> Check:
    return lambda said: type(said) is kind


def _below(limit: int) -> Check:
    return lambda said: type(said) is int and 0 <= said < limit


TEXT, FLAG, LIST = map(_is, (str, bool, list))
# Times end with the year 9999, as calendars do.
NUMBER, BYTES, TIME = map(_below, (2**31, 2**63, 253_402_300_800_000))


def names(said: Any) -> bool:
    """Whether it is a list of texts."""
    return isinstance(said, list) and all(map(TEXT, said))


def counts(said: Any) -> bool:
    """Whether it is a table of numbers of rows."""
    return isinstance(said, dict) and all(map(BYTES, said.values()))


def sha256(said: Any) -> bool:
    """Whether it may be a digest."""
    return isinstance(said, str) and bool(re.fullmatch("[0-9a-f]{64}", said))


def store(said: Any) -> bool:
    """Whether it may name a store, or with '' the queue."""
    return isinstance(said, str) and (not said or valid_name(said))


def checked(said: Any, table: Mapping[str, Check]) -> dict[str, Any]:
    """Return those fields of an object that a table names, if all are there and pass it. Raises ValueError."""
    for name, check in table.items():
        if not (isinstance(said, dict) and name in said and check(said[name])):
            raise ValueError(name)
    return {name: said[name] for name in table}
