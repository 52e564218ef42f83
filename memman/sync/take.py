"""Taking in what other hosts say: all of it in one transaction, and with the same result in whatever order it comes."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw

from memman.clock import now_ms
from memman.config.tombstones import WHOLE, Tombstones
from memman.locks import exchanging
from memman.model.vocabulary import HELD
from memman.recovery.purge import follow
from memman.secrets.leaks import through
from memman.sqlite import LISTED, id_list
from memman.store.sqlite import registers, renumber, vectors
from memman.store.sqlite.registers import MEMORY, NOTE, PURGED, STATUS, TEXT, Place
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit
from memman.sync import marks
from memman.sync.bundle import Bundle, Said, Version, digest, named, unpacked
from memman.sync.folder import Folder
from memman.sync.key import Key, TooLarge, Unreadable
from memman.sync.ledger import Ledger
from memman.sync.say import Reach
from memman.upkeep.rules import publish

# Values taken in at once.
_PART = 50_000
# A bundle that is missing may still be on its way: so long a drain waits before it asks for it.
PATIENCE_MS = 3_600_000
# Parts that decide what is found by what, and those of which the log tells.
_TELLING = {TEXT, STATUS, registers.mark(HELD)}
_LOGGED = (TEXT, STATUS, "scope")


@dataclass(slots=True)
class Arrived:
    """The bundles that may be taken in, each with its digest, and what was wrong with others."""

    bundles: list[tuple[Bundle, str]] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    more: bool = False


class Reading:
    """The folder read by one host."""

    def __init__(self, opened: SqliteStore, folder: Folder, key: Key, store: str, *, patient: bool) -> None:
        self.opened, self.folder, self.key, self.store, self.patient = opened, folder, key, store, patient
        self.ledger, self.now = Ledger(opened.db), now_ms()
        self.host = self.ledger.state("host")
        self.found = Arrived()

    def arrived(self) -> Arrived:
        """Read what others have written since, as far as it is sound and without a gap; ask for what is not."""
        known, values = self.ledger.hosts(), 0
        former = set(json.loads(self.ledger.state("was") or "[]"))
        for other in sorted(self.folder.bundles.keys() - {self.host}):
            at, name, _, since = known.get(other, (0, "", {}, None))
            wrong, why = 0, ""
            for number in sorted(one for one in self.folder.bundles[other] if one > at):
                if values >= _PART:
                    self.found.more = True
                    return self.found
                bundle, name_of_this = self._read(other, number)
                if bundle and bundle.store != self.store:
                    break
                if bundle and (bundle.whole or (number == at + 1 and bundle.previous == name)):
                    self.found.bundles.append((bundle, name_of_this))
                    values += len(bundle.said)
                    at, name, wrong = number, name_of_this, 0
                elif not wrong:
                    wrong, why = at + 1, "" if bundle else name_of_this
            if wrong and other not in former:
                self._ask(other, wrong, since, why)
        return self.found

    def _read(self, host: str, number: int) -> tuple[Bundle | None, str]:
        """Return a bundle and its digest, or none and what is wrong with it."""
        try:
            sealed = self.folder.read(host, number)
            return unpacked(sealed, host, number, self.key), named(sealed)
        except TooLarge:
            return None, "is larger than a bundle may be"
        except Unreadable:
            return None, "is damaged or has another key"

    def _ask(self, other: str, number: int, since: int | None, why: str) -> None:
        """Ask for a bundle: at once where there is a reason why, later for one that may be on its way."""
        if why:
            self.found.troubles.append(f"bundle {number} of host {other} {why}; asked for again")
        else:
            waits = self.patient and self.now - (since or self.now) < PATIENCE_MS
            says = "waiting for it" if waits else "asked for again"
            self.found.troubles.append(f"bundle {number} of host {other} is missing; {says}")
            with self.opened.transaction():
                self.ledger.lacks(other, since or self.now)
            if waits:
                return
        self.folder.ask(self.host, other, number)


def take(store: SqliteStore, data: str, name: str, bundles: Sequence[tuple[Bundle, str]], reach: Reach) -> int:
    """Bring in what bundles say, all of it or nothing, and put rows into their order; return how many values are news.

    What was purged elsewhere is purged first, and known as that before anything else is taken in. What somebody has
    changed here since all was said that is new is the later word: nobody changes anything from here on.
    """
    ledger = Ledger(store.db)
    with exchanging(data):
        news = _news(ledger, bundles)
        ours = _unsaid(store.db, ledger, [*(one.place for one in news), *(place for place, _ in ledger.waiting())])
        said = [one for one in news if one.place not in ours]
        _purge(store, data, name, [one for one in said if one.place[0] == PURGED and one.value])
        reach("sync:purged", None)
        marks.put(data, [one for one in said if one.place[0] in marks.KINDS], now_ms())
        reach("sync:marked", None)
        tombs = Tombstones.load(data)
        with store.unit() as unit:
            work = _Work(unit, ledger, ours)
            work.put([one for one in said if not _held(tombs, one)])
            ledger.heard(max((one.clock for one in news), default=0))
            for bundle, digest_of_it in bundles:
                ledger.come_to(bundle.host, bundle.number, digest_of_it, bundle.seen)
        store.reader.forget_partitions()
    publish(data)
    return len(said)


def _news(ledger: Ledger, bundles: Iterable[tuple[Bundle, str]]) -> list[Said]:
    """Return the newest of what is said of each place, where it is newer than what is known here."""
    newest: dict[Place, Said] = {}
    for bundle, _ in bundles:
        for one in bundle.said:
            if one.place not in newest or one.version > newest[one.place].version:
                newest[one.place] = one
    known = _known(ledger, newest)
    return [one for place, one in sorted(newest.items()) if place not in known or one.version > known[place]]


def _known(ledger: Ledger, places: Iterable[Place]) -> dict[Place, Version]:
    whose: dict[str, set[str]] = {}
    for kind, its, _ in places:
        whose.setdefault(kind, set()).add(its)
    return {
        (kind, *at): value.version for kind, some in whose.items() for at, value in ledger.values(kind, some).items()
    }


def _unsaid(db: apsw.Connection, ledger: Ledger, places: Iterable[Place]) -> set[Place]:
    """Return the places that have changed here since what is known of them was said.

    A memory or a receipt that is only missing has not: deletions follow from a purge alone.
    """
    asked = {place for place in places if place[0] not in marks.KINDS}
    uids = json.dumps([uid for kind, uid, _ in asked if kind == MEMORY])
    rows: dict[str, int] = dict(db.execute(f"SELECT uid, id FROM memory WHERE uid {LISTED}", (uids,)))
    known, now = _known(ledger, asked), _now(db, rows.values())
    there = {place for place in asked if place in now or (place[1] in rows if place[0] == MEMORY else place[0] != NOTE)}
    return {one for one in there if digest(now.get(one)) != (known[one].digest if one in known else b"")}


def _now(db: apsw.Connection, rows: Iterable[int]) -> dict[Place, Any]:
    """Return the values of some memories, and of all that is none."""
    found = {(MEMORY, uid, part): v for uid, parts in registers.of_memories(db, rows) for part, v in parts.items()}
    return found | dict(registers.of_others(db))


def _held(tombs: Tombstones, one: Said) -> bool:
    """Whether a value is of a memory that was purged."""
    if one.place[0] != MEMORY:
        return False
    note = one.value["note"] if one.place[2] == TEXT and one.value else ""
    return tombs.hold(note, one.place[1])


def _purge(store: SqliteStore, data: str, name: str, gone: Iterable[Said]) -> None:
    """Purge here what was purged elsewhere, with all that is kept of it."""
    ids = []
    for one in gone:
        note, _, memory = one.place[1].partition(" ")
        named_by = ("note", note) if memory == WHOLE else ("uid", memory)
        sql = f"SELECT uid FROM memory WHERE {named_by[0]} = ?"
        ids += [uid for (uid,) in store.db.execute(sql, (named_by[1],))]
    if ids:
        follow(data, name, ids)


class _Work:
    """Values put into a store, and what follows from them, inside one transaction."""

    def __init__(self, unit: SqliteUnit, ledger: Ledger, ours: Collection[Place]) -> None:
        self.unit, self.db, self.ledger = unit, unit.db, ledger
        self.waiting = [(place, value) for place, value in ledger.waiting() if place not in ours]
        self.rows: dict[str, int] = dict(self.db.execute("SELECT uid, id FROM memory"))
        # What waits for a memory, what has waited until now, and the memories that are new.
        self.left: dict[Place, Any] = {}
        self.waited: set[Place] = set()
        self.new: set[str] = set()

    def put(self, said: Sequence[Said]) -> None:
        """Put values where they belong, memories first; keep the version of each."""
        parts: dict[str, dict[str, Any]] = {}
        for one in said:
            if one.place[0] == MEMORY:
                parts.setdefault(one.place[1], {})[one.place[2]] = cleaned_value(one)
        parts = self._with_waiting(parts)
        new = self._insert(parts)
        changed = {self.rows[uid] for uid, values in parts.items() if _TELLING & values.keys() and uid in self.rows}
        changed -= set(new)
        for uid in [uid for uid, values in parts.items() if TEXT in values and self.rows.get(uid) in changed]:
            self.unit.unmention(self.rows[uid])
        before = self.unit.touched(sorted(changed))
        for uid, values in parts.items():
            for part, value in values.items():
                if not self._fits(uid, part, value):
                    self.left[MEMORY, uid, part] = value
        self._settle(new, changed, before)
        others = [one for one in said if one.place[0] != MEMORY and one.place[0] not in marks.KINDS]
        for place, value in (*((one.place, cleaned_value(one)) for one in others), *self._waiting_others(others)):
            if not registers.put_other(self.unit, place, value, self.rows):
                self.left[place] = value
        renumber.renumber_rules(self.db)
        self._keep(said, parts)
        self._bear(said)
        self._log(parts)

    def _fits(self, uid: str, part: str, value: Any) -> bool:
        """Put a value where it belongs, if that is there."""
        there = uid in self.rows and registers.known(part)
        return there and registers.put(self.unit, uid, part, value, self.rows)

    def _with_waiting(self, parts: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Add the values that waited for what may be here now; what is said newly comes before them."""
        found = {uid: dict(values) for uid, values in parts.items()}
        for (kind, uid, part), value in self.waiting:
            if kind == MEMORY and part not in found.get(uid, {}):
                there = uid in self.rows or TEXT in found.get(uid, {})
                other = registers.names(part, value)
                if there and (not other or other in self.rows or other in parts):
                    found.setdefault(uid, {})[part] = value
                    self.waited.add((kind, uid, part))
        return found

    def _waiting_others(self, said: Sequence[Said]) -> list[tuple[Place, Any]]:
        news = {one.place for one in said}
        found = [(place, value) for place, value in self.waiting if place[0] != MEMORY and place not in news]
        self.waited.update(place for place, _ in found)
        return found

    def _insert(self, parts: Mapping[str, Mapping[str, Any]]) -> list[int]:
        for uid, values in parts.items():
            if uid not in self.rows and values.get(TEXT) and values.get(STATUS):
                self.rows[uid] = registers.insert(self.db, uid, values[TEXT], values[STATUS])
                self.new.add(uid)
        return [self.rows[uid] for uid in self.new]

    def _settle(self, new: Sequence[int], changed: Collection[int], before: Sequence[int]) -> None:
        """Put rows into their order, and renew what is worked out from them: names, codes, text index, vectors."""
        db, unit = self.db, self.unit
        unit._around.clear()  # noqa: SLF001 - what it remembers has changed
        moves = renumber.moves(db)
        came = set(new)
        old = [row for (row,) in db.execute("SELECT id FROM memory ORDER BY id") if row not in came]
        passed = renumber.passed(moves, old)
        before = [*before, *unit.touched(passed)]
        renumber.renumber(db, moves)
        unit._around.clear()  # noqa: SLF001 - the same
        self.rows = dict(db.execute("SELECT uid, id FROM memory"))

        def at(some: Iterable[int]) -> list[int]:
            return sorted({moves.get(row, row) for row in some})

        touched = at([*new, *changed])
        self._name(at(new), at(changed))
        for row in touched:
            unit.seal(row)
        around = sorted({*at(before), *unit.touched(sorted({*touched, *at(passed)}))})
        unit.index(sorted({*around, *moves.values()}))
        self._recode(at(changed))
        vectors.outdate(db, around)
        if new:
            vectors.fall_back(db, min(at(new)))

    def _name(self, new: Sequence[int], changed: Sequence[int]) -> None:
        """Record which names memories mention; nobody looks at those of one that is held back."""
        named = f"(SELECT memory FROM mention WHERE memory {LISTED})"
        sql = (
            f"SELECT m.id, m.entities FROM memory m LEFT JOIN meta ON meta.key = '{HELD}' || m.uid"
            f" WHERE m.id {LISTED} AND meta.key IS NULL"
        )
        rows: list[Any] = self.db.execute(f"{sql} AND m.id NOT IN {named}", (id_list([*new, *changed]),) * 2).fetchall()
        for row, entities in rows:
            self.unit.mention(row, json.loads(entities))

    def _recode(self, rows: Sequence[int]) -> None:
        """Put the sign codes of memories in or out of sight, as their status is."""
        sql = f"SELECT embedder, memory, cell, planes, squares FROM vector WHERE memory {LISTED}"
        found: list[Any] = self.db.execute(sql, (id_list(rows),)).fetchall()
        for embedder, memory, cell, planes, squares in found:
            self.unit.put_vectors(embedder, [(memory, cell, planes, squares)])

    def _keep(self, said: Sequence[Said], parts: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep the versions of what was taken in, with the digests of what is in the store now."""
        now = _now(self.db, [self.rows[uid] for uid in parts if uid in self.rows])
        for one in said:
            value = one.value if one.place[0] in marks.KINDS else now.get(one.place)
            waiting = json.dumps(self.left[one.place]) if self.left.get(one.place) is not None else None
            self.ledger.put(one.place, Version(one.clock, one.host, digest(value)), waiting=waiting)
            if one.place[0] == PURGED and one.value:
                self.ledger.keep(purged=1)
        for place in self.waited:
            if place not in self.left:
                sql = "UPDATE sync_value SET digest = ?, waiting = NULL WHERE kind = ? AND whose = ? AND part = ?"
                self.db.execute(sql, (digest(now.get(place)), *place))

    def _bear(self, said: Sequence[Said]) -> None:
        for one in said:
            if one.place[0] == MEMORY and one.place[2] == TEXT and one.born:
                self.ledger.bear(one.place[1], *one.born, fresh=one.place[1] in self.new)
        if self.new:
            self.ledger.keep(judged="")

    def _log(self, parts: Mapping[str, Mapping[str, Any]]) -> None:
        """Have the log tell which memories have come or changed."""
        now = now_ms()
        for uid, values in parts.items():
            if uid in self.rows and not values.keys().isdisjoint(_LOGGED):
                self.unit.tell(now, "sync", uid, "by another machine")


def cleaned_value(one: Said) -> Any:
    """Return a value without secrets."""
    return one.value if one.place[2].startswith("vector") else through(one.value)
