"""Deleting what a person wants gone, from store, queue, journal, sessions and logs, and from the files' bytes.

A tombstone comes first and what waits is dropped last, so that a purge which dies is finished by the next drain.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from memman.clock import now_ms
from memman.config import lockfile, stores
from memman.config.asked import drop_asked
from memman.config.places import (
    LOG_FILES,
    files_of,
    handovers_path,
    log_path,
    sessions_path,
    store_path,
    text_at,
    write_file,
)
from memman.config.purged import WHOLE, Buried, bury, bury_texts, dig_up, dig_up_texts
from memman.config.schedule import refuse_stopped, ring
from memman.locks import quiet
from memman.model.errors import MemmanError, UsageError
from memman.model.records import Note
from memman.model.terms import terms
from memman.model.text import SHORT_ID
from memman.model.vocabulary import BUILTIN
from memman.queue.notes import Queue, provenance
from memman.queue.view import QueueView
from memman.recovery import copies
from memman.recovery.backup import sweep
from memman.sqlite import LISTED
from memman.store.reach import refuse_reading
from memman.store.sqlite import purge as sql
from memman.store.sqlite import rules, scopes, vectors, words
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.store import SqliteStore, open_store
from memman.store.sqlite.unit import SqliteUnit
from memman.upkeep.maintenance import mark, scrub
from memman.upkeep.rules import publish

_HELD = f"SELECT uid FROM memory WHERE uid {LISTED} ORDER BY uid"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to go: memories, waiting notes and rules as records; `whole` are notes of which nothing is left."""

    memories: tuple[dict[str, Any], ...] = ()
    waiting: tuple[dict[str, Any], ...] = ()
    whole: tuple[str, ...] = ()
    rules: tuple[dict[str, Any], ...] = ()

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
    """What went, and what still holds it: backups by id, other files by path, memories of other stores by name.

    `scrubbed` is whether its bytes went.
    """

    memories: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scrubbed: bool = True
    backups: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    stores: dict[str, list[str]] = field(default_factory=dict)


def targeted(data: str, store: str, uids: Sequence[str]) -> Selection:
    """Find what whole ids of memories, notes and rules name, and the rules that were made of these memories."""
    refuse_stopped(data, "purge")
    with closing(QueueView(data)) as queue:
        queue.hold()  # before the store is read: a note drained in between is seen twice, and never not at all
        with Catalogue.open(store_path(data, store)) as catalogue:
            rows = [row for uid in uids for row, *ids in catalogue.named(uid) if uid in ids]
            memories = catalogue.memories(list(dict.fromkeys(rows)))
            stored = dict.fromkeys(memory["note"] for memory in memories)
            gone = [note for note in stored if {row for row, _, its in catalogue.named(note) if its == note} <= {*rows}]
            made = rules.made_of(catalogue.reader, {memory["uid"]: memory["text"] for memory in memories})
            ruled = [rule for rule in rules.worded(catalogue.reader) if rule["uid"] in uids or rule in made]
        waiting = [queue.show(uid) for uid in dict.fromkeys(uids) if uid not in stored and uid in queue.of(store)]
    return Selection(tuple(memories), tuple(waiting), (*gone, *(row["uid"] for row in waiting)), tuple(ruled))


def purge(data: str, store: str, uids: Sequence[str]) -> Receipt:
    """Delete what whole ids name; return the receipt. Raises Busy where a drain or a backup takes longer."""
    with quiet(data):
        sweep(data)
        copies.sweep(data)
        target = targeted(data, store, uids)  # what waited may have been stored since it was asked about
        refuse_reading(data, store)
        with closing(open_store(data, store)) as opened:
            _refuse_others(opened, target)
        scrubbed = _deleted(data, store, target, _burying(data, target))
        ring(data)
    publish(data)
    gone = [memory["uid"] for memory in target.memories]
    ruled = [rule["uid"] for rule in target.rules]
    backups, files = copies.holding(data, [*gone, *target.notes, *ruled])
    waited = [row["uid"] for row in target.waiting]
    return Receipt(gone, waited, scrubbed, backups, files, ruled, _elsewhere(data, store, gone))


def _elsewhere(data: str, store: str, uids: Sequence[str]) -> dict[str, list[str]]:
    """Return which of some memories other stores hold too: branches of this one, or what it is a branch of."""
    found = {}
    for name in stores.names(data):
        with suppress(MemmanError), Catalogue.open(store_path(data, name)) as catalogue:
            rows = catalogue.reader.db.execute(_HELD, (json.dumps([*uids]),))
            if name != store and (held := [uid for (uid,) in rows]):
                found[name] = held
    return found


def _refuse_others(store: SqliteStore, target: Selection) -> None:
    """Raise UsageError where others would keep what is purged: only who wrote it or owns the store takes it away."""
    others = {row for table, row in scopes.of_others(store.db) if table == "memory"}
    for row, one in store.reader.authorship(sorted(others.intersection(target.rows))).items():
        uid = store.reader.rows([row])[row].uid[:SHORT_ID]
        raise UsageError(f"{uid} was written by {one.author}: only they, or an owner of the store, can purge it")


