"""`memman undo`: take back notes, sessions, or all since a time; and take that back again."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from memman.belief import FEEDBACK
from memman.clock import now_ms
from memman.commands.log import LAST, last_here
from memman.commands.person import confirm
from memman.commands.place import Opened, Place, checked, expected, note_of, opened, writing
from memman.commands.printing import acted, short, table, tallied, text, when
from memman.commands.verb import Told, verb
from memman.config.schedule import refuse_stopped
from memman.config.scope import PERSONAL, label
from memman.hot.grammar import moment
from memman.locks import quiet, steady
from memman.model.errors import AmbiguousId, UnknownId, UsageError
from memman.model.text import SHORT_ID
from memman.model.vocabulary import HIDDEN, UNDONE
from memman.queue.notes import Queue
from memman.queue.view import QueueView
from memman.store import records
from memman.store.records import RECEIPT, RULE
from memman.store.sqlite import index, record_log
from memman.store.sqlite import undo as log
from memman.store.sqlite.catalogue import freshness
from memman.upkeep.rules import publish

if TYPE_CHECKING:
    from memman.store.sqlite.reader import SqliteReader
    from memman.store.sqlite.undo import Changed
    from memman.store.sqlite.unit import SqliteUnit

LIST = "list"


@verb(shows=Told)
@click.argument("id_", required=False, metavar="[ID | list]")
@click.option("--session", metavar="S", help="Undo all that a session, or the `last` here, wrote, forgot and reported.")
@click.option("--since", metavar="TIME", help="Undo everything since: 2026-11-01T10:00, 7d, 2h, yesterday.")
@click.option("--dry-run", is_flag=True, help="Only show what would be undone.")
def undo(place: Place, *, dry_run: bool = False, **meant: str | None) -> Told:
    """Undo a note, a session, or everything since a time; an undo can itself be undone.

    ID is a note, a memory (everything its note did), or an earlier undo; `memman undo list` shows these.
    """
    said = {name.rstrip("_"): value for name, value in meant.items() if value is not None}
    if len(said) != 1:
        raise UsageError("give one of: an ID, list, --session or --since")
    if said == {"id": LIST}:
        with opened(place) as store:
            return Told(listed(store), _print_undos)
    since = moment(said["since"], "since") if "since" in said else None
    if since is not None and since > now_ms():
        raise UsageError(f"--since {said['since']} is in the future: nothing was stored since then")
    asked = Asked(said.get("id", ""), said.get("session", ""), since)
    report = preview(place, asked)
    if report["changed"] and not dry_run:
        confirm(f"Take back {report['what']}?", listed=_lines(report, "would be "))
        report = taken_back(place, asked)
    return Told(report, partial(_tell, dry_run=dry_run))


def _lines(report: dict[str, Any], before: str = "") -> list[str]:
    """Write a line for each memory and note that an undo changes or leaves; `before` stands before each change."""
    rows = [acted(before + one["became"], one) for one in report["memories"]]
    rows += [acted(before + one["became"], one | {"kind": "note"}) for one in report["notes"]]
    rows += [acted(f"left, {one['why']}", one) for one in report["left"]]
    return ["  ".join(filter(None, row)) for row in rows]


def _tell(report: dict[str, Any], *, dry_run: bool) -> None:
    for line in _lines(report, "would be " if dry_run else ""):
        text(line)
    if dry_run and report["changed"]:
        text("nothing was changed: this was a dry run")
        return
    back = f"to undo this: memman undo {short(report['id'], note=True)}" if report["changed"] else ""
    text(back or "there is nothing to undo")


def _print_undos(records: list[dict[str, Any]]) -> None:
    rows: list[tuple[str, ...]] = []
    for one in records:
        fate = f"undone by {short(one['undone'], note=True)}" if one["undone"] else ""
        rows.append((short(one["id"], note=True), when(one["at"]), one["what"], fate, one["did"]))
    table(rows or [("nothing was undone",)])


SINCE = "all since then"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks to be undone: by one id, or all of a session, or since a moment."""

    id: str = ""
    session: str = ""
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Selected:
    """What is to be undone: acts, of notes and verbs, and queue rows; of an undo rows to put back."""

    what: str
    acts: tuple[str, ...] = ()
    waiting: tuple[dict[str, Any], ...] = ()
    queued: tuple[dict[str, Any], ...] = ()


def selected(store: Opened, asked: Asked) -> Selected:
    """Find what is asked for. Raises UnknownId, AmbiguousId and UsageError."""
    db, name, queue = store.db, store.name, store.queue
    if asked.session:
        known = {*log.sessions(db), *queue.sessions(name)}
        named = last_here(store) if asked.session == LAST and LAST not in known else asked.session
        session = log.one_of(known, named, "session")
        waiting = queue.rows(name, session=session)
        return _made(f"session {session}", store, log.of_session(db, session), waiting)
    if asked.since is not None:
        return _made(SINCE, store, log.since(db, asked.since), queue.rows(name, since=asked.since))
    return _by_id(store, asked.id)


