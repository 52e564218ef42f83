"""The rows that recall reads, made of the state of memories, rules and notes. In the transaction of their caller.

Text index, sign codes, vectors and edges of nearness are worked out from these rows elsewhere.
"""

import json
from collections.abc import Collection, Mapping
from hashlib import blake2b
from itertools import chain
from typing import Any

import apsw

from memman.model.terms import wording
from memman.model.vocabulary import EDGE_KINDS, NEWER
from memman.secrets import SCREEN, masked, screened
from memman.sqlite import LISTED, id_list
from memman.store import records
from memman.store.records import HOLDS, RECEIPT, REJECTED, REJECTED_PREFIX, RULE, Parts, Record, state_of
from memman.store.sqlite import record_log
from memman.store.sqlite.schema import UNIT_WEIGHT

# Where memories are named, by the columns that do; last of all where they are.
_TABLES = "code freshness file evidence shown vector scoped authorship mark claim outdated unlinked".split()
_NAMED = (
    *(("link", "src"), ("link", "dst")),
    *((table, "memory") for table in _TABLES),
    *(("fts", "rowid"), ("memory", "id")),
)
# Characters kept of the end of what the user typed in the turn that a memory is from.
MOST_TYPED = 600
# What a receipt keeps of where a note came from.
STAMPED = ("agent", "session", "cwd", "repository", "revision", "host", "user")
# How the detail of an edge begins that a person made; no rule of ours changes or drops it.
MANUAL = "manual"
# Kinds of edges of which each was decided about, by a model, the judge or a person.
DECIDED_KINDS = ("causal", NEWER)
# Edges that somebody decided about; all others are worked out.
DECIDED = f"(kind IN ({', '.join(str(EDGE_KINDS.index(kind)) for kind in DECIDED_KINDS)}) OR detail GLOB '{MANUAL}*')"
_TYPED = "SELECT typed FROM turn JOIN memory USING (note) WHERE id = ?"
_RULE = ("text", "tool", "pattern", "action", "memory", "made_at", "ends_at", "snoozed_until")


def state(db: apsw.Connection, uid: str) -> Parts:
    """Fold what the log has of a memory, rule or note."""
    found, winners, undos = folding(db, [uid])
    return state_of(found[uid], winners, undos)


def folding(db: apsw.Connection, uids: Collection[str]) -> tuple[dict[str, list[Record]], dict[str, str], list[Record]]:
    """Return what the state of each of some memories, rules and notes is made of, as `state_of` takes it."""
    found = record_log.of_each(db, uids)
    every = [*chain.from_iterable(found.values())]
    named = {act for one in every if one.act.startswith(records.PAIR) for act in records.hangs_on(one.body)}
    undos = record_log.undos(db, {one.act for one in every} | named)
    return found, record_log.winners(db, [*every, *undos]), undos


def stood(db: apsw.Connection, rows: Collection[int], at: int) -> set[int]:
    """Return those of some memories that were current at a moment, by the records up to then."""
    uids: dict[str, int] = dict(db.execute(f"SELECT uid, id FROM memory WHERE id {LISTED}", (id_list(rows),)))
    found, winners, undos = folding(db, list(uids))
    taken_back = [one for one in undos if one.at <= at]
    states = {uid: state_of([one for one in said if one.at <= at], winners, taken_back) for uid, said in found.items()}
    return {uids[uid] for uid, state in states.items() if state.get(records.STATUS, HOLDS)["status"] == "current"}


def rewrite(db: apsw.Connection, uids: Collection[str]) -> list[int]:
    """Write memories, rules and notes as their records say; return the rows of memories, by `uids`' order."""
    found, winners, undos = folding(db, uids)
    _ignore(db, winners)
    states = {uid: state_of(said, winners, undos) for uid, said in found.items()}
    for uid, parts in states.items():
        if records.TEXT in parts:
            _place(db, uid, parts)
    written = []
    for uid, parts in states.items():
        if records.TEXT in parts:
            written.append(_memory(db, uid, parts))
        elif row := row_of(db, uid):
            _drop(db, row)
        elif RECEIPT in parts:
            _receipt(db, uid, parts[RECEIPT])
        elif uid.startswith(REJECTED_PREFIX):
            _rejected(db, bytes.fromhex(uid.removeprefix(REJECTED_PREFIX)), parts.get(REJECTED))
        else:
            db.execute("DELETE FROM receipt WHERE note = ?", (uid,))
            _rule(db, uid, parts.get(RULE))
    return written


