"""What a page shows, and what a button did."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class View(NamedTuple):
    """A page: a heading, HTML, and the same as data."""

    title: str
    body: str
    data: Any


class Done(NamedTuple):
    """What an action did: a sentence, the action that takes it back with its values, and the command that does."""

    says: str
    undo: str = ""
    values: Mapping[str, str] = {}
    command: str = ""
