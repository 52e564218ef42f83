"""Writes to one store. Every method runs inside the transaction its caller holds."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from types import MappingProxyType
from typing import Any

import apsw

from memman.belief import (
    BEARS_OUT,
    CONTRADICTS,
    ENDS,
    FEEDBACK,
    MAY_END,
    MAYBE,
    STANDS_BEFORE,
    UNWANTED,
    UPDATE,
    VERIFIED,
    effect,
    outlasts,
)  # fmt: skip
from memman.model.records import Draft, Edge, Fingerprint, Note, Scope
from memman.model.uid import new_uid
from memman.model.vocabulary import EDGE_KINDS, HIDDEN
from memman.secrets import screened
from memman.secrets.leaks import through
from memman.sqlite import LISTED, id_list
from memman.store import MemoryRow, records
from memman.store.records import HOLDS, KIND_OF, Parts, body, named
from memman.store.sqlite import beliefs, index, record_log, scopes, vectors, words
from memman.store.sqlite.index import DECIDED_KINDS, MANUAL
from memman.store.sqlite.schema import HIDDEN_CELL, UNIT_WEIGHT

_MADE_BY_RULE = f"link.detail NOT LIKE '{MANUAL}%'"
# What the log tells of how a memory stood and stands.
_TOLD = ("status", "superseded_by", "valid_to")
# The cell that a memory's vector belongs to.
_HOME = "(SELECT cell FROM vector v WHERE v.embedder = code.embedder AND v.memory = code.memory)"
_BORNE_OUT = "its contradiction was confirmed"


class SqliteUnit:
    """One transaction's writes. Only `commit` and verbs receive one.

    What somebody decides becomes a record of one act, and the index follows; what is worked out goes into the index.
    """

    def __init__(self, db: apsw.Connection, by: Mapping[str, str] = MappingProxyType({})) -> None:
        self.db, self._by = db, {name: screened(said) for name, said in by.items() if said}
        self.act, self._note = "", ""
        self._of: Sequence[str] = ()

    def receipt(self, note: Note, at: int, outcome: str, facts: int, drain: str = "", models: str = "") -> bool:
        """Record that `note` is done, by which drain and models (JSON); False when it was."""
        if not self.act:
            self._note = self.act = note.uid
        if self.db.execute("SELECT 1 FROM receipt WHERE note = ?", (note.uid,)).get:
            return False
        stamped = dict(zip(index.STAMPED, map(screened, astuple(note.provenance)[1:]), strict=True))
        said = {"at": at, "outcome": outcome, "facts": facts, **stamped, "drain": drain, "models": models}
        self.record(
            at, note.uid, "note", {records.RECEIPT: {name: value for name, value in said.items() if value != ""}}
        )
        return True

    def add(self, draft: Draft, at: int, *, held: bool = False) -> int:
        """Store one memory, without secrets, with its vectors and log line; return its row id.

        One that is `held` is found by nothing until `approve`: the caller must neither index nor link it.
        """
        said = {name: getattr(draft.fact, name) for name in records.SAID if hasattr(draft.fact, name)}
        said = through(said | {"origin": draft.origin})
        said |= {"note": draft.note, "source": draft.source, "valid_from": draft.valid_from, "recorded_at": at}
        sets: Parts = {records.TEXT: said, records.STATUS: HOLDS | ({"status": "review"} if held else {})}
        if draft.scope.repository:
            sets[records.SCOPE] = _scope(draft.scope)
        if draft.visibility:
            sets[records.VISIBILITY] = draft.visibility
        if held:
            sets[records.HELD] = at
        now = {"why": draft.fact.held} if held else None
        memory = self.record(at, draft.uid, "hold" if held else "add", sets, now=now)
        for embedder, cell, planes, squares in draft.vectors:
            vectors.put(self.db, embedder, [(memory, cell, planes, squares)])
        return memory

    def move(self, memory: int, scope: Scope, at: int) -> bool:
        """Have a memory hold for another scope; False where it does already."""
        before = self.scope(memory)
        if before == scope:
            return False
        sets: Parts = {records.SCOPE: _scope(scope)}
        if scopes.role(self.db):  # where it holds says nothing any more of who sees it
            sets[records.VISIBILITY] = scopes.visibility(self.db, memory)
        self.record(at, self.uid(memory), "move", sets, {"scope": before}, {"scope": scope})
        return True

    def show_to(self, memory: int, visibility: str, at: int) -> bool:
        """Have a memory be seen by its author alone, or by all who share the store; False where that is so already."""
        before = scopes.visibility(self.db, memory)
        if before == visibility:
            return False
        how = "share" if visibility == "shared" else "unshare"
        self.record(at, self.uid(memory), how, {records.VISIBILITY: visibility})
        return True

    def scope(self, memory: int) -> Scope:
        """Return what a memory holds for."""
        sql = "SELECT repository, path FROM scoped JOIN scope ON scope.id = scope WHERE memory = ?"
        return Scope(*(self.db.execute(sql, (memory,)).fetchone() or ()))

    def supersede(self, old: int, new: int, at: int, valid_to: int, why: str) -> bool:
        """Close `old` in favour of `new`; False when it is not current any more, or others would lose it."""
        before = self._state(old)
        if before["status"] != "current" or scopes.keeps_apart(self.db, new, old):
            return False
        successor, claims = self.uid(new), self._claims(before["uid"])
        valid_to = max(valid_to, before["valid_from"])
        status = {"status": "superseded", "valid_to": valid_to, "retired_at": at, "superseded_by": successor}
        self._settle(at, old, "supersede", status, {records.MAYBE: None}, why)
        if beliefs.marked(self.db, new) == old:
            self.record(at, successor, "settle", {records.MAYBE: None})
        if claims and beliefs.statements(self.db, [new])[new].lone:
            for uid, sure in claims.items():  # an agent's second word for it is against what its first was against
                if row := index.row_of(self.db, uid):
                    self.contradict(new, row, at, why, sure=sure == records.SURELY)
        return True

    def carry_out(self, what: str, old: int, new: int, at: int, valid_to: int, why: str) -> bool:
        """Do what a newer memory does to an older one (`belief.effect`); return whether it retired it."""
        if what == ENDS:
            return self.supersede(old, new, at, valid_to, why)
        if what in {MAY_END, STANDS_BEFORE}:
            self.doubt(old, new, at, f"{why}, but only for a while" if what == STANDS_BEFORE else why)
        elif what:
            self.contradict(new, old, at, why, sure=what == CONTRADICTS)
        return False

    def doubt(self, old: int, new: int, at: int, why: str) -> bool:
        """Mark `old` as maybe replaced by `new`, with no circle and by nothing that holds for less long than another.

        False where it is not, one is not current, or nobody may see.
        """
        before, after = self._state(old), self._state(new)
        if old == new or not before["status"] == after["status"] == "current":
            return False
        marked = beliefs.newer(self.db, old) or new
        known = beliefs.statements(self.db, [new, marked])
        if scopes.keeps_apart(self.db, new, old) or outlasts(known[marked].ends_at, known[new].ends_at):
            return False
        if turned := beliefs.leading_back(self.db, old, new):
            self.record(at, self.uid(turned), "settle", {records.MAYBE: None})
        told = {"maybe_replaced_by": after["uid"], "why": why}
        self.record(at, before["uid"], "doubt", {records.MAYBE: after["uid"]}, None, told)
        return True

    def contradict(self, new: int, old: int, at: int, why: str, *, sure: bool) -> bool:
        """Have `new` contradict `old`, which stays until somebody bears `new` out; False if one is not current."""
        before, after = self._state(old), self._state(new)
        if old == new or not before["status"] == after["status"] == "current":
            return False
        said = self._claims(after["uid"]) | {before["uid"]: records.SURELY if sure else records.UNSURE}
        told = {"against": before["uid"], "why": why}
        self.record(at, after["uid"], "contradict", {records.CLAIMS: said}, None, told)
        return True

    def accord(self, new: int, old: int, at: int) -> bool:
        """Have `new` contradict `old` no more; False when it did not."""
        before, after = self._state(old)["uid"], self._state(new)["uid"]
        left = self._claims(after)
        if left.pop(before, None) is None:
            return False
        self.record(at, after, "keep", {records.CLAIMS: left or None}, {"against": before})
        return True

    def _claims(self, uid: str) -> dict[str, str]:
        """Return what a memory claims to be against, and how surely."""
        found: dict[str, str] = index.state(self.db, uid).get(records.CLAIMS, {})
        return {**found}

    def _make_good(self, memory: int, at: int) -> None:
        """Do what a memory that is now borne out does to what it contradicts."""
        new = self._state(memory)
        said = self._claims(new["uid"])
        if not said or new["status"] != "current":
            return
        self.record(at, new["uid"], "settle", {records.CLAIMS: None})
        rows = {row: sure for uid, sure in said.items() if (row := index.row_of(self.db, uid))}
        known = beliefs.statements(self.db, [memory, *rows])
        for old in sorted(rows):
            what = effect(UPDATE if rows[old] == records.SURELY else MAYBE, known[memory], known[old])
            self.carry_out(what, old, memory, at, new["valid_from"], _BORNE_OUT)

    def keep(self, memory: int, at: int) -> bool:
        """Have `memory` be maybe replaced no more; False when it was not."""
        newer = beliefs.newer(self.db, memory)
        if not newer:
            return False
        self.record(at, self.uid(memory), "keep", {records.MAYBE: None}, {"maybe_replaced_by": self.uid(newer)})
        return True

    def reinstate(self, memory: int, at: int, why: str = "") -> bool:
        """Undo `supersede`: `memory` holds again as before, beside what took its place; False when not superseded."""
        before = self._state(memory)
        if before["status"] != "superseded":
            return False
        self._settle(at, memory, "reinstate", HOLDS, why=why)
        return True

    def pass_on(self, memory: int, at: int) -> None:
        """Have what a memory took the place of be superseded by what took its own."""
        heir = self._status(memory)["superseded_by"]
        passed: list[Any] = self.db.execute("SELECT id FROM memory WHERE superseded_by = ?", (memory,)).fetchall()
        for (old,) in passed if heir else ():  # without one it keeps the name of what is no more
            status = self._status(old) | {"superseded_by": heir}
            self.record(at, self.uid(old), "settle", {records.STATUS: status})

    def bear_out(self, memory: int, kind: str, session: str, at: int) -> bool:
        """Keep one piece of evidence a session and make good what the memory contradicts; False if it was there."""
        new = not self._has_evidence(memory, kind, session)
        if new:
            sets = {named(records.EVIDENCE, kind, screened(session)): at}
            self.record(at, self.uid(memory), "support", sets)
        if kind in BEARS_OUT:
            self._make_good(memory, at)
        return new

    def expire(self, memory: int, ends_at: int | None, at: int) -> bool:
        """Have a memory hold until `ends_at`, None for ever; False where it does so already."""
        before = self.db.execute("SELECT ends_at FROM freshness WHERE memory = ?", (memory,)).get
        if before == ends_at:
            return False
        told = {"ends_at": before}, {"ends_at": ends_at}
        self.record(at, self.uid(memory), "expire", {records.UNTIL: ends_at}, *told)
        return True

    def verify(self, memory: int, blobs: Mapping[str, str], session: str, at: int) -> None:
        """Record that a person found `memory` still true: what it names is as it should be, and its end has no say."""
        before = self.db.execute("SELECT ends_at FROM freshness WHERE memory = ?", (memory,)).get
        ends_at = None if before is None or before <= at else before
        paths = self.db.execute("SELECT path FROM file WHERE memory = ?", (memory,))
        files = {named(records.FILE, path): None for (path,) in paths}
        sets = {records.UNTIL: ends_at, records.VERIFIED: at, **files, **_named_files(blobs)}
        sets[named(records.EVIDENCE, VERIFIED, screened(session))] = at
        self.record(at, self.uid(memory), "verify", sets, {"ends_at": before}, {"ends_at": ends_at})
        self._make_good(memory, at)

    def tie(self, memory: int, blobs: Mapping[str, str], at: int) -> None:
        """Keep which files, by path, `memory` names, and what they hold."""
        if sets := _named_files(blobs):
            self.record(at, self.uid(memory), "name", sets)

    def report(self, memory: int, kind: str, session: str, at: int) -> bool:
        """Keep what a session reported of `memory` in place of its former report; False where that is the same."""
        if self._has_evidence(memory, kind, session):
            return False
        said = screened(session)
        sets = {named(records.EVIDENCE, one, said): at if one == kind else None for one in {*FEEDBACK, kind}}
        self.record(at, self.uid(memory), "feedback", sets, None, {"why": kind})
        return True

    def want(self, memory: int, at: int) -> None:
        """Have nobody ask any more for a memory to be forgotten."""
        sessions = self.db.execute("SELECT session FROM evidence WHERE memory = ? AND kind = ?", (memory, UNWANTED))
        sets = {named(records.EVIDENCE, UNWANTED, str(session)): None for (session,) in sessions.fetchall()}
        self.record(at, self.uid(memory), "support", sets)

    def _has_evidence(self, memory: int, kind: str, session: str) -> bool:
        sql = "SELECT 1 FROM evidence WHERE memory = ? AND kind = ? AND session = ?"
        return bool(self.db.execute(sql, (memory, kind, screened(session))).get)

    def refuse(self, text: str, at: int) -> None:
        """Have nobody but the user propose `text` again, until what says it is restored."""
        self.record(at, index.rejected_named(text), "refuse", {records.REJECTED: at})

    def confirm(self, memory: int, note: Note, at: int) -> None:
        """Record that a note said again what `memory` says."""
        if not self.act:
            self._note = self.act = note.uid
        self.record(at, self.uid(memory), "confirm", {})

    def forget(self, memory: int, at: int, verb: str = "forget", why: str = "") -> bool:
        """Retire `memory` from every recall, logged as `verb` with `why`; False when it already is."""
        before = self._state(memory)
        if before["status"] == "forgotten":
            return False
        verb = "reject" if before["status"] == "review" else verb
        status = self._status(memory) | {"status": "forgotten", "retired_at": before["retired_at"] or at}
        self._settle(at, memory, verb, status, why=why)
        self.settle([memory])
        return True

    def restore(self, memory: int, at: int) -> bool:
        """Undo `forget`; False when `memory` is not forgotten. What nobody has approved yet is held back again."""
        before = self._state(memory)
        if before["status"] != "forgotten":
            return False
        held = self.db.execute("SELECT held FROM mark WHERE memory = ?", (memory,)).get
        status = self._status(memory)
        stands = "review" if held else "superseded" if status["superseded_by"] else "current"
        again = status | {"status": stands} | ({} if stands == "superseded" else {"retired_at": None})
        self._settle(at, memory, "restore", again)
        if self.db.execute("SELECT 1 FROM rejected WHERE digest = ?", (index.rejected_digest(before["text"]),)).get:
            self.record(at, index.rejected_named(before["text"]), "refuse", {records.REJECTED: None})
        self.settle([memory])
        return True

    def approve(self, memory: int, at: int) -> bool:
        """Let `memory` be found like any other, and drains make its edges; False when not held back."""
        before = self._state(memory)
        if before["status"] != "review":
            return False
        self._settle(at, memory, "approve", self._status(memory) | {"status": "current"}, {records.HELD: None})
        self.unlinked(memory, memory)
        self.settle([memory])
        return True

    def settle(self, memories: Sequence[int], around: Iterable[int] = ()) -> list[int]:
        """Put memories that were written anew where they belong in the text index and in cells.

        Return them, those whose context they are, and those `around` them that are still there.
        """
        for memory in memories:
            hidden = self._status(memory)["status"] in HIDDEN
            self._move(memory, str(HIDDEN_CELL) if hidden else _HOME)
        there = self.db.execute(f"SELECT id FROM memory WHERE id {LISTED}", (id_list(around),))
        return words.renew(self.db, [*memories, *(row for (row,) in there)])

    def follow(self, new: Iterable[records.Record]) -> list[int]:
        """Have the index follow records that were added or changed, their words at once.

        Return the rows of the memories that they changed, and of those around: vectors and edges are left to do.
        """
        news = sorted(new, key=lambda one: one.order)
        twice = record_log.of_acts(self.db, record_log.doubled(self.db, (one.act for one in news if one.act)))
        bearing = [*news, *twice]
        uids = [*dict.fromkeys(one.memory for one in (*bearing, *record_log.taken_back(self.db, bearing)))]
        sql = f"SELECT id, text FROM memory WHERE uid {LISTED}"
        last = self.db.execute("SELECT max(id) FROM memory").get or 0
        before: dict[int, str] = dict(self.db.execute(sql, (json.dumps(uids),)))
        around = words.touched(self.db, [*before])
        rows = index.rewrite(self.db, uids)
        after: dict[int, str] = dict(self.db.execute(sql, (json.dumps(uids),)))
        if changed := [row for row, text in before.items() if after.get(row, text) != text]:
            vectors.wipe(self.db, changed)
            vectors.fall_back(self.db, min(changed))
        if (newest := max(rows, default=0)) > last:
            self.unlinked(last + 1, newest)
        return self.settle(rows, around)

    def protect(self, memory: int, at: int, *, wanted: bool) -> bool:
        """Let no drain retire `memory` or mark it as maybe replaced, or let it again; False when that is so already."""
        if beliefs.statements(self.db, [memory])[memory].protected == wanted:
            return False
        sets = {records.PROTECTED: at, records.MAYBE: None} if wanted else {records.PROTECTED: None}
        self.record(at, self.uid(memory), "protect" if wanted else "unprotect", sets)
        if wanted:
            self._make_good(memory, at)
        return True

    def link(self, edges: Iterable[Edge], at: int = 0) -> None:
        """Store edges; of two with the same ends and kind a person's stays, or else the heavier."""
        decided: dict[int, Parts] = {}
        for edge in edges:
            if edge.kind in DECIDED_KINDS:
                if self._lighter(edge):
                    decided.setdefault(edge.src, {})[self._edge(edge)] = _weighed(edge)
                continue
            self.db.execute(
                "INSERT INTO link VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET weight = excluded.weight,"
                f" detail = excluded.detail WHERE excluded.weight > weight AND {_MADE_BY_RULE}",
                _link(edge),
            )
        for memory, sets in decided.items():
            self.record(at, self.uid(memory), "cause", sets)

    def _lighter(self, edge: Edge) -> bool:
        """Whether what is stored between two memories gives way to an edge."""
        src, kind, dst, weight, _ = _link(edge)
        sql = "SELECT weight, detail FROM link WHERE src = ? AND kind = ? AND dst = ?"
        stored: Any = self.db.execute(sql, (src, kind, dst)).fetchone()
        return not stored or (weight > stored[0] and not stored[1].startswith(MANUAL))

    def _edge(self, edge: Edge) -> str:
        return named(records.EDGE, edge.kind, self.uid(edge.dst))

    def unlinked(self, first: int, last: int) -> None:
        """Have drains make the edges of a run of rows."""
        sql = "INSERT OR IGNORE INTO unlinked SELECT id FROM memory WHERE id BETWEEN ? AND ?"
        self.db.execute(sql, (first, last))

    def link_by_hand(self, edge: Edge, at: int) -> None:
        """Store a person's edge over whatever edge of its kind there is; its detail must begin with MANUAL."""
        told = {"why": f"{edge.kind} to {self.uid(edge.dst)}, {edge.detail}"}
        self.record(at, self.uid(edge.src), "link", {self._edge(edge): _weighed(edge)}, None, told)

    def unlink(self, kinds: Sequence[str], memory: int) -> None:
        """Drop the edges of some kinds to earlier memories, but for a person's and those to hidden ones."""
        marks = ", ".join("?" for _ in kinds)
        for this, other in (("src", "dst"), ("dst", "src")):
            self.db.execute(
                f"DELETE FROM link WHERE {this} = ?1 AND {other} < ?1 AND kind IN ({marks}) AND {_MADE_BY_RULE}"
                f" AND coalesce((SELECT status FROM memory WHERE id = {other}), '') NOT IN {HIDDEN}",
                (memory, *map(EDGE_KINDS.index, kinds)),
            )

    def embedder(self, fingerprint: Fingerprint) -> int:
        """Return the number of `fingerprint`'s vectors in this store, given on first use."""
        values = (fingerprint.provider, fingerprint.model, fingerprint.dimension)
        self.db.execute(
            "INSERT INTO embedder(provider, model, dimension) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", values
        )
        number: int = self.db.execute(
            "SELECT id FROM embedder WHERE provider = ? AND model = ? AND dimension = ?", values
        ).get
        return number

    def put_vectors(self, embedder: int, rows: Iterable[vectors.Row]) -> None:
        """Store vectors, each in place of the one its memory had."""
        vectors.put(self.db, embedder, rows)

    def set_meta(self, key: str, value: str | None) -> None:
        """Set one of the store's settings; None removes it."""
        if value is None:
            self.db.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def _move(self, memory: int, cell: str) -> None:
        """Put a memory's sign codes into another cell."""
        for embedder, home in self.db.execute(
            "SELECT embedder, cell FROM vector WHERE memory = ?", (memory,)
        ).fetchall():
            self.db.execute(
                f"UPDATE code SET cell = {cell} WHERE embedder = ? AND memory = ? AND cell IN (?, {HIDDEN_CELL})",
                (embedder, memory, home),
            )

    def _state(self, memory: int) -> dict[str, Any]:
        sql = f"SELECT {MemoryRow.listed()} FROM memory WHERE id = ?"
        return MemoryRow(self.db.execute(sql, (memory,)).get).record()

    def uid(self, memory: int) -> str:
        """Return the uid of a memory by its row."""
        return str(self.db.execute("SELECT uid FROM memory WHERE id = ?", (memory,)).get)

    def _status(self, memory: int) -> Parts:
        """Return how a memory stands, as a part of its state."""
        sql = (
            "SELECT status, valid_to, retired_at, (SELECT uid FROM memory n WHERE n.id = m.superseded_by)"
            " FROM memory m WHERE id = ?"
        )
        row: Any = self.db.execute(sql, (memory,)).fetchone()
        return dict(zip(HOLDS, row, strict=True))

    def _settle(
        self,
        at: int,
        memory: int,
        how: str,
        status: Parts,
        sets: Mapping[str, Any] = MappingProxyType({}),
        why: str = "",
    ) -> None:
        """Have a memory stand otherwise; the record says what differs, and why."""
        was, now = differing(self._status(memory), status)
        told = now | ({"why": why} if why else {})
        self.record(at, self.uid(memory), how, {records.STATUS: status, **sets}, was, told)

    @contextmanager
    def other_act(self, at: int, note: str = "", act: str = "", of: Sequence[str] = ()) -> Iterator[None]:
        """Have what is recorded inside be an act of its own, or a note's, which an undo can take back by itself.

        With the acts `of` it is undone, too.
        """
        mine = self.act, self._note, self._of
        self.act, self._note, self._of = act or note or new_uid(at), note, of
        try:
            yield
        finally:
            self.act, self._note, self._of = mine

    def act_at(self, at: int) -> str:
        """Return the uid of the act that this transaction is: of its note, or a new one."""
        if not self.act:
            self.act = new_uid(at)
        return self.act

    def record(
        self,
        at: int,
        uid: str,
        how: str,
        sets: Mapping[str, Any],
        was: Mapping[str, Any] | None = None,
        now: Mapping[str, Any] | None = None,
        *,
        write: bool = True,
        **said: Any,
    ) -> int:
        """Append a record of this act and write what it is about anew; return the row of a memory, 0 of all else.

        Without `write` its caller writes the index.
        """
        told = {**(now or {}), **({} if self._note else self._by)}
        text = body(how, set=sets, was=_clean(was or {}), now=_clean(told), of=[*self._of] or None, **said)
        record_log.append(self.db, at, self.act_at(at), uid, KIND_OF[how], text)
        rows = index.rewrite(self.db, [uid]) if write else []
        return rows[0] if rows else 0


