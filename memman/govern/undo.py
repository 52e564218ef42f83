"""Taking back notes, sessions, drains, or all since a time; and taking that back again."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memman.clock import now_ms
from memman.config.schedule import refuse_stopped
from memman.config.scope import PERSONAL, label
from memman.govern import naming
from memman.govern.ids import checked, named
from memman.govern.naming import Naming, back
from memman.govern.stores import Chosen, expected, reading, writing
from memman.locks import quiet, steady
from memman.model.errors import AmbiguousId, UnknownId, UsageError
from memman.model.records import Note, Provenance
from memman.model.reliability import FEEDBACK
from memman.model.text import SHORT_ID
from memman.model.vocabulary import HIDDEN
from memman.queue.entry import new_uid
from memman.queue.notes import Queue
from memman.queue.view import QueueView
from memman.store.sqlite import acts, rescoped, undone
from memman.store.sqlite.catalogue import Catalogue, freshness
from memman.store.sqlite.images import SCOPED
from memman.upkeep.rules import publish

if TYPE_CHECKING:
    from memman.store.sqlite.reader import SqliteReader
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.undo import Work
    from memman.store.sqlite.unit import SqliteUnit

SINCE = "all since then"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks to be undone: by one id, or all of a session, of a drain, or since a moment."""

    id: str = ""
    session: str = ""
    drain: str = ""
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Selected:
    """What is to be undone: stored notes, queue rows, or an undo; else memories `forgotten`, and `reports`."""

    what: str
    stored: tuple[str, ...] = ()
    waiting: tuple[dict[str, Any], ...] = ()
    forgotten: tuple[int, ...] = ()
    reports: tuple[acts.Report, ...] = ()
    undo: str = ""
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def naming(self) -> Naming:
        """What takes back the name that a repository was given, empty for none."""
        given = self.record.get("named")
        return back(given) if given else ()


def selected(place: Chosen, asked: Asked, store: "SqliteStore", queue: QueueView) -> Selected:
    """Find what is asked for. Raises UnknownId, AmbiguousId and UsageError."""
    db, name = store.db, place.name
    if asked.session:
        known = {*undone.sessions(db), *acts.sessions(db), *queue.sessions(name)}
        session = undone.one_of(known, asked.session, "session")
        waiting = queue.rows(name, session=session)
        did = acts.of_session(db, session)
        return _made(f"session {session}", store, undone.of_session(db, session), waiting, *did)
    if asked.drain:
        drain, notes = undone.of_drain(db, asked.drain)
        return _made(f"drain {drain}", store, notes, [])
    if asked.since is not None:
        waiting = queue.rows(name, since=asked.since)
        return _made(SINCE, store, undone.since(db, asked.since), waiting, *acts.since(db, asked.since))
    return _by_id(place, asked.id, store, queue)


def _by_id(place: Chosen, part: str, store: "SqliteStore", queue: QueueView) -> Selected:
    part, catalogue = checked(part), Catalogue(store.reader, store.path)
    undos, notes = undone.found(store.db, part), undone.noted(store.db, part)
    memories = [uid for _, uid, _ in catalogue.named(part) if uid.startswith(part)]
    if (undos or notes) and len({*undos, *notes, *memories, *queue.named(place.name, part)}) > 1:
        raise AmbiguousId(f"{part} is ambiguous, give more characters of the id")
    if undos:
        return _undo(place, *next(iter(undos.items())), store, queue)
    if not notes:
        found = named(part, catalogue, queue, place.name)
        notes = [found.note] if found.note else sorted({row.note for row in store.reader.rows(found.memories).values()})
    return _made(f"note {notes[0][-SHORT_ID:]}", store, notes, queue.rows(place.name, uids=notes))


def _undo(place: Chosen, uid: str, record: dict[str, Any], store: "SqliteStore", queue: QueueView) -> Selected:
    """Return what undoes an undo: its images, and the notes that it had put back into the queue."""
    if record["undone"]:
        by = record["undone"][-SHORT_ID:]
        raise UsageError(f"{uid[-SHORT_ID:]} is undone already: to do it again, memman undo {by}")
    waiting = queue.rows(place.name, uids=record["put"])
    there = _made("", store, [note for note in record["put"] if store.reader.has_receipt(note)], waiting)
    return replace(there, what=f"undo {uid[-SHORT_ID:]}", undo=uid, record=record)