def _by_id(store: Opened, part: str) -> Selected:
    part = checked(part)
    undos, notes = log.found(store.db, part), log.noted(store.db, part)
    memories = [uid for _, uid, _ in store.named(part) if uid.startswith(part)]
    if (undos or notes) and len({*undos, *notes, *memories, *store.queue.named(store.name, part)}) > 1:
        raise AmbiguousId(f"{part} is ambiguous, give more characters of the id")
    if undos:
        return _undo(store, *next(iter(undos.items())))
    if not notes:
        found = store.find(part)
        notes = [found.note] if found.note else sorted({row.note for row in store.reader.rows(found.memories).values()})
    return _made(f"note {notes[0][-SHORT_ID:]}", store, notes, store.queue.rows(store.name, uids=notes))


def _undo(store: Opened, uid: str, record: dict[str, Any]) -> Selected:
    """Return what undoes an undo, and the notes that it had put back into the queue."""
    if record["undone"]:
        by = record["undone"][-SHORT_ID:]
        raise UsageError(f"{uid[-SHORT_ID:]} is undone already: to do it again, memman undo {by}")
    put = record.get("put", [])
    waiting = store.queue.rows(store.name, uids=put)
    there = _made("", store, [note for note in put if store.reader.has_receipt(note)], waiting)
    return replace(
        there,
        what=f"undo {uid[-SHORT_ID:]}",
        acts=(uid, *there.acts),
        queued=tuple(log.waited(store.db, uid)),
    )


def _made(what: str, store: Opened, acts: Collection[str], waiting: list[dict[str, Any]]) -> Selected:
    """Return a selection; of a note that is stored though the queue has it the store knows better."""
    undone = log.notes(store.db)
    there = {one.act for one in record_log.of_acts(store.db, acts)} - undone
    stored = dict.fromkeys(act for act in acts if act in there)
    rows = tuple(row for row in waiting if not store.reader.has_receipt(row["uid"]))
    if what and not (stored or rows):
        raise UnknownId(f"there is nothing to undo {'since then' if what == SINCE else f'of {what}'}")
    return Selected(what, tuple(stored), rows)


OUTCOME = "undone"
# What is said of a part of its state that a memory has again, or has no longer.
_PARTS = {
    records.UNTIL: ("with its earlier end", "without an end"),
    records.PROTECTED: ("protected again", "no longer protected"),
    records.VERIFIED: ("verified as before", "no longer verified"),
}
# What became of a memory, by its status afterwards; one that was hidden before is restored.
_BECAME = {"current": "current again", "superseded": "superseded again", "forgotten": "undone"}


class _Seen(Exception):
    """Somebody only looked: the transaction is rolled back."""


def preview(place: Place, asked: Asked) -> dict[str, Any]:
    """Return what an undo would do, without doing it. Raises UnknownId, AmbiguousId and UsageError."""
    report: dict[str, Any] = {}
    with closing(QueueView(place.data)) as queue, writing(expected(place)) as store:
        chosen = selected(Opened(place, store.reader, queue), asked)
        with suppress(_Seen), store.unit() as unit:
            report = _report(store.reader, chosen, *_changed(unit, chosen))
            raise _Seen
    return report


def taken_back(place: Place, asked: Asked) -> dict[str, Any]:
    """Take back what is asked for; return what was done, under an id of its own that undoes it."""
    refuse_stopped(place.data, "undo")
    now = now_ms()
    # Drains are kept out first, as a round of a sync does.
    with (
        quiet(place.data),
        steady(place.data),
        closing(QueueView(place.data)) as view,
        writing(expected(place)) as store,
        closing(Queue(place.data)) as queue,
    ):
        chosen = selected(Opened(place, store.reader, view), asked)
        with store.unit() as unit:
            changed, left = _changed(unit, chosen)
            report = _report(store.reader, chosen, changed, left) | {"id": unit.act_at(now)}
            _keep(unit, now, chosen, report)
            _close(unit, chosen, now)
            queue.put_back(chosen.queued)  # before it is committed: what waits must never be lost
        for row in chosen.waiting:
            queue.drop(row["uid"])
    if any(records.STATUS not in one.before and records.TEXT not in one.before for one in changed):
        publish(place.data)
    return report


def listed(store: Opened) -> list[dict[str, Any]]:
    """Return what was undone, newest first, without that of which all was purged since."""
    told = ("at", "what", "did", "undone")
    found = log.listed(store.db).items()
    return [{"id": uid} | {name: one[name] for name in told} for uid, one in found if one["left"]]


