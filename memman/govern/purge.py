"""Deleting what a person wants gone: out of store, queue, journal, sessions and logs, and out of the files' bytes.

A tombstone comes first and the store's own transaction last, so that a purge
which dies is either made again by its ids, or finished by the next drain.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memman.backup.lock import quiet
from memman.backup.swap import recover
from memman.backup.take import sweep
from memman.clock import now_ms
from memman.config.schedule import refuse_stopped
from memman.govern import copies, traces
from memman.govern.ids import all_named
from memman.govern.stores import Chosen, looking, writing
from memman.govern.tombstones import WHOLE, bury
from memman.model.errors import MemmanError
from memman.model.records import Note, Provenance
from memman.pipeline import context
from memman.providers import builtin_embedder
from memman.queue.notes import Queue
from memman.store.sqlite import purge as sql
from memman.upkeep.scrub import mark, scrub

if TYPE_CHECKING:
    from memman.embed import LocalEmbedder
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.unit import SqliteUnit


@dataclass(frozen=True, slots=True)
class Target:
    """What is to go: memories and waiting notes as records; `whole` are the notes of which nothing is left then."""

    memories: tuple[dict[str, Any], ...] = ()
    waiting: tuple[dict[str, Any], ...] = ()
    whole: tuple[str, ...] = ()

    @property
    def rows(self) -> list[int]:
        """The memories' rows."""
        return [memory["id"] for memory in self.memories]

    @property
    def notes(self) -> list[str]:
        """The uids of all notes concerned."""
        return list(
            dict.fromkeys([*(memory["note"] for memory in self.memories), *(row["uid"] for row in self.waiting)])
        )


@dataclass(frozen=True, slots=True)
class Receipt:
    """What went, and what still holds it: backups by id, other files by path; `scrubbed` is whether its bytes went."""

    memories: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scrubbed: bool = True
    backups: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def targeted(place: Chosen, parts: Sequence[str]) -> Target:
    """Find what the ids name. Raises UnknownId and AmbiguousId."""
    refuse_stopped(place.data, "purge")
    with looking(place) as (catalogue, queue):
        found = all_named(parts, catalogue, queue, place.name)
        memories = catalogue.memories([row for one in found for row in one.memories])
        waiting = [queue.show(one.note) for one in found if one.note]
        notes = dict.fromkeys(memory["note"] for memory in memories)
        rows = {memory["id"] for memory in memories}
        gone = [note for note in notes if {row for row, _, its in catalogue.named(note) if its == note} <= rows]
    return Target(tuple(memories), tuple(waiting), (*gone, *(row["uid"] for row in waiting)))


def purge(place: Chosen, parts: Sequence[str]) -> Receipt:
    """Delete what the ids name; return the receipt. Raises Busy where a drain or a backup takes longer."""
    with quiet(place.data):
        recover(place.data)
        sweep(place.data)
        target = targeted(place, parts)  # what waited may have been stored since it was asked about
        _bury(place.data, target)
        with _deleting(done := []), closing(Queue(place.data)) as queue:
            mark(queue, place.name)
            traces.erase(place.data, {memory["uid"] for memory in target.memories})
            queue.let_go(place.name)
            for note in target.notes:
                queue.drop(note)
            with writing(place) as store:
                with builtin_embedder() as local, store.unit() as unit:
                    erase(store, unit, local, target.rows, waiting=target.waiting)
                done.append("deleted")
                if place.name not in _scrubbed(place, queue, store):
                    done.append("scrubbed")
    uids = [memory["uid"] for memory in target.memories]
    backups, files = copies.holding(place.data, [*uids, *target.notes])
    return Receipt(uids, [row["uid"] for row in target.waiting], "scrubbed" in done, backups, files)


@contextmanager
def _deleting(done: list[str]) -> Iterator[None]:
    """Leave to the next drain what fails once all is deleted, on a full disk for one: it is marked."""
    try:
        yield
    except MemmanError:
        if not done:
            raise


def erase(
    store: "SqliteStore",
    unit: "SqliteUnit",
    local: "LocalEmbedder",
    rows: Sequence[int],
    waiting: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Delete memories in the caller's transaction; notes that wait are closed, so that no drain stores them."""
    now = now_ms()
    context.forget(unit, local, store.cell, rows, now)
    sql.purge(unit, rows, now)
    for row in waiting:
        stamped = (
            row[name] for name in ("source", "agent", "session", "cwd", "repository", "revision", "host", "user")
        )
        sql.close(unit, Note(row["uid"], row["store"], "", row["queued_at"], provenance=Provenance(*stamped)), now)


def _scrubbed(place: Chosen, queue: Queue, store: "SqliteStore") -> list[str]:
    """Wipe the files that are marked; return the stores that a drain must come back to."""
    with ExitStack() as others:

        def opened(name: str) -> "SqliteStore":
            other = Chosen(place.data, name, place.why)
            return store if name == place.name else others.enter_context(writing(other))

        return scrub(place.data, queue, opened)


def _bury(data: str, target: Target) -> None:
    single = ((memory["note"], memory["uid"]) for memory in target.memories if memory["note"] not in target.whole)
    bury(data, [*((note, WHOLE) for note in target.whole), *single], now_ms())