def _made(
    what: str,
    store: "SqliteStore",
    notes: Collection[str],
    waiting: list[dict[str, Any]],
    forgotten: Collection[int] = (),
    reports: Collection[acts.Report] = (),
) -> Selected:
    """Return a selection; of a note that is stored though the queue has it the store knows better."""
    stored = dict.fromkeys(note for note in notes if store.reader.has_receipt(note))
    rows = tuple(row for row in waiting if not store.reader.has_receipt(row["uid"]))
    if what and not (stored or rows or forgotten or reports):
        raise UnknownId(f"there is nothing to undo {'since then' if what == SINCE else f'of {what}'}")
    return Selected(what, tuple(stored), rows, tuple(forgotten), tuple(reports))


OUTCOME = "undone"
# What became of a memory, by its status afterwards; one that was hidden before is restored.
_BECAME = {"current": "current again", "superseded": "superseded again", "forgotten": "undone"}


class _Seen(Exception):
    """Somebody only looked: the transaction is rolled back."""


def preview(place: Chosen, asked: Asked) -> dict[str, Any]:
    """Return what an undo would do, without doing it. Raises UnknownId, AmbiguousId and UsageError."""
    report: dict[str, Any] = {}
    with ExitStack() as held:
        queue = held.enter_context(closing(QueueView(place.data)))
        store = held.enter_context(writing(expected(place)))
        chosen = selected(place, asked, store, queue)
        with suppress(_Seen), store.unit() as unit:
            work, statuses, moves = _changed(unit, chosen)
            report = _report(place.data, store, chosen, work, statuses, moves)
            raise _Seen
    return report


def undo(place: Chosen, asked: Asked) -> dict[str, Any]:
    """Take back what is asked for; return what was done, under an id of its own that undoes it."""
    refuse_stopped(place.data, "undo")
    now = now_ms()
    uid = new_uid(now)
    with ExitStack() as held:
        held.enter_context(quiet(place.data))  # first, as a round of a sync does
        held.enter_context(steady(place.data))
        view = held.enter_context(closing(QueueView(place.data)))
        store = held.enter_context(writing(expected(place)))
        chosen = selected(place, asked, store, view)
        queue = held.enter_context(closing(Queue(place.data)))
        with store.unit() as unit:
            work, statuses, moves = _changed(unit, chosen)
            report = _report(place.data, store, chosen, work, statuses, moves) | {"id": uid}
            _keep(unit, uid, now, chosen, work, moves, report)
            _close(unit, chosen, now)
            queue.put_back(chosen.record.get("notes", ()))  # before it is committed: what waits must never be lost
            if chosen.naming and naming.due(place.data, chosen.naming):
                naming.give(place.data, chosen.naming[0], chosen.naming[2])
        queue.let_go(place.name)
        for row in chosen.waiting:
            queue.drop(row["uid"])
    if moves:
        publish(place.data)
    return report


def listed(place: Chosen) -> list[dict[str, Any]]:
    """Return what was undone, newest first."""
    with reading(place) as catalogue:
        found = undone.listed(catalogue.reader.db).items()
        return [{"id": uid} | {name: one[name] for name in ("at", "what", "did", "undone")} for uid, one in found]


def _changed(unit: "SqliteUnit", chosen: Selected) -> "tuple[Work, dict[int, tuple[str, str]], list[rescoped.Move]]":
    """Change the rows of a store; return that work, (was, is) of each status that changed, and what moved."""
    from memman.store.sqlite.undo import Work

    work = Work(unit)
    work.unreport(chosen.reports)
    work.bring_back(chosen.forgotten)
    if chosen.stored:
        work.take_back(chosen.stored, now_ms())
    work.reverse(chosen.record.get("images", ()))
    moves = rescoped.move(unit, rescoped.back(chosen.record.get("moved", ())), now_ms())
    return work, work.settled(), moves