def _ignore(db: apsw.Connection, winners: Mapping[str, str]) -> None:
    """Note which records of acts that two machines did do not count."""
    for act, host in winners.items():
        ours = "FROM record r CROSS JOIN host h ON h.id = r.host WHERE r.act = ? AND h.name"
        db.execute(f"DELETE FROM ignored WHERE record IN (SELECT r.id {ours} = ?)", (act, host))
        db.execute(f"INSERT OR IGNORE INTO ignored SELECT r.id {ours} <> ?", (act, host))


def _drop(db: apsw.Connection, row: int) -> None:
    """Delete a memory from wherever it is named."""
    db.execute(f"DELETE FROM turn WHERE typed = ({_TYPED})", (row,))
    sql = (
        f"SELECT uid FROM memory WHERE superseded_by = ?1 OR id IN (SELECT src FROM link WHERE dst = ?1 AND {DECIDED}"
        " UNION SELECT memory FROM mark WHERE maybe = ?1 UNION SELECT memory FROM claim WHERE against = ?1)"
    )
    naming: list[Any] = db.execute(sql, (row,)).fetchall()
    for table, column in _NAMED:
        db.execute(f"DELETE FROM {table} WHERE {column} = ?", (row,))
    rewrite(db, [one for (one,) in naming])  # they wait for it now


def scope_id(db: apsw.Connection, repository: str, path: str) -> int:
    """Return the number of a scope in this store, given on first use."""
    db.execute("INSERT INTO scope(repository, path) VALUES (?, ?) ON CONFLICT DO NOTHING", (repository, path))
    number: int = db.execute("SELECT id FROM scope WHERE repository = ? AND path = ?", (repository, path)).get
    return number


def row_of(db: apsw.Connection, uid: str | None, waits: str = "") -> int | None:
    """Return the row of a memory; one that is not there yet will have the memory `waits` written again."""
    row: int | None = db.execute("SELECT id FROM memory WHERE uid = ?", (uid,)).get if uid else None
    if uid and row is None and waits:
        db.execute("INSERT INTO awaited VALUES (?, ?) ON CONFLICT DO NOTHING", (uid, waits))
    return row


def _place(db: apsw.Connection, uid: str, parts: Parts) -> None:
    """Give a memory its row, and its text in it."""
    content = parts[records.TEXT]
    values = {name: _plain(value) for name, value in content.items()}
    names, marks, said = ", ".join(values), ", ".join("?" * len(values)), tuple(values.values())
    stored = db.execute(f"SELECT {names} FROM memory WHERE uid = ?", (uid,)).fetchone()
    if stored is None:  # an upsert would use up a row id each time
        db.execute(f"INSERT INTO memory(uid, screened, {names}) VALUES (?, ?, {marks})", (uid, SCREEN, *said))
    elif stored != said:
        db.execute(f"UPDATE memory SET ({names}) = ({marks}) WHERE uid = ?", (*said, uid))


def _plain(value: Any) -> Any:
    """Return a value as a column has it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if isinstance(value, list) else value


def _memory(db: apsw.Connection, uid: str, parts: Parts) -> int:
    """Write all that stands beside a memory's text."""
    row: int = db.execute("SELECT id FROM memory WHERE uid = ?", (uid,)).get
    status = HOLDS | parts.get(records.STATUS, {})
    heir = row_of(db, status["superseded_by"], uid)
    sql = "UPDATE memory SET status = ?, valid_to = ?, retired_at = ?, superseded_by = ? WHERE id = ?"
    db.execute(sql, (status["status"], status["valid_to"], status["retired_at"], heir, row))
    scope = parts.get(records.SCOPE) or {}
    number = scope_id(db, scope.get("repository", ""), scope.get("path", "")) if scope else 0
    db.execute("INSERT OR REPLACE INTO scoped VALUES (?, ?)", (row, number))
    author, retired_by = parts.get(records.AUTHOR, ""), parts.get(records.RETIRED_BY, "")
    visibility = parts.get(records.VISIBILITY) or ("shared" if scope.get("repository") else "private")
    whose = (author, visibility, retired_by) if records.VISIBILITY in parts or author or retired_by else ()
    _beside(db, "authorship", row, *whose)
    maybe = row_of(db, parts.get(records.MAYBE), uid)
    _beside(db, "mark", row, parts.get(records.PROTECTED), parts.get(records.HELD), maybe)
    _beside(db, "freshness", row, parts.get(records.UNTIL), parts.get(records.VERIFIED))
    db.execute("DELETE FROM claim WHERE memory = ?", (row,))
    for other, sure in parts.get(records.CLAIMS, {}).items():
        if against := row_of(db, other, uid):
            db.execute("INSERT INTO claim VALUES (?, ?, ?)", (row, against, sure == records.SURELY))
    _several(db, uid, row, parts)
    waiting: list[Any] = db.execute("DELETE FROM awaited WHERE uid = ? RETURNING memory", (uid,)).fetchall()
    if waiting:
        rewrite(db, [other for (other,) in waiting])
    return row


