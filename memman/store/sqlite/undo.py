"""Taking back acts, of notes and verbs, and taking that back: the fold leaves out what an undo names.

Functions that write run inside their caller's transaction. What was changed since by other acts stays changed.
"""

import json
from collections.abc import Collection
from typing import Any, NamedTuple

import apsw

from memman.belief import FEEDBACK
from memman.model.errors import AmbiguousId, UnknownId
from memman.model.text import SHORT_ID
from memman.model.vocabulary import HIDDEN, UNDONE
from memman.sqlite import LISTED, NAMED
from memman.store import records
from memman.store.records import Parts, Record, state_of
from memman.store.sqlite import index, record_log
from memman.store.sqlite.unit import SqliteUnit, differing

INHERITED, CHANGED = "is still superseded by later memories", "was changed since"
# What a note is that nothing stored is left of, or ever came.
_GONE = "('purged', 'undone')"
# What verbs without a note did, which a session, or a time, is undone by: not what was compared between machines.
_DONE = f"""(verb IN (
    'forget', 'archive', 'restore', 'reinstate', 'approve', 'reject', 'supersede', 'keep', 'expire', 'protect',
    'unprotect', 'verify', 'move'
) AND act NOT GLOB '{records.PAIR}*' OR verb = 'feedback' AND after ->> '$.why' IN {FEEDBACK})"""
_LATEST = 2**62
# What took the place of a hidden memory, and is not hidden itself.
_HEIR = f"""
WITH RECURSIVE step(id) AS (
    SELECT superseded_by FROM memory WHERE uid = ? AND status IN {HIDDEN}
    UNION SELECT superseded_by FROM step JOIN memory USING (id) WHERE status IN {HIDDEN}
)
SELECT id FROM step JOIN memory USING (id) WHERE status NOT IN {HIDDEN}
"""


class Changed(NamedTuple):
    """What an undo changed of a memory or rule: how it stood before and stands now, as parts of its state."""

    uid: str
    before: Parts
    after: Parts

    def was(self, part: str) -> tuple[Any, Any]:
        """Return the values of a part before and now."""
        return self.before.get(part), self.after.get(part)


def take_back(
    unit: SqliteUnit, acts: Collection[str], at: int, why: str, left: dict[str, str] | None = None
) -> list[Changed]:
    """Undo acts; return what changed, and why anything is `left`. Words and codes follow with `SqliteUnit.settle`.

    What holds again is superseded by what came after the memory that took its place: it is `left` so. The caller
    writes the line of the undo, with `keep`: by it what comes later of these acts is left out, too.
    """
    left = {} if left is None else left
    db, done = unit.db, [*record_log.of_acts(unit.db, acts), *record_log.compared(unit.db, acts)]
    undoing = {one.act for one in done if one.kind == "undone"}  # these bear on what came late, too
    done += record_log.taken_back(db, done)
    learned = {one.memory for one in done if one.kind == "learned"}
    changed = []
    counts = record_log.winners(db, done)
    done = [one for one in done if counts.get(one.act, one.host) == one.host]
    by_uid: dict[str, list[Record]] = {}
    for one in done:
        if one.kind not in {"noted", "purged"} and one.body:
            by_uid.setdefault(one.memory, []).append(one)
    every, winners, undos = index.folding(db, by_uid)
    line = Record("", 0, _LATEST, unit.act_at(at), "", "undone", records.body("undo", acts=[*acts]))
    for uid, here in by_uid.items():
        found = every[uid]
        if any(one.kind == "purged" for one in found):
            continue
        before, after = state_of(found, winners, undos), state_of(found, winners, [*undos, line])
        if before == after:
            if uid not in learned and _stands(here, [*found, *undos]):
                left[uid] = CHANGED
            continue
        was, now = differing(before.get(records.STATUS) or {}, after.get(records.STATUS) or {})
        mine = sorted(undoing | {one.act for one in here} & {*acts})
        unit.record(at, uid, "undo", {}, was, {**now, "why": why}, write=False, acts=mine)
        changed.append(Changed(uid, before, after))
    index.rewrite(db, [one.uid for one in changed])
    held = _let_hold(unit, [one for one in changed if one.uid in learned], at, why)
    for uid in (memory.uid for memory in held):
        left.pop(uid, None)
    changed += held
    left |= {memory.uid: INHERITED for memory in changed if _inherits(unit, memory, at)}
    return changed


def _stands(done: Collection[Record], found: Collection[Record]) -> bool:
    """Whether records that nobody has taken back yet say how a memory stands."""
    gone = records.undone_acts(found)
    return any(one.act not in gone and records.STATUS in one.said.get("set", ()) for one in done)


def _let_hold(unit: SqliteUnit, gone: Collection[Changed], at: int, why: str) -> list[Changed]:
    """Have what other acts superseded by a memory that goes hold again, as when two machines were compared."""
    hidden = [one.uid for one in gone if (one.after.get(records.STATUS) or records.HOLDS)["status"] == "forgotten"]
    sql = (
        "SELECT m.id, m.uid FROM memory m JOIN memory n ON n.id = m.superseded_by"
        f" WHERE m.status = 'superseded' AND n.uid {LISTED}"
    )
    old: list[Any] = unit.db.execute(sql, (json.dumps(hidden),)).fetchall()
    held = []
    for row, uid in old:
        before = index.state(unit.db, uid)
        unit.reinstate(row, at, why)
        held.append(Changed(uid, before, index.state(unit.db, uid)))
    return held