def _report(
    data: str,
    store: "SqliteStore",
    chosen: Selected,
    work: "Work",
    statuses: dict[int, tuple[str, str]],
    moves: Sequence[rescoped.Move],
) -> dict[str, Any]:
    reports = list(_reported(work))
    rows = store.reader.rows([*statuses, *work.left, *(row for row, _ in reports)])
    fresh = freshness(store.reader, rows)
    became = {
        row: "restored" if was in HIDDEN and now not in HIDDEN else _BECAME.get(now, now)
        for row, (was, now) in statuses.items()
    }
    notes = [(row, "taken out of the queue") for row in chosen.waiting]
    notes += [(row, "queued again") for row in chosen.record.get("notes", ())]
    report: dict[str, Any] = {
        "id": None,
        "what": chosen.what,
        "memories": [
            *(
                {"id": rows[row].uid, "text": rows[row].text, "became": said} | fresh[row]
                for row, said in (*became.items(), *reports)
            ),
            *(
                {"id": uid, "text": text, "became": said} | _of_one(store.reader, uid)
                for uid, text, said in rescoped.told(store.db, moves)
            ),
        ],
        "notes": [{"id": row["uid"], "text": row["text"], "became": said} for row, said in notes],
        "left": [
            {"id": rows[row].uid, "text": rows[row].text, "why": why} | fresh[row]
            for row, why in work.left.items()
            if row in rows
        ],
    }
    report["names"] = naming.told(data, chosen.naming, moves) if chosen.naming else []
    renamed = bool(chosen.naming) and naming.due(data, chosen.naming)
    return report | {"changed": bool(report["memories"] or report["notes"] or work.images() or renamed)}


def _reported(work: "Work") -> Iterator[tuple[int, str]]:
    """Yield the memories that hold where they did before, and of which a report is dropped, or said again."""
    for table, key, before, after in work.images():
        if table == SCOPED:
            yield key[0], f"{label(*(after or ())[:2]) or PERSONAL} again"
        if table == "evidence" and key[1] in FEEDBACK:
            yield key[0], f"no longer reported {key[1]}" if before else f"reported {key[1]} again"


def _of_one(reader: "SqliteReader", uid: str) -> dict[str, int | None]:
    """Return what may make it doubtful that a memory still holds; of a rule nothing."""
    return next(iter(freshness(reader, reader.located([uid])).values()), {})


def _keep(
    unit: "SqliteUnit",
    uid: str,
    now: int,
    chosen: Selected,
    work: "Work",
    moves: Sequence[rescoped.Move],
    report: dict[str, Any],
) -> None:
    """Keep what was done under an id, and write the one line of the log."""
    if not report["changed"]:
        return
    did: dict[str, Any] = {
        "images": work.images(),
        "notes": list(chosen.waiting),
        "stored": chosen.stored,
        "put": [row["uid"] for row in chosen.record.get("notes", ())],
        "moved": moves,
        "named": chosen.naming,
    }
    unit.record = None  # what follows is the undo's own
    if chosen.undo:
        undone.keep(unit, chosen.undo, chosen.record | {"undone": uid})
    undone.keep_act(unit, uid, now, "undo", chosen.what, _summary(report), **did)


def _summary(report: dict[str, Any]) -> str:
    counts: dict[str, int] = {}
    for one in (*report["memories"], *report["notes"]):
        counts[one["became"]] = counts.get(one["became"], 0) + 1
    return ", ".join(f"{count} {said}" for said, count in counts.items()) or "what it changed"


def _close(unit: "SqliteUnit", chosen: Selected, now: int) -> None:
    """Give notes that leave the queue a receipt, so that no drain stores them; take it from those that come back."""
    for row in chosen.waiting:
        stamped = (row[one] for one in ("source", "agent", "session", "cwd", "repository", "revision", "host", "user"))
        note = Note(row["uid"], row["store"], "", row["queued_at"], provenance=Provenance(*stamped))
        unit.receipt(note, now, OUTCOME, 0)
    for row in chosen.record.get("notes", ()):
        unit.db.execute("DELETE FROM receipt WHERE note = ? AND outcome = ?", (row["uid"], OUTCOME))
