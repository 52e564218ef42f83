"""The store a command means, opened to read or to write; what it says there, and to whom, is settled here alone."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from memman.clock import now_ms
from memman.config import scope, stores
from memman.config.drain_by_write import ask
from memman.config.places import check_folder, data_dir, store_path
from memman.config.schedule import refuse_stopped
from memman.locks import steady
from memman.model.errors import AmbiguousId, UnknownId, UsageError
from memman.model.records import Note, Provenance, Scope
from memman.model.text import SHORT_ID
from memman.model.vocabulary import WITHHELD
from memman.queue.view import QueueView
from memman.store import MemoryRow
from memman.store.sqlite import beliefs
from memman.store.sqlite.catalogue import Catalogue, freshness
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.rules import VERB as RULE
from memman.store.sqlite.scopes import kept

if TYPE_CHECKING:
    from memman.config.scope import Here
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.unit import SqliteUnit

FLAG = "--store"
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """The store a command means and why (--store, MEMMAN_STORE, binding, active, default), its agent and session."""

    data: str
    name: str
    why: str
    agent: str = ""
    session: str = ""

    @property
    def named(self) -> bool:
        """Whether --store named it."""
        return self.why == FLAG

    @property
    def path(self) -> str:
        """Where its database is."""
        return store_path(self.data, self.name)

    @property
    def exists(self) -> bool:
        """Whether it has a database."""
        return stores.exists(self.data, self.name)


def chosen(explicit: str | None = None, agent: str = "", session: str = "") -> Place:
    """Work out which store is meant. Raises UsageError for a bad name, CannotWrite for an unusable data folder."""
    data, here = data_dir(), stores.here()
    check_folder(data)
    name = stores.resolve(data, explicit, here)
    asked = (
        (FLAG, explicit),
        ("MEMMAN_STORE", os.environ.get("MEMMAN_STORE")),
        ("binding", stores.bindings(data).get(here.common) if here else None),
        ("active", stores.active(data) != stores.DEFAULT),
    )
    return Place(data, name, next((why for why, said in asked if said), "default"), agent, session)


def standing() -> "Here":
    """Return where the command is given: in which repository, and in which folder of it."""
    return scope.here(data_dir(), stores.here(), stores.cwd())


def note_of(row: Mapping[str, Any]) -> Note:
    """Return the note of a row of the queue, by whom and where it was made."""
    stamped = (row[name] for name in ("source", "agent", "session", "cwd", "repository", "revision", "host", "user"))
    return Note(row["uid"], row["store"], row["text"], row["queued_at"], provenance=Provenance(*stamped))


def absolute(folder: str) -> str:
    """Return the whole name of a folder. Raises UsageError for an empty one, and where the working folder is gone."""
    if not folder:
        raise UsageError("the name of the folder is empty: give one, or . for the folder you are in")
    try:
        return os.path.abspath(folder)
    except FileNotFoundError as error:
        raise UsageError("the folder you are in was deleted: go to another one first") from error


def made_in(folder: str) -> dict[str, str]:
    """Return where notes are made that were read in a folder."""
    user = os.environ.get("USER") or os.environ.get("LOGNAME") or str(os.getuid())
    return {"host": os.uname().nodename, "user": user, "cwd": os.path.realpath(folder), "revision": ""}


def expected(place: Place) -> Place:
    """Return the store; raise UnknownStore where it is not there and no note waits for it. The default one may come."""
    if place.name != stores.DEFAULT and not place.exists:
        with closing(QueueView(place.data)) as queue:
            if not queue.of(place.name):
                raise stores.unknown(place.data, place.name)
    return place


@contextmanager
def opened(place: Place) -> Iterator["Opened"]:
    """Open the store, and the queue, to read. Raises UnknownStore where `expected` does."""
    with closing(QueueView(place.data)) as queue:
        queue.hold()  # before the store is read: a note drained in between is seen twice, and never not at all
        with Catalogue.open(expected(place).path) as catalogue:
            yield Opened(place, catalogue.reader, queue)


def steadily(work: Callable[Concatenate[Place, P], T]) -> Callable[Concatenate[Place, P], T]:
    """Have a function that changes a store find what it is about in the very store that it changes."""

    @wraps(work)
    def alone(place: Place, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with steady(place.data):
            return work(place, *args, **kwargs)

    return alone


@contextmanager
def writing(place: Place) -> Iterator["SqliteStore"]:
    """Open the store to write, made on first use, and ask for a drain where vectors are outdated. Loads numpy."""
    from memman.store.reach import refuse_reading
    from memman.store.sqlite.store import open_store
    from memman.store.sqlite.vectors import outdated

    refuse_reading(place.data, place.name)
    with closing(open_store(place.data, place.name)) as store:
        store.by = {"agent": place.agent, "session": place.session}
        yield store
        if outdated(store.db, 1):
            ask(place.data)


Records = list[dict[str, Any]]
# Changes one memory at a moment; False where there is nothing to change.
Change = Callable[["SqliteStore", "SqliteUnit", int, int], bool]

# Shorter ones are named by accident too easily: among 1000 memories four digits are unambiguous 98 times of 100.
SHORTEST = 4
# The ids of notes are that long, those of memories are shorter.
LONGEST = 32
_CANDIDATES = 5
# Who did what a line of the log says, in its later side.
_WHO = ("agent", "session")
# What an agent is told of a memory that is held back, in place of what it says.
_SAYS: dict[str, Any] = {"text": WITHHELD, "summary": "", "entities": [], "keywords": []}


@dataclass(frozen=True, slots=True)
class Named:
    """What one id names: rows of memories, or in `note` the uid of a note that waits; `uid` is the whole id."""

    uid: str
    memories: tuple[int, ...] = ()
    note: str = ""


class Opened(Catalogue):
    """A store as a verb reads it: which memories are meant, and what of them may be told to who asks.

    An agent is told what holds where it works, unless it says where, and not what a memory says that is held back.
    """

    def __init__(self, place: Place, reader: SqliteReader, queue: QueueView) -> None:
        super().__init__(reader, place.path)
        self.place, self.queue, self.db = place, queue, reader.db
        self.data, self.name = place.data, place.name

    def scopes_meant(self, said: str | None = None) -> frozenset[int] | None:
        """Return the scopes that `said` names, None for all: a repository with its folders, or one folder.

        `here` are those whose memories recall finds where the command is given, and what an agent means who says
        nothing: what one customer's repository holds is not read in another's by chance.
        """
        said = said or ("here" if self.place.agent else "all")
        if said == "all":
            return None
        if said == "here":
            return self.reader.scopes(standing())
        scope = self.meant(said)
        return self.reader.holding(scope.repository, scope.path)

    def within(self, rows: Collection[int], said: str | None = None) -> Collection[int]:
        """Return those of `rows` that hold in the scopes that `said` names."""
        scopes = self.scopes_meant(said)
        return rows if scopes is None else kept(self.db, rows, scopes)

    def meant(self, to: str) -> Scope:
        """Return the scope that is `personal`, `repository`, `path:FOLDER` or the label of one that there is."""
        if to == scope.PERSONAL:
            return Scope()
        if to == scope.REPOSITORY or to.startswith(scope.PATH):
            said, here = scope.asked(to), standing()
            if not here.repository:
                raise UsageError(
                    "what is said at home holds everywhere: go to the folder that memories are to be moved to"
                )
            return Scope(here.repository, said.removeprefix(scope.PATH) if said.startswith(scope.PATH) else "")
        known = [one for one, _ in self.scopes() if to in {scope.label(*one), one.repository}]
        if len(known) != 1:
            why = "several scopes are called" if known else "there is no scope"
            raise UsageError(f"{why} {to!r}: give personal, repository, path:FOLDER, or one of `memman scope list`")
        return known[0]

    def find(self, part: str) -> Named:
        """Find what `part` names. Raises UsageError, UnknownId and AmbiguousId."""
        part = checked(part)
        stored = _stored(part, self.named(part))
        known = {one.uid for one in stored}  # a note whose drain died before it said so is in the queue, too
        found = [*stored, *(Named(uid, note=uid) for uid in self.queue.named(self.name, part) if uid not in known)]
        exact = [one for one in found if one.uid == part]
        if len(exact or found) == 1:
            return (exact or found)[0]
        if not found:
            raise UnknownId(f"store {self.name!r} has no memory or queued note with the id {part}")
        raise AmbiguousId(f"{part} is ambiguous, give more characters: {_candidates(found, part)}")

    def find_all(self, parts: Sequence[str]) -> list[Named]:
        """Find what each of `parts` names, all before anything is done with the first."""
        return list(dict.fromkeys(map(self.find, parts)))

    def rows_of(self, parts: Sequence[str]) -> list[int]:
        """Return the rows of the memories that `parts` name, each once. Raises also where one names a note."""
        found = self.find_all(parts)
        for one in found:
            _refuse_note(one)
        return list(dict.fromkeys(memory for one in found for memory in one.memories))

    def row_of(self, part: str) -> int:
        """Return the row of the one memory that `part` names. Raises also where it names a note."""
        rows = self.rows_of([part])
        if len(rows) > 1:
            uids = ", ".join(memory["uid"][:SHORT_ID] for memory in self.memories(rows))
            raise AmbiguousId(f"{part} is a note that became several memories, give one of: {uids}")
        return rows[0]

    def described(self, parts: Sequence[str]) -> Records:
        """Return the memories, and the notes that wait, that `parts` name, each with its kind."""
        return [
            record
            for one in self.find_all(parts)
            for record in (
                [{"kind": "note"} | self.queue.show(one.note)]
                if one.note
                else [{"kind": "memory"} | record for record in self.memories(one.memories)]
            )
        ]

    def log(self, *, limit: int, since: int | None = None, memory: str | None = None) -> Records:
        """Return lines of the log as a catalogue does, each with who did it, and whose word its memory is."""
        return [self._line(line) for line in super().log(limit=limit, since=since, memory=memory)]

    def _line(self, line: dict[str, Any]) -> dict[str, Any]:
        """Add to a line the agent and session, '' for a person in a shell, and how its memory stands, if it is left.

        A rule is a person's. Both sides of the change are told as far as the memory may be.
        """
        after = line["after"] or {}
        ran = {name: after[name] for name in _WHO if name in after}
        came = ran or (self.receipt(line["note"]) if line["note"] else None) or {}
        line |= {name: came.get(name, "") for name in _WHO}
        line["after"] = {name: said for name, said in after.items() if name not in _WHO} or None
        for side in ("before", "after"):
            line[side] = line[side] and veiled(self.place, self.reader, line[side], line["memory"])
        if line["verb"].startswith(RULE):
            return line | {"source": "user"}
        for memory in self.memories([*self.reader.located([line["memory"]])][:1]):
            return line | {name: memory[name] for name in ("source", "scope", "ends_at", "file_changed_at")}
        return line | {"source": ""}

    def why_held(self, record: dict[str, Any]) -> dict[str, str]:
        """Say why a memory is held back, where it is, as far as it shows."""
        if record["status"] != "review":
            return {}
        from memman.pipeline.injection import STEERS, planted

        said = beliefs.why(self.reader, record["uid"]) or planted(self.reader.texts([record["id"]])[record["id"]])
        return {"why": said or f"{STEERS}, or hid text"}

    def _records(self, rows: Sequence[MemoryRow]) -> Records:
        return [veiled(self.place, self.reader, record, record["uid"]) for record in super()._records(rows)]


def _refuse_note(one: Named) -> None:
    if one.note:
        uid = one.note[-SHORT_ID:]
        raise UnknownId(f"{uid} is a note still in the queue, not a memory yet: try again after the next drain")


def _stored(part: str, rows: Iterable[tuple[int, str, str]]) -> list[Named]:
    """Group memories: each by its own uid where that begins with `part`, the rest by their note."""
    notes: dict[str, tuple[int, ...]] = {}
    for row, uid, note in rows:
        name = uid if uid.startswith(part) else note
        notes[name] = (*notes.get(name, ()), row)
    return [Named(uid, memories) for uid, memories in notes.items()]


def checked(part: str) -> str:
    """Return what may be an id, in small letters. Raises UsageError."""
    if not (part.isascii() and part.isalnum() and SHORTEST <= len(part) <= LONGEST):
        raise UsageError(f"{part[:40]!a} is not an id: ids are {SHORTEST} to {LONGEST} letters and digits")
    return part.lower()


def _candidates(found: Sequence[Named], part: str) -> str:
    """Name the first few, each with enough digits to tell it from the others."""
    shown = [
        one.uid[-SHORT_ID - 4 :] if len(one.uid) == LONGEST else one.uid[: len(part) + 4] for one in found[:_CANDIDATES]
    ]
    return ", ".join(shown) + (" and others" if len(found) > _CANDIDATES else "")


def veiled(place: Place, reader: SqliteReader, record: dict[str, Any], uid: str) -> dict[str, Any]:
    """Return what may be told of a memory: less if an agent asks and nobody approved it."""
    if not (place.agent and reader.held_back(uid)):
        return record
    return record | {name: said for name, said in _SAYS.items() if name in record}


def refuse_held(part: str, status: str) -> None:
    """Raise UsageError for a memory that is held back."""
    if status == "review":
        raise UsageError(f"{part[:SHORT_ID]} is held back for review: approve it first with `memman review approve`")


def acted(place: Place, reader: SqliteReader, changed: Mapping[int, bool]) -> Records:
    """Return a record for each memory, by row, with whether it was changed."""
    rows, fresh = reader.rows(changed), freshness(reader, changed)
    return [
        veiled(place, reader, {"id": rows[row].uid, "text": rows[row].text, "changed": did} | fresh[row], rows[row].uid)
        for row, did in changed.items()
    ]


@steadily
def changed(place: Place, parts: Sequence[str], verb: str, change: Change) -> Records:
    """Change the memories that the ids name, in one transaction; return a record for each."""
    refuse_stopped(place.data, verb)
    rows = rows_of(place, parts)
    with writing(place) as store:
        now = now_ms()
        with store.unit() as unit:
            done = {memory: change(store, unit, memory, now) for memory in rows}
        return acted(place, store.reader, done)


def rows_of(place: Place, parts: Sequence[str]) -> list[int]:
    """Return the rows of the memories that `parts` name in a store that is opened for it."""
    with opened(place) as store:
        return store.rows_of(parts)


def asked_about(place: Place, parts: Sequence[str]) -> Records:
    """Return what a person is asked about, as `Opened.described` does."""
    with opened(place) as store:
        return store.described(parts)