def _inherits(unit: SqliteUnit, one: Changed, at: int) -> bool:
    """Whether what holds again was to be superseded by what came after the memory that had taken its place."""
    before, after = one.was(records.STATUS)
    gone = before and before["superseded_by"]
    if not gone or not after or after["status"] != "current":
        return False
    row, new = index.row_of(unit.db, one.uid), unit.db.execute(_HEIR, (gone,)).get
    return bool(row and new and unit.supersede(row, new, at, before["valid_to"] or at, INHERITED))


def keep(unit: SqliteUnit, at: int, what: str, did: str, how: str = "undo", **more: Any) -> None:
    """Write the line of an act that can be taken back by its own id: what was undone, and what else belongs to it."""
    unit.record(at, unit.act_at(at), how, {}, None, {"why": f"{what}: {did}"}, what=what, did=did, **more)


def listed(db: apsw.Connection) -> dict[str, dict[str, Any]]:
    """Return what each undo did, by its id, newest first, with the undo that took it back and whether any is left."""
    sql = (
        "SELECT r.act, r.at, r.body, EXISTS (SELECT 1 FROM record o WHERE o.act = r.act AND o.memory <> r.act"
        " AND o.kind NOT IN ('noted', 'purged') AND o.body <> '') OR EXISTS (SELECT 1 FROM meta WHERE key = ? || r.act)"
        " FROM record r JOIN host h ON h.id = r.host WHERE r.kind = 'undone' AND r.memory = r.act AND r.body <> ''"
        " ORDER BY r.at DESC, h.name DESC, r.n DESC"
    )
    found: dict[str, dict[str, Any]] = {}
    taken_back: dict[str, str] = {}
    for act, at, body, left in db.execute(sql, (UNDONE,)):
        one = found[act] = {"at": at, "undone": taken_back.get(act, ""), **json.loads(body)}
        one["left"] = bool(left or one["undone"] or one.get("put"))
        if not one["undone"]:
            taken_back |= dict.fromkeys(one.get("acts", ()), act)
    return found


def waited(db: apsw.Connection, uid: str) -> list[dict[str, Any]]:
    """Return the queue's rows of notes that an undo took out of the queue of this machine: no record has them."""
    rows: list[dict[str, Any]] = json.loads(
        db.execute("SELECT value FROM meta WHERE key = ?", (UNDONE + uid,)).get or "[]"
    )
    return rows


def notes(db: apsw.Connection) -> set[str]:
    """Return the acts and waiting notes that undos took back, and that nobody brought back."""
    holding = [one for one in listed(db).values() if not one["undone"]]
    return {note for one in holding for note in (*one.get("acts", ()), *one.get("notes", ()))}


def found(db: apsw.Connection, part: str) -> dict[str, dict[str, Any]]:
    """Return the undos whose id, or the digits of it that are shown, begins with `part`, or ends with it."""
    return {
        uid: one
        for uid, one in listed(db).items()
        if uid.startswith(part) or uid[-SHORT_ID:].startswith(part) or uid.endswith(part)
    }


def noted(db: apsw.Connection, part: str) -> list[str]:
    """Return the first two notes with a receipt that `part` names."""
    sql = f"SELECT note FROM receipt WHERE {NAMED.format('note')} AND outcome NOT IN {_GONE} LIMIT 2"
    return [note for (note,) in db.execute(sql, (part,))]


def of_session(db: apsw.Connection, session: str) -> list[str]:
    """Return the acts of a session: notes that are stored, and what it forgot and reported."""
    verbs = f"SELECT DISTINCT act FROM log WHERE ({_DONE}) AND after ->> '$.session' = ?"
    return [*_notes(db, "session = ?", session), *(act for (act,) in db.execute(verbs, (session,)))]


def since(db: apsw.Connection, moment: int) -> list[str]:
    """Return the acts since a moment: notes that are stored, and what verbs changed."""
    verbs = f"SELECT DISTINCT act FROM log WHERE ({_DONE}) AND at >= ?"
    return [*_notes(db, "at >= ?", moment), *(act for (act,) in db.execute(verbs, (moment,)))]


def sessions(db: apsw.Connection) -> list[str]:
    """Return the sessions that left notes, forgot or reported something."""
    verbs = f"SELECT DISTINCT after ->> '$.session' FROM log WHERE ({_DONE}) AND after ->> '$.session' <> ''"
    left = "SELECT DISTINCT session FROM receipt WHERE session <> ''"
    return [one for (one,) in db.execute(f"{left} UNION {verbs}")]


def by_agents(db: apsw.Connection, session: str, moment: int) -> int:
    """Count what agents forgot in a session; without one, what they forgot in none since a moment."""
    sql = (
        "SELECT count(*) FROM log WHERE verb = 'forget' AND coalesce(after ->> '$.agent', '') <> ''"
        " AND coalesce(after ->> '$.session', '') = ?1 AND (?1 <> '' OR at >= ?2)"
    )
    return int(db.execute(sql, (session, moment)).get)


def one_of(names: Collection[str], part: str, kind: str) -> str:
    """Return the one of `names` that is `part` or begins with it. Raises UnknownId and AmbiguousId."""
    said = [name for name in names if name == part] or [name for name in names if part and name.startswith(part)]
    if not said:
        raise UnknownId(f"there is no {kind} {part[:80]!r} in this store")
    if len(said) > 1:
        raise AmbiguousId(f"several {kind}s begin with {part[:80]!r}: give more characters")
    return said[0]


def _notes(db: apsw.Connection, where: str, value: str | int) -> list[str]:
    sql = f"SELECT note FROM receipt WHERE {where} AND outcome NOT IN {_GONE} ORDER BY at, note"
    return [note for (note,) in db.execute(sql, (value,))]