def differing(before: Parts, after: Parts) -> tuple[Parts, Parts]:
    """Return what the log tells of how a memory stood and stands, where that differs."""
    names = [name for name in _TOLD if before.get(name) != after.get(name)]
    was, now = ({name: side[name] for name in names if name in side} for side in (before, after))
    return was, now


def _clean(side: Mapping[str, Any]) -> Parts:
    """Take secrets out of what a record tells of before or afterwards; how a memory stands holds none."""
    return {name: said if name in _TOLD else through(said) for name, said in side.items()}


def _link(edge: Edge) -> tuple[int, int, int, int, str]:
    plain = edge.kind == "temporal" and not edge.detail.startswith(MANUAL)
    weight = round(edge.weight * UNIT_WEIGHT)
    return edge.src, EDGE_KINDS.index(edge.kind), edge.dst, weight, "" if plain else screened(edge.detail)


def _scope(scope: Scope) -> Parts | None:
    """Return a scope as a part of a memory's state; what holds everywhere has none."""
    named_by = {"repository": screened(scope.repository), "path": screened(scope.path)}
    return {name: said for name, said in named_by.items() if said} or None


def _named_files(blobs: Mapping[str, str]) -> Parts:
    return {named(records.FILE, path): blob for path, blob in blobs.items() if screened(path) == path}


def _weighed(edge: Edge) -> Parts:
    *_, weight, detail = _link(edge)
    return {"weight": weight / UNIT_WEIGHT, "detail": detail}
