"""Writes to one store. Every method runs inside the transaction its caller holds."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from types import MappingProxyType
from typing import Any

import apsw

from memman.model.records import Draft, Edge, Fact, Fingerprint, Note, Scope
from memman.model.reliability import FEEDBACK
from memman.model.terms import index_terms
from memman.model.text import questions
from memman.model.vocabulary import CLAIMS, EDGE_KINDS, HELD, HIDDEN, MAYBE, PROTECTED
from memman.secrets import SCREEN, screened
from memman.secrets.leaks import through
from memman.store import MemoryRow
from memman.store.sqlite import authorship, claims, doubts, linkers, rejected, seal, vectors
from memman.store.sqlite.images import SCOPED, Record, put_scope
from memman.store.sqlite.schema import HIDDEN_CELL, UNIT_WEIGHT
from memman.store.sqlite.unconfirmed import BEARS_OUT, SURELY
from memman.store.sqlite.unconfirmed import MAYBE as UNSURE

# Two neighbours either side: the measured optimum of the context column.
CONTEXT = 2
# How the detail of an edge begins that a person made; no rule of ours changes or drops it.
MANUAL = "manual"
_MADE_BY_RULE = f"link.detail NOT LIKE '{MANUAL}%'"
_LOGGED = ("text", "category", "importance", "entities", "valid_from", "valid_to", "status", "superseded_by")
# What a line of the log tells beside them.
_TOLD = ("why", "maybe_replaced_by", "against", "scope", "ends_at", "agent", "session")
_BORNE_OUT = "what contradicts it was borne out"


class SqliteUnit:
    """One transaction's writes. Only `commit` and the govern verbs receive one."""

    def __init__(self, db: apsw.Connection, by: Mapping[str, str] = MappingProxyType({})) -> None:
        self.db, self._by = db, {name: screened(said) for name, said in by.items() if said}
        self._note = self._kept = ""
        self.record: Record | None = None
        self._around: dict[int, list[tuple[int, int, str]]] = {}
        seal.register_functions(db)

    def receipt(self, note: Note, at: int, outcome: str, facts: int, drain: str = "", models: str = "") -> bool:
        """Record that `note` is done, by which drain and models (JSON); False when it was.

        What a model's note changes of older memories is kept with it, for `undo`.
        """
        self._note = note.uid
        self.db.execute(
            "INSERT INTO receipt(note, at, outcome, facts, agent, session, cwd, repository, revision, host, user,"
            " drain, models) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (note.uid, at, outcome, facts, *map(screened, astuple(note.provenance)[1:]), drain, models),
        )
        fresh = self.db.changes() == 1
        if fresh and models:
            self._kept, self.record = note.uid, Record(self.db)
        return fresh

    def finish(self) -> None:
        """Keep what this transaction has changed with the receipt of its note; whoever holds it calls this last."""
        images = self.record.images() if self.record and self._kept else []
        if images:
            said = json.dumps(images, ensure_ascii=False, separators=(",", ":"))
            self.db.execute("UPDATE receipt SET changed = ? WHERE note = ?", (said, self._kept))

    def _about(self, table: str, *key: Any) -> None:
        """Keep what a row says before it is changed."""
        if self.record:
            self.record.about(table, *key)

    def add(self, draft: Draft, at: int, *, held: bool = False) -> int:
        """Store one memory, without secrets, with its entities, vectors and log line; return its row id.

        One that is `held` is found by nothing until `approve`: the caller must neither index nor link it.
        """
        fact, origin = _screened(draft.fact), screened(draft.origin)
        memory: int = self.db.execute(
            "INSERT INTO memory(uid, note, text, category, importance, entities, keywords, summary, source, origin,"
            " valid_from, recorded_at, status, screened)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (
                draft.uid, draft.note, fact.text, fact.category, fact.importance,
                _json(fact.entities), _json(fact.keywords),
                fact.summary, draft.source, origin, draft.valid_from, at, "review" if held else "current", SCREEN,
            ),
        ).get  # fmt: skip
        if self.record:
            self.record.added[memory] = draft.uid
        self.seal(memory)
        self._put(memory, draft.scope)
        if draft.visibility:
            authorship.put(self.db, memory, draft.visibility)
        self._around.clear()
        if held:
            self.set_meta(HELD + draft.uid, str(at))
        else:
            self.mention(memory, fact.entities)
        for embedder, cell, planes, squares in draft.vectors:
            vectors.put(self.db, embedder, [(memory, cell, planes, squares)])
        told = {"text": fact.text, "category": fact.category} | ({"why": fact.held} if held else {})
        self._log(at, "hold" if held else "add", draft.uid, draft.note, None, told)
        return memory

    def move(self, memory: int, scope: Scope, at: int) -> bool:
        """Have a memory hold for another scope; False where it does already."""
        before = self.scope(memory)
        if before == scope:
            return False
        self._put(memory, scope)
        self._log(at, "move", self._state(memory)["uid"], "", {"scope": before}, {"scope": scope})
        return True

    def show_to(self, memory: int, visibility: str, at: int) -> bool:
        """Have a memory be seen by its author alone, or by all who share the store; False where that is so already."""
        before = authorship.visibility(self.db, memory)
        if before == visibility:
            return False
        authorship.put(self.db, memory, visibility)
        uid = self._state(memory)["uid"]
        self._log(at, "share" if visibility == "shared" else "unshare", uid, "", None, None)
        return True

    def scope(self, memory: int) -> Scope:
        """Return what a memory holds for."""
        sql = "SELECT repository, path FROM scoped JOIN scope ON scope.id = scope WHERE memory = ?"
        return Scope(*(self.db.execute(sql, (memory,)).fetchone() or ()))

    def _put(self, memory: int, scope: Scope) -> None:
        self._about(SCOPED, memory)
        put_scope(self.db, memory, screened(scope.repository), screened(scope.path))

    def supersede(self, old: int, new: int, at: int, valid_to: int, why: str) -> bool:
        """Close `old` in favour of `new`; False when it is not current any more, or others would lose it."""
        before = self._state(old)
        if before["status"] != "current" or authorship.keeps_apart(self.db, new, old):
            return False
        self._change(
            old, status="superseded", superseded_by=new, valid_to=max(valid_to, before["valid_from"]), retired_at=at
        )
        successor = self._state(new)["uid"]
        self.set_meta(MAYBE + before["uid"], None)
        self._about("meta", MAYBE + successor)
        self.db.execute("DELETE FROM meta WHERE key = ? AND value = ?", (MAYBE + successor, before["uid"]))
        self._log(at, "supersede", before["uid"], "", before, self._state(old) | {"why": why})
        return True

    def doubt(self, old: int, new: int, at: int, why: str) -> bool:
        """Mark `old` as maybe replaced by `new`, with no circle; False where one is not current or nobody may see."""
        before, after = self._state(old), self._state(new)
        if old == new or not before["status"] == after["status"] == "current":
            return False
        if authorship.keeps_apart(self.db, new, old):
            return False
        if turned := doubts.leading_back(self.db, before["uid"], after["uid"]):
            self.set_meta(MAYBE + turned, None)
        self.set_meta(MAYBE + before["uid"], after["uid"])
        self._log(at, "doubt", before["uid"], "", None, {"maybe_replaced_by": after["uid"], "why": why})
        return True

    def contradict(self, new: int, old: int, at: int, why: str, *, sure: bool) -> bool:
        """Have `new` contradict `old`, which stays until somebody bears `new` out; False if one is not current."""
        before, after = self._state(old), self._state(new)
        if old == new or not before["status"] == after["status"] == "current":
            return False
        said = {before["uid"]: SURELY if sure else UNSURE}
        self._claim(after["uid"], claims.of(self.db, after["uid"]) | said)
        self._log(at, "contradict", after["uid"], "", None, {"against": before["uid"], "why": why})
        return True

    def accord(self, new: int, old: int, at: int) -> bool:
        """Have `new` contradict `old` no more; False when it did not."""
        before, after = self._state(old)["uid"], self._state(new)["uid"]
        left = claims.of(self.db, after)
        if left.pop(before, None) is None:
            return False
        self._claim(after, left)
        self._log(at, "keep", after, "", {"against": before}, None)
        return True

    def _claim(self, uid: str, said: Mapping[str, str]) -> None:
        self.set_meta(CLAIMS + uid, json.dumps(said, separators=(",", ":")) if said else None)

    def _make_good(self, memory: int, at: int) -> None:
        """Do what a memory that is now borne out does to what it contradicts and nobody protected."""
        new = self._state(memory)
        said = claims.of(self.db, new["uid"])
        if not said or new["status"] != "current":
            return
        self._claim(new["uid"], {})
        everywhere = not self.scope(memory).repository
        for old, uid in claims.unprotected(self.db, said):
            if said[uid] == SURELY and (everywhere or self.scope(old).repository):
                self.supersede(old, memory, at, new["valid_from"], _BORNE_OUT)
            else:
                self.doubt(old, memory, at, _BORNE_OUT)

    def keep(self, memory: int, at: int) -> bool:
        """Have `memory` be maybe replaced no more; False when it was not."""
        uid = self._state(memory)["uid"]
        newer = doubts.newer(self.db, uid)
        if not newer:
            return False
        self.set_meta(MAYBE + uid, None)
        self._log(at, "keep", uid, "", {"maybe_replaced_by": newer}, None)
        return True

    def reinstate(self, memory: int, at: int) -> bool:
        """Undo `supersede`: `memory` holds again as before, beside what took its place; False when not superseded."""
        before = self._state(memory)
        if before["status"] != "superseded":
            return False
        self._change(memory, status="current", superseded_by=None, valid_to=None, retired_at=None)
        self._log(at, "reinstate", before["uid"], "", before, self._state(memory))
        return True

    def bear_out(self, memory: int, kind: str, session: str, at: int) -> bool:
        """Keep one piece of evidence a session and make good what the memory contradicts; False if it was there."""
        values = (memory, kind, screened(session), at)
        self._about("evidence", *values[:3])
        self.db.execute("INSERT INTO evidence VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", values)
        new = self.db.changes() == 1
        if kind in BEARS_OUT:
            self._make_good(memory, at)
        return new

    def expire(self, memory: int, ends_at: int | None, at: int, why: str = "") -> bool:
        """Have a memory hold until `ends_at`, None for ever; False where it does so already."""
        before = self.db.execute("SELECT ends_at FROM freshness WHERE memory = ?", (memory,)).get
        if before == ends_at:
            return False
        self._about("freshness", memory)
        sql = (
            "INSERT INTO freshness(memory, ends_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET ends_at = excluded.ends_at"
        )
        self.db.execute(sql, (memory, ends_at))
        told = {"why": why} if why else {}
        self._log(at, "expire", self._state(memory)["uid"], "", {"ends_at": before}, {"ends_at": ends_at} | told)
        return True

    def verify(self, memory: int, blobs: Mapping[str, str], session: str, at: int) -> None:
        """Record that a person found `memory` still true: what it names is as it should be, and its end has no say."""
        before = self.db.execute("SELECT ends_at FROM freshness WHERE memory = ?", (memory,)).get
        ends_at = None if before is None or before <= at else before
        sql = (
            "INSERT INTO freshness VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
            " SET ends_at = excluded.ends_at, verified_at = excluded.verified_at"
        )
        self.db.execute(sql, (memory, ends_at, at))
        self.db.execute("DELETE FROM file WHERE memory = ?", (memory,))
        self.tie(memory, blobs)
        self.db.execute(
            "DELETE FROM evidence WHERE memory = ? AND kind = 'verified' AND session = ?", (memory, session)
        )
        self.bear_out(memory, "verified", session, at)
        self._log(at, "verify", self._state(memory)["uid"], "", {"ends_at": before}, {"ends_at": ends_at})

    def tie(self, memory: int, blobs: Mapping[str, str]) -> None:
        """Keep which files, by path, `memory` names, and what they hold."""
        rows = [(memory, path, blob) for path, blob in blobs.items() if screened(path) == path]
        for _, path, _ in rows:
            self._about("file", memory, path)
        sql = (
            "INSERT INTO file VALUES (?, ?, ?, NULL) ON CONFLICT DO UPDATE SET blob = excluded.blob, changed_at = NULL"
        )
        self.db.executemany(sql, rows)

    def report(self, memory: int, kind: str, session: str, at: int) -> bool:
        """Keep what a session reported of `memory` in place of its former report; False where that is the same."""
        values = (memory, kind, session)
        if self.db.execute("SELECT 1 FROM evidence WHERE memory = ? AND kind = ? AND session = ?", values).get:
            return False
        marks = ", ".join(f"'{one}'" for one in FEEDBACK)
        self.db.execute(
            f"DELETE FROM evidence WHERE memory = ? AND session = ? AND kind IN ({marks})", (memory, session)
        )
        self._log(at, "feedback", self._state(memory)["uid"], "", None, {"why": kind})
        return self.bear_out(memory, kind, session, at)

    def refuse(self, text: str, at: int) -> None:
        """Have nobody but the user propose `text` again, until what says it is restored."""
        rejected.put(self.db, text, at)

    def confirm(self, memory: int, note: Note, at: int) -> None:
        """Record that a note said again what `memory` says."""
        uid = self.db.execute("SELECT uid FROM memory WHERE id = ?", (memory,)).get
        self._log(at, "confirm", uid, note.uid, None, None)

    def forget(self, memory: int, at: int, verb: str = "forget", why: str = "") -> bool:
        """Retire `memory` from every recall, logged as `verb` with `why`; False when it already is."""
        before = self._state(memory)
        if before["status"] == "forgotten":
            return False
        self._change(memory, status="forgotten", retired_at=before["retired_at"] or at)
        self.undoubt(before["uid"])
        self._move(memory, str(HIDDEN_CELL))
        self.renew([memory])
        verb = "reject" if before["status"] == "review" else verb
        self._log(at, verb, before["uid"], "", before, self._state(memory) | ({"why": why} if why else {}))
        return True

    def restore(self, memory: int, at: int) -> bool:
        """Undo `forget`; False when `memory` is not forgotten. What nobody has approved yet is held back again."""
        before = self._state(memory)
        if before["status"] != "forgotten":
            return False
        if self.db.execute("SELECT 1 FROM meta WHERE key = ?", (HELD + before["uid"],)).get:
            self._change(memory, status="review", retired_at=None)
        elif before["superseded_by"]:
            self._change(memory, status="superseded")
        else:
            self._change(memory, status="current", retired_at=None)
        rejected.drop(self.db, before["text"])
        self._bring_back(memory)
        self.renew([memory])
        self._log(at, "restore", before["uid"], "", before, self._state(memory))
        return True

    def approve(self, memory: int, at: int) -> bool:
        """Let `memory` be found like any other; False when not held back. The caller makes its edges."""
        before = self._state(memory)
        if before["status"] != "review":
            return False
        self.set_meta(HELD + before["uid"], None)
        self._change(memory, status="current")
        self._bring_back(memory)
        self.renew([memory])
        self._log(at, "approve", before["uid"], "", before, self._state(memory))
        return True

    def settle(self, memories: Sequence[int]) -> None:
        """Put memories whose status was changed where it says: in the text index, cells and counts of names, or not."""
        for memory in memories:
            if self._state(memory)["status"] in HIDDEN:
                self._move(memory, str(HIDDEN_CELL))
                self.unmention(memory)
            else:
                self._bring_back(memory)
        self.renew(memories)

    def tell(self, at: int, verb: str, name: str, why: str) -> None:
        """Write a line to the log about what is no memory."""
        self._log(at, verb, name, "", None, {"why": why})

    def undoubt(self, uid: str) -> None:
        """Drop the marks of what is maybe replaced that have the memory `uid` on either side."""
        doubts.drop(self.db, uid)

    def seal(self, memory: int) -> None:
        """Give `memory` the digest of what it says now; whoever writes to its row must."""
        seal.reseal(self.db, "id = ?", (memory,))

    def protect(self, memory: int, at: int, *, wanted: bool) -> bool:
        """Let no drain retire `memory` or mark it as maybe replaced, or let it again; False when that is so already."""
        uid = self._state(memory)["uid"]
        found = self.db.execute("SELECT 1 FROM meta WHERE key = ?", (PROTECTED + uid,)).get
        if bool(found) == wanted:
            return False
        self.set_meta(PROTECTED + uid, str(at) if wanted else None)
        if wanted:
            self.set_meta(MAYBE + uid, None)
            self._make_good(memory, at)
        self._log(at, "protect" if wanted else "unprotect", uid, "", None, None)
        return True

    def link(self, edges: Iterable[Edge]) -> None:
        """Store edges; of two with the same ends and kind a person's stays, or else the heavier."""
        rows = list(map(_link, edges))
        for row in rows:
            self._about("link", *row[:3])
        self.db.executemany(
            "INSERT INTO link VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET weight = excluded.weight,"
            f" detail = excluded.detail WHERE excluded.weight > weight AND {_MADE_BY_RULE}",
            rows,
        )

    def linked(self, linker: str, first: int, last: int | None = None) -> None:
        """Note what made the edges of memories from row `first` on, to `last` or the newest; no undo takes it back."""
        linkers.mark(self.db, linker, first, last)

    def link_by_hand(self, edge: Edge, at: int) -> None:
        """Store a person's edge over whatever edge of its kind there is; its detail must begin with MANUAL."""
        self.db.execute("INSERT OR REPLACE INTO link VALUES (?, ?, ?, ?, ?)", _link(edge))
        ends = [self._state(memory)["uid"] for memory in (edge.src, edge.dst)]
        self._log(at, "link", ends[0], "", None, {"why": f"{edge.kind} to {ends[1]}, {edge.detail}"})

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

    def put_aliases(self, memory: int, pairs: Iterable[tuple[str, str]]) -> None:
        """Store which names `memory` says mean the same, both ways round, in place of what it said before."""
        self.db.execute("DELETE FROM alias WHERE memory = ?", (memory,))
        rows = [(*ends, memory) for one, other in pairs for ends in ((one, other), (other, one))]
        self.db.executemany("INSERT INTO alias VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)

    def set_meta(self, key: str, value: str | None) -> None:
        """Set one of the store's settings; None removes it."""
        self._about("meta", key)
        if value is None:
            self.db.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def index(self, memories: Iterable[int]) -> None:
        """Write the text index of `memories` afresh, each with the text of its neighbours as context."""
        for memory in memories:
            row = self.db.execute("SELECT text, entities, keywords, status FROM memory WHERE id = ?", (memory,)).get
            text, entities, keywords, status = row
            self.db.execute("DELETE FROM fts WHERE rowid = ?", (memory,))
            if status in HIDDEN:
                continue
            terms = " ".join(json.loads(keywords))
            terms = " ".join((index_terms(f"{text} {terms}"), *json.loads(entities), terms))
            self.db.execute(
                "INSERT INTO fts(rowid, text, terms, context) VALUES (?, ?, ?, ?)",
                (memory, text, terms, self._context(memory)),
            )

    def questions(self, memory: int) -> list[str]:
        """Return the questions that a model says a memory answers."""
        keywords: str = self.db.execute("SELECT keywords FROM memory WHERE id = ?", (memory,)).get
        return questions(json.loads(keywords)) if '?"' in keywords else []

    def renew(self, memories: Sequence[int]) -> None:
        """Write the text index of `memories`, and of those whose context they are, afresh; drains renew the vectors."""
        self._around.clear()
        touched = self.touched(memories)
        self.index(touched)
        vectors.outdate(self.db, touched)

    def in_context(self, memory: int) -> list[tuple[int, int, str]]:
        """Return (distance, id, text) of a memory, at 0, and of those around it in the same session, or else note."""
        if memory in self._around:
            return self._around[memory]
        origin, note, text = self.db.execute("SELECT origin, note, text FROM memory WHERE id = ?", (memory,)).get
        # An origin without a session strings together unrelated notes: there only the note itself is context.
        session = not origin.startswith("@")
        near = [(0, memory, text)]
        for beyond, order in (("<", "DESC"), (">", "ASC")):
            rows = self.db.execute(
                f"SELECT id, note, text FROM memory WHERE origin = ? AND id {beyond} ? AND status NOT IN {HIDDEN}"
                f" ORDER BY id {order} LIMIT {CONTEXT}",
                (origin, memory),
            )
            near += [(n, other, its) for n, (other, its_note, its) in enumerate(rows, 1) if session or its_note == note]
        self._around[memory] = near
        return near

    def touched(self, memories: Sequence[int]) -> list[int]:
        """Return `memories` and those whose context they are."""
        return list(dict.fromkeys(other for memory in memories for _, other, _ in self.in_context(memory)))

    def _context(self, memory: int) -> str:
        near = sorted((other, text) for distance, other, text in self.in_context(memory) if distance)
        return " ".join(text for _, text in near)

    def mention(self, memory: int, entities: Sequence[str]) -> None:
        """Record that a memory names entities."""
        for name in dict.fromkeys(name.casefold() for name in entities):
            number = self.db.execute(
                "INSERT INTO entity(name, count) VALUES (?, 1)"
                " ON CONFLICT (name) DO UPDATE SET count = count + 1 RETURNING id",
                (name,),
            ).get
            self.db.execute("INSERT INTO mention VALUES (?, ?)", (number, memory))

    def unmention(self, memory: int) -> None:
        """Drop the record that a memory names entities."""
        named = "(SELECT entity FROM mention WHERE memory = ?)"
        self.db.execute(f"UPDATE entity SET count = count - 1 WHERE id IN {named}", (memory,))
        self.db.execute("DELETE FROM mention WHERE memory = ?", (memory,))
        self.db.execute("DELETE FROM entity WHERE count <= 0")

    def _change(self, memory: int, **values: object) -> None:
        """Set columns of one memory, and its digest with them."""
        self._about("memory", memory)
        columns = ", ".join(f"{name} = ?" for name in values)
        self.db.execute(f"UPDATE memory SET {columns} WHERE id = ?", (*values.values(), memory))
        self.seal(memory)

    def _bring_back(self, memory: int) -> None:
        """Put a memory where its status belongs: among those that name something and into its cell, or not."""
        state = self._state(memory)
        if state["status"] not in HIDDEN:
            if not self.db.execute("SELECT 1 FROM mention WHERE memory = ?", (memory,)).get:
                self.mention(memory, json.loads(state["entities"]))
            home = "SELECT cell FROM vector v WHERE v.embedder = code.embedder AND v.memory = code.memory"
            self._move(memory, f"({home})")

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

    def _log(
        self, at: int, verb: str, uid: str, note: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
    ) -> None:
        if self._by and not note:
            after = {**(after or {}), **self._by}
        write_log(self.db, at, verb, uid, note or self._note, _changed(before, after), _changed(after, before))


def write_log(
    db: apsw.Connection,
    at: int,
    verb: str,
    uid: str,
    note: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> None:
    """Write a line of the log, without secrets."""
    said = (None if side is None else through(side) for side in (before, after))
    sides = [side if side is None else json.dumps(side, ensure_ascii=False, separators=(",", ":")) for side in said]
    sql = "INSERT INTO log(at, verb, memory, note, before, after) VALUES (?, ?, ?, ?, ?, ?)"
    db.execute(sql, (at, verb, uid, note, *sides))


def _link(edge: Edge) -> tuple[int, int, int, int, str]:
    plain = edge.kind == "temporal" and not edge.detail.startswith(MANUAL)
    weight = round(edge.weight * UNIT_WEIGHT)
    return edge.src, EDGE_KINDS.index(edge.kind), edge.dst, weight, "" if plain else screened(edge.detail)


def _screened(fact: Fact) -> Fact:
    """Take secrets out of a fact, by the rules that its row will name."""
    entities, keywords = (tuple(map(screened, names)) for names in (fact.entities, fact.keywords))
    return replace(fact, text=screened(fact.text), summary=screened(fact.summary), entities=entities, keywords=keywords)


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def _changed(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return those fields of `one` that differ from `other`."""
    if one is None:
        return None
    return {k: v for k, v in one.items() if k in _LOGGED + _TOLD and (other is None or other.get(k) != v)}