def follow(data: str, store: str, queue: Queue, uids: Sequence[str]) -> Selection:
    """Keep what another machine has purged from coming back, and take it out of queue, sessions and logs.

    Return all that goes. The caller keeps everything quiet, deletes it from the store, and has the files wiped.
    """
    target = targeted(data, store, uids)
    bury_texts(data, _texts(target))
    _clear_traces(data, store, queue, target)
    for note in target.notes:
        queue.drop(note)
    return target


def _deleted(data: str, store: str, target: Selection, kept_away: AbstractContextManager[None]) -> bool:
    """Delete a selection from wherever it is kept; whether its bytes are gone too."""
    deleted = False
    try:
        with closing(Queue(data)) as queue:
            _clear_traces(data, store, queue, target)
            with closing(open_store(data, store)) as opened:
                with kept_away, opened.unit() as unit:
                    rules.purge(unit, [rule["uid"] for rule in target.rules], now_ms())
                    erase(opened, unit, target.rows, waiting=target.waiting)
                deleted = True
                for note in target.notes:
                    queue.drop(note)
                return store not in scrubbed(data, queue, {store: opened})
    except MemmanError:  # what fails once all is deleted, on a full disk for one, is marked for the next drain
        if not deleted:
            raise
        return False


def erase(
    store: SqliteStore,
    unit: SqliteUnit,
    rows: Sequence[int],
    waiting: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Delete memories and rules made of them, and close notes that wait, in the caller's transaction."""
    now = now_ms()
    made = rules.made_of(store.reader, {row.uid: row.text for row in store.reader.rows(rows).values()})
    rules.purge(unit, [rule["uid"] for rule in made], now)
    around = words.touched(unit.db, rows)
    for memory in rows:
        unit.forget(memory, now)
    vectors.wipe(unit.db, around, BUILTIN)
    sql.purge(unit, rows, now)
    for row in waiting:
        sql.close(unit, Note(row["uid"], row["store"], "", row["queued_at"], provenance=provenance(row)), now)


def scrubbed(data: str, queue: Queue, stores: dict[str, SqliteStore]) -> list[str]:
    """Wipe the files that are marked; return the stores that a drain must come back to."""
    with ExitStack() as others:

        def opened(name: str) -> SqliteStore:
            return stores.get(name) or others.enter_context(closing(open_store(data, name)))

        return scrub(data, queue, opened)


@contextmanager
def _burying(data: str, target: Selection) -> Iterator[None]:
    """Keep a selection from coming back, unless it does not go."""
    single = {memory["uid"]: memory["note"] for memory in target.memories if memory["note"] not in target.whole}
    known = Buried.load(data)
    texts = [text for text in _texts(target) if not known.says(text)]
    bury_texts(data, texts)
    whole = (*target.whole, *(rule["uid"] for rule in target.rules))
    bury(data, [*((uid, WHOLE) for uid in whole), *((note, uid) for uid, note in single.items())], now_ms())
    try:
        yield
    except BaseException:
        dig_up_texts(data, texts)
        dig_up(data, single, whole)
        raise


def _texts(target: Selection) -> list[str]:
    texts = [one["text"] for one in (*target.memories, *target.waiting)]
    return [*texts, *(one["summary"] for one in target.memories)]


# Letters from which on a word in a prompt may be one of what is purged; names with digits and other scripts always.
_TELLING = 5


def _clear_traces(data: str, store: str, queue: Queue, target: Selection) -> None:
    """Take memories out of sessions, prompts, questions and the log's debug lines; mark store and queue."""
    mark(queue, store)
    uids = {memory["uid"] for memory in target.memories}
    said = {word for row in (*target.memories, *target.waiting, *target.rules) for word in terms(row["text"])}
    telling = {word for word in said if len(word) >= _TELLING or not word.isalpha() or not word.isascii()}

    def cleared(session: str) -> str:
        shown, _, prompt = session.partition("\n")
        kept = "" if telling.intersection(terms(prompt)) else prompt
        return " ".join(uid for uid in shown.split() if uid.rpartition(":")[2] not in uids) + "\n" + kept

    for path in files_of(sessions_path(data)):
        with suppress(OSError):
            lockfile.edit(path, cleared)
    for path in files_of(handovers_path(data)):
        if telling.intersection(terms(text_at(path))):
            os.unlink(path)
    drop_asked(data, lambda question: not telling.isdisjoint(terms(question)))
    for number in range(LOG_FILES):
        lines = text_at(log_path(data, number)).split("\n")  # other line ends may stand within a record
        kept = [line for line in lines if '"level": "debug"' not in line]
        if kept != lines:
            write_file(log_path(data, number), "\n".join(kept))
