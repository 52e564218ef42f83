"""What a file of some format holds for a store: texts that become notes, or memories as they were exported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memman.belief import IMPORT
from memman.store.records import Record


@dataclass(frozen=True, slots=True)
class Export:
    """An export that was read, and what is wrong with the lines that are left out."""

    header: Mapping[str, Any]
    records: list[Record] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Item:
    """One text that becomes a note.

    `key` names it within its format for good, so that it comes in once, '' for what it says; `at` is when it was
    said (Unix milliseconds), 0 where nobody knows. `replaces` is the key of the item that it takes the place of,
    `edits` the uid of the memory. `repository` and `scope` are what
    it holds for, '' for what the command says; `folder` is the one that was worked in, '' for an unknown one, and
    `lifted` are those words of others that a person makes their own. `revision` is the commit that says it, with the
    file behind a colon where it is one. A turn has its `channel`, the agent's `reply` and the `uid` of its note.
    """

    text: str
    key: str = ""
    at: int = 0
    source: str = IMPORT
    category: str | None = None
    importance: int | None = None
    entities: tuple[str, ...] = ()
    repository: str = ""
    scope: str = ""
    folder: str = ""
    agent: str = ""
    session: str = ""
    replaces: str = ""
    edits: str = ""
    lifted: bool = False
    revision: str = ""
    channel: str = "note"
    reply: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What was read: items or an `export`; `lacks` is what stays behind."""

    items: tuple[Item, ...] = ()
    lacks: tuple[str, ...] = ()
    export: Export | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """A format: how its files are recognised and read; `personal` ones may be a person's own words."""

    name: str
    what: str
    fits: Callable[[str], bool]
    read: Callable[[str], Found]
    personal: bool = False