def _changed(unit: "SqliteUnit", chosen: Selected) -> "tuple[list[Changed], dict[str, str]]":
    """Take back the acts; return what changed, and by uid why something is left as it is."""
    now, left = now_ms(), dict[str, str]()
    why = f"{chosen.what}, undo {unit.act_at(now)[-SHORT_ID:]}"
    changed = log.take_back(unit, chosen.acts, now, why, left)
    hidden = [one.uid for one in changed if _hidden(one)]
    unit.settle([row for row in (index.row_of(unit.db, uid) for uid in hidden) if row])
    return changed, left


def _hidden(one: "Changed") -> bool:
    """Whether a memory is hidden now and was not before, or the other way round."""
    was, now = one.was(records.STATUS)
    return bool(was and now) and (was["status"] in HIDDEN) != (now["status"] in HIDDEN)


def _report(
    reader: "SqliteReader", chosen: Selected, changed: "Collection[Changed]", left: Mapping[str, str]
) -> dict[str, Any]:
    became = {one.uid: said for one in changed if (said := "; ".join(_became(one))) and one.uid not in left}
    notes = [(row, "taken out of the queue") for row in chosen.waiting]
    notes += [(row, "queued again") for row in chosen.queued]
    report: dict[str, Any] = {
        "id": None,
        "what": chosen.what,
        "memories": _told(reader, "became", became),
        "notes": [{"id": row["uid"], "text": row["text"], "became": said} for row, said in notes],
        "left": _told(reader, "why", left),
    }
    return report | {"changed": bool(changed or report["notes"])}


def _became(one: "Changed") -> Iterator[str]:
    """Say what became of a memory or a rule."""
    was, now = ((side or {}).get("status") for side in one.was(records.STATUS))
    if was != now and now:
        yield "restored" if was in HIDDEN and now not in HIDDEN else _BECAME.get(now, now)
    kind = "memory" if records.TEXT in one.after else "rule"
    before, after = (_scope(side) for side in (one.before, one.after))
    if before != after:
        where = label(*after) or PERSONAL
        yield f"{kind} of {where} again" if one.was(RULE) != (None, None) or kind == "rule" else f"{where} again"
    for part, (again, no_longer) in _PARTS.items():
        was, now = one.was(part)
        if was != now:
            yield again if now else no_longer
    for part in one.before.keys() | one.after.keys():
        name, key = records.split(part)
        if name == records.EVIDENCE and key[0] in FEEDBACK and part not in one.after:
            yield f"no longer reported {key[0]}"
        elif name == records.EVIDENCE and key[0] in FEEDBACK and part not in one.before:
            yield f"reported {key[0]} again"


def _scope(state: records.Parts) -> tuple[str, str]:
    said = state.get(RULE) or state.get(records.SCOPE) or {}
    return said.get("repository", ""), said.get("path", "")


def _told(reader: "SqliteReader", part: str, said: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return memories and rules of which something is said, by uid, with what may make them doubtful."""
    rows = {row.uid: row for row in reader.rows(reader.located(said)).values()}
    fresh = freshness(reader, [row.id for row in rows.values()])
    rules = dict(reader.db.execute("SELECT uid, text FROM rule"))
    return [
        {"id": uid, "text": rows[uid].text, part: one} | fresh[rows[uid].id]
        if uid in rows
        else {"id": uid, "text": rules.get(uid, ""), part: one}
        for uid, one in said.items()
    ]


def _keep(unit: "SqliteUnit", now: int, chosen: Selected, report: dict[str, Any]) -> None:
    """Keep what was done under an id, and write the one line of the log."""
    if report["changed"]:
        did: dict[str, Any] = {
            "acts": [*chosen.acts],
            "notes": [row["uid"] for row in chosen.waiting],
            "put": [row["uid"] for row in chosen.queued],
        }
        became = Counter(one["became"] for one in (*report["memories"], *report["notes"]))
        log.keep(unit, now, chosen.what, tallied(became) if became else "what it changed", **did)
        if chosen.waiting:
            unit.set_meta(UNDONE + unit.act_at(now), json.dumps(chosen.waiting, ensure_ascii=False))
        if chosen.queued:
            unit.set_meta(UNDONE + chosen.acts[0], None)


def _close(unit: "SqliteUnit", chosen: Selected, now: int) -> None:
    """Give notes that leave the queue a receipt, so that no drain stores them; take it from those that come back."""
    for row in chosen.waiting:
        unit.receipt(note_of(row | {"text": ""}), now, OUTCOME, 0)
    for row in chosen.queued:
        unit.record(now, row["uid"], "note", {RECEIPT: None})
