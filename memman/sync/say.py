"""What a host has to say: all that differs from what is known of its store, as a bundle that lies in the outbox.

What changed is found by comparison and not written down by whoever changes it, so that no verb has to know of syncs.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import apsw

from memman.clock import now_ms
from memman.config.tombstones import Tombstones
from memman.secrets.leaks import cleaned
from memman.store.sqlite import registers
from memman.store.sqlite.registers import MEMORY, NOTE, PURGED, REJECTED, RULE, SETTING, TEXT, Place
from memman.store.sqlite.store import SqliteStore
from memman.sync import marks
from memman.sync.bundle import Bundle, Said, Version, digest, named, packed
from memman.sync.folder import Folder
from memman.sync.key import Key
from memman.sync.ledger import Ledger, Value

# Memories looked at at once.
_PART = 2_000
# What is in one bundle, unpacked, at most; but what belongs to one memory is in one.
PART_BYTES = 16 * 2**20
# Bundles after which a host says all it knows anew, and removes them.
MOST = 500
# How often a drain compares all, and how far back it looks for receipts, by whatever clock.
EVERY_MS = 3_600_000
_BACK_MS = 60_000
_OTHERS = (NOTE, RULE, REJECTED, SETTING, *marks.KINDS)
Change = tuple[Place, Any]
# Called at points at which a test may end the process.
Reach = Callable[[str, None], None]


@dataclass(frozen=True, slots=True)
class Look:
    """What is compared: all, or only marks, memories of which the log tells since a line, and receipts since a moment.

    A mark may go with another memory than the one that the log names.
    """

    line: int = 0
    at: int = 0
    everything: bool = True


ALL = Look()


def say(
    store: SqliteStore, name: str, data: str, key: Key, folder: Folder, reach: Reach, *, patient: bool = False
) -> int:
    """Write what has changed here since the last bundle, if anything has; return how many values.

    One that is `patient` looks at what the log tells of, and once an hour or after a purge at all: how often one was
    shown may wait.
    All that is known is said anew, and what was said before removed, where that is asked for, where something of it was
    purged, or where there are many bundles.
    """
    ledger = Ledger(store.db)
    flush(store, ledger, folder, reach)
    host, base = ledger.state("host"), ledger.number("base")
    many = len(folder.bundles.get(host, ())) >= MOST
    anew = not base or folder.asked(host) >= base or many or bool(ledger.state("purged"))
    line, at = json.loads(ledger.state("looked") or "[0, 0]")
    look = Look(line, at, not patient or anew or _due(ledger) or _purged(store.db, line))
    same = ledger.state("stamp") == stamp(store.db, data) and not _unsaid(store.db)
    if same and not look.everything:
        return 0
    count = _compose(store, ledger, name, data, key, look, anew=anew)
    reach("sync:packed", None)
    flush(store, ledger, folder, reach)
    return count


def _due(ledger: Ledger) -> bool:
    """Whether all was compared longer ago than EVERY_MS."""
    return not 0 <= now_ms() - ledger.number("compared") < EVERY_MS


def _purged(db: apsw.Connection, since: int) -> bool:
    """Whether something was purged: what it changed of others, neither log nor edges tell any more."""
    return bool(db.execute("SELECT 1 FROM log WHERE id > ? AND verb = 'purge' LIMIT 1", (since,)).get)


def stamp(db: apsw.Connection, data: str) -> str:
    """Return what changes with every change of memories that is worth a bundle, and costs little to tell."""
    sql = (
        "SELECT (SELECT max(id) FROM log), (SELECT count(*) FROM receipt), (SELECT max(at) FROM receipt),"
        " (SELECT count(*) FROM rule), (SELECT count(*) FROM rejected), (SELECT sum(at) FROM rejected)"
    )
    return json.dumps([*db.execute(sql).fetchall(), len(Tombstones.rows(data))])


def flush(store: SqliteStore, ledger: Ledger, folder: Folder, reach: Reach) -> None:
    """Put into the folder what lies in the outbox, and remove what a whole bundle says again."""
    for number, whole, sealed in ledger.outbox():
        host = ledger.state("host")
        folder.write(host, number, sealed)
        reach("sync:written", None)
        if whole:
            folder.drop(host, number)
        with store.transaction():
            store.db.execute("DELETE FROM sync_outbox WHERE bundle = ?", (number,))


def _unsaid(db: apsw.Connection) -> bool:
    return bool(db.execute("SELECT 1 FROM sync_value WHERE unsaid LIMIT 1").get)


def _compose(store: SqliteStore, ledger: Ledger, name: str, data: str, key: Key, look: Look, *, anew: bool) -> int:
    """Put bundles of what has changed into the outbox, and keep the versions of that.

    What somebody changes between the look and the transaction, which is short, differs from what is kept, and is said
    the next time.
    """
    db, host, number = store.db, ledger.state("host"), ledger.number("bundle") + 1
    stamped, clock, gone = stamp(db, data), ledger.next(now_ms()), ledger.vanished()
    looked = db.execute("SELECT coalesce(max(id), 0) FROM log").get, now_ms()
    news = dict(changes(db, ledger, data, look))
    anew = anew or any(place[0] == PURGED and value is not None for place, value in news.items())
    there = ledger.born(None if anew else {uid for kind, uid, _ in news if kind == MEMORY})
    born = {uid: (host, number) for kind, uid, part in news if kind == MEMORY and part == TEXT} | there
    told = [_said(place, value, clock, host, born) for place, value in news.items()]
    told += _kept(db, data, news.keys(), born, frozenset(gone), everything=anew)
    if not told and not anew:
        with store.transaction():
            ledger.drop(gone)
            _seen(ledger, stamped, looked, look)
        return 0
    was = json.loads(ledger.state("was") or "[]")
    told.sort(key=lambda one: one.place)
    bundles, previous = list[tuple[int, bool, bytes]](), ledger.state("digest")
    for last, part in enumerate(_parts(told), number):
        said = [one._replace(born=(host, last)) if one.born == (host, number) else one for one in part]
        whole = anew and last == number
        sealed = packed(Bundle(name, host, last, previous, whole, ledger.seen(), was, said), key)
        bundles.append((last, whole, sealed))
        previous = named(sealed)
        born |= {one.place[1]: one.born for one in said if one.born}
    with store.transaction():
        ledger.drop(gone)
        for place, value in news.items():
            ledger.put(place, Version(clock, host, digest(value)))
            if place[0] == MEMORY and place[2] == TEXT:
                ledger.bear(place[1], *born[place[1]], fresh=False)
        db.execute("UPDATE sync_value SET unsaid = 0 WHERE unsaid")
        db.executemany("INSERT INTO sync_outbox VALUES (?, ?, ?)", bundles)
        ledger.keep(clock=clock, bundle=bundles[-1][0], digest=previous)
        _seen(ledger, stamped, looked, look)
        if anew:
            ledger.keep(base=number, purged="")
    return len(told)


def _parts(told: Iterable[Said]) -> list[list[Said]]:
    """Divide what is said, in order, into what fits into a bundle each: at least one, which may be empty."""
    parts, size = [list[Said]()], 0
    for _, group in groupby(told, key=lambda one: one.place[:2]):
        together = [*group]
        more = sum(len(one.line) for one in together)
        if size and size + more > PART_BYTES:
            parts.append([])
            size = 0
        parts[-1] += together
        size += more
    return parts


def _seen(ledger: Ledger, stamped: str, looked: Sequence[Any], look: Look) -> None:
    """Keep how far was looked."""
    ledger.keep(stamp=stamped, looked=json.dumps(looked))
    if look.everything:
        ledger.keep(compared=looked[1])


def _looked_at(db: apsw.Connection, ledger: Ledger, look: Look) -> list[Any]:
    """Return row and uid of the memories that are compared."""
    if look.everything:
        return db.execute("SELECT id, uid FROM memory ORDER BY id").fetchall()
    told = "SELECT m.id FROM log JOIN memory m ON m.uid = log.memory WHERE log.id > ?1"
    ends = f"SELECT src FROM link WHERE dst IN ({told}) UNION {told}"
    marks = {(uid, part): digest(value) for uid, part, value in registers.marks(db)}
    marked = json.dumps([uid for (uid, _), _ in marks.items() ^ ledger.marks().items()])
    sql = f"SELECT id, uid FROM memory WHERE id IN ({ends}) OR uid IN (SELECT value FROM json_each(?2)) ORDER BY id"
    return db.execute(sql, (look.line, marked)).fetchall()


def changes(db: apsw.Connection, ledger: Ledger, data: str, look: Look = ALL) -> Iterator[Change]:
    """Yield every value that is another than is known, None for what is no more."""
    rows = _looked_at(db, ledger, look)
    for part in (rows[first : first + _PART] for first in range(0, len(rows), _PART)):
        known = ledger.values(MEMORY, [uid for _, uid in part])
        found = registers.of_memories(db, [row for row, _ in part])
        now = {(uid, its): value for uid, parts in found for its, value in parts.items()}
        yield from _differing(MEMORY, now, known)
    others: dict[str, dict[tuple[str, str], Any]] = {kind: {} for kind in _OTHERS}
    since = 0 if look.everything else look.at - _BACK_MS
    for (kind, whose, its), value in (*registers.of_others(db, since), *marks.of(data)):
        others[kind][whose, its] = value
    for kind, now in others.items():
        yield from _differing(kind, now, ledger.values(kind))


def _differing(kind: str, now: dict[tuple[str, str], Any], known: dict[tuple[str, str], Value]) -> Iterator[Change]:
    for at, value in now.items():
        if at not in known or known[at].version.digest != digest(value):
            yield (kind, *at), value
    for at, was in known.items():
        if at not in now and was.version.digest and kind != NOTE:
            yield (kind, *at), None


def _kept(
    db: apsw.Connection,
    data: str,
    news: Collection[Place],
    born: Mapping[str, tuple[str, int]],
    gone: Collection[str],
    *,
    everything: bool,
) -> Iterator[Said]:
    """Yield what is to be said beside the news, with the versions it has: what was not yet, or everything."""
    where = "1" if everything else "unsaid"
    sql = f"SELECT kind, whose, part, clock, host, waiting FROM sync_value WHERE {where}"
    rows: list[Any] = [row for row in db.execute(sql) if row[:3] not in news and row[1] not in gone]
    if not rows:
        return
    memories = {whose for kind, whose, *_ in rows if kind == MEMORY}
    now = dict(_values(db, data, memories, everything=everything))
    for kind, whose, part, clock, host, waiting in rows:
        place = (kind, whose, part)
        yield _said(place, json.loads(waiting) if waiting else now.get(place), clock, host, born)


def _said(place: Place, value: Any, clock: int, host: str, born: Mapping[str, tuple[str, int]]) -> Said:
    clean = value if place[2].startswith("vector") else cleaned(value)
    return Said(place, clean, clock, host, born.get(place[1]) if place[0] == MEMORY and place[2] == TEXT else None)


def _values(db: apsw.Connection, data: str, memories: Iterable[str], *, everything: bool) -> Iterator[Change]:
    numbers = dict(db.execute("SELECT uid, id FROM memory"))
    rows = numbers.values() if everything else [numbers[uid] for uid in memories if uid in numbers]
    for uid, parts in registers.of_memories(db, rows):
        yield from (((MEMORY, uid, part), value) for part, value in parts.items())
    yield from registers.of_others(db)
    yield from marks.of(data)