def _beside(db: apsw.Connection, table: str, row: int, *values: Any) -> None:
    """Write the one row that a memory has in another table, none where it says nothing."""
    db.execute(f"DELETE FROM {table} WHERE memory = ?", (row,))
    if any(value is not None for value in values):
        db.execute(f"INSERT INTO {table} VALUES (?{', ?' * len(values)})", (row, *values))


def _several(db: apsw.Connection, uid: str, row: int, parts: Parts) -> None:
    """Write what there may be several of: evidence, files, edges that somebody decided about."""
    found: dict[str, list[tuple[list[str], Any]]] = {}
    for name, value in parts.items():
        part, key = records.split(name)
        if key:
            found.setdefault(part, []).append((key, value))
    db.execute("DELETE FROM evidence WHERE memory = ?", (row,))
    evidence = [(row, *key, at) for key, at in found.get(records.EVIDENCE, ())]
    db.executemany("INSERT INTO evidence VALUES (?, ?, ?, ?)", evidence)
    files = {path: blob for (path,), blob in found.get(records.FILE, ())}
    stored: list[Any] = db.execute("SELECT path, blob FROM file WHERE memory = ?", (row,)).fetchall()
    for path, blob in stored:
        if files.get(path) == blob:
            del files[path]  # a drain has looked at it since: when it changed stays known
        else:
            db.execute("DELETE FROM file WHERE memory = ? AND path = ?", (row, path))
    db.executemany("INSERT INTO file VALUES (?, ?, ?, NULL)", [(row, path, blob) for path, blob in files.items()])
    db.execute(f"DELETE FROM link WHERE src = ? AND {DECIDED}", (row,))
    for (kind, other), edge in found.get(records.EDGE, ()):
        if kind in EDGE_KINDS and (there := row_of(db, other, uid)):
            values = (row, EDGE_KINDS.index(kind), there, round(edge["weight"] * UNIT_WEIGHT), edge["detail"])
            db.execute("INSERT OR REPLACE INTO link VALUES (?, ?, ?, ?, ?)", values)


def _receipt(db: apsw.Connection, note: str, said: Parts) -> None:
    names = ", ".join(said)
    sql = f"INSERT OR REPLACE INTO receipt(note, {names}) VALUES (?, {', '.join('?' * len(said))})"
    db.execute(sql, (note, *said.values()))


def _rejected(db: apsw.Connection, digest: bytes, at: int | None) -> None:
    db.execute("DELETE FROM rejected WHERE digest = ?", (digest,))
    if at is not None:
        db.execute("INSERT INTO rejected VALUES (?, ?)", (digest, at))


def _rule(db: apsw.Connection, uid: str, said: Parts | None) -> None:
    """Write a rule, or remove one that is no more; how often it fired stays known here alone."""
    if said is None:
        db.execute("DELETE FROM rule WHERE uid = ?", (uid,))
        return
    values = {name: said[name] for name in _RULE} | {"scope": scope_id(db, said["repository"], said["path"])}
    changed = ", ".join(f"{name} = excluded.{name}" for name in values)
    sql = (
        f"INSERT INTO rule(uid, {', '.join(values)}) VALUES (?, {', '.join('?' * len(values))})"
        f" ON CONFLICT (uid) DO UPDATE SET {changed}"
    )
    db.execute(sql, (uid, *values.values()))


def rejected_digest(text: str) -> bytes:
    """Return the digest of what a text says, in whatever case and punctuation."""
    return blake2b(" ".join(wording(text.casefold())).encode("utf-8", "replace"), digest_size=16).digest()


def rejected_named(text: str) -> str:
    """Return what the log names a rejected text by."""
    return REJECTED_PREFIX + rejected_digest(text).hex()


def keep_typed(db: apsw.Connection, note: str, text: str) -> None:
    """Keep what the user typed in the turn that a note is from, without secrets: here only, it is never exported."""
    db.execute("INSERT OR REPLACE INTO turn VALUES (?, ?)", (note, screened(text)[-MOST_TYPED:]))


def typed_behind(db: apsw.Connection, note: str) -> str:
    """Return what the user typed in the turn that a note is from, '' where that was not kept."""
    return masked(db.execute("SELECT typed FROM turn WHERE note = ?", (note,)).get or "")
