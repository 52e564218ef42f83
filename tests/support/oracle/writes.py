"""What a transaction writes to the oracle."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memman.model.records import EVERYWHERE, Draft, Edge, Note, Scope
from memman.model.reliability import FEEDBACK
from memman.model.terms import index_terms
from memman.model.vocabulary import (
    CLAIMS,
    EDGE_KINDS,
    HELD,
    HIDDEN,
    MAYBE,
    ON_MACHINE,
    PROTECTED,
)
from memman.secrets import screened
from memman.store import MemoryRow
from memman.store.sqlite.rejected import digest
from tests.support.oracle.reads import BEARS_OUT, Reads
from tests.support.oracle.words import tokens

# What a line of the log tells.
LOGGED = (
    *("text", "category", "importance", "entities", "valid_from", "valid_to", "status", "superseded_by"),
    *("why", "maybe_replaced_by", "against", "scope", "ends_at"),
)
MANUAL, CONTEXT = "manual", 2


class Writes(Reads):
    """The writes to one store."""

    def receipt(self, note: Note, at: int, outcome: str, facts: int, drain: str = "", models: str = "") -> bool:
        """Record that a note is done."""
        self._note = note.uid
        if note.uid in self.state.receipts:
            return False
        p = note.provenance
        self.state.receipts[note.uid] = {
            "note": note.uid,
            "at": at,
            "outcome": outcome,
            "facts": facts,
            "agent": p.agent,
            "session": p.session,
            "cwd": p.cwd,
            "repository": p.repository,
            "revision": p.commit,
            "host": p.host,
            "user": p.user,
            "drain": drain,
            "models": models,
        }
        if models:
            self._since, self._before = note.uid, self.state.copy()
        return True

    def add(self, draft: Draft, at: int, *, held: bool = False) -> int:
        """Store a memory."""
        fact, memory = draft.fact, self.state.last[0] + 1
        self.state.last = (memory, self.state.last[1])
        text, summary, origin = map(screened, (fact.text, fact.summary, draft.origin))
        entities, keywords = ([screened(one) for one in names] for names in (fact.entities, fact.keywords))
        self.state.memories[memory] = MemoryRow.of(
            id=memory, uid=draft.uid, note=draft.note, text=text, category=fact.category, importance=fact.importance,
            entities=_json(entities), keywords=_json(keywords), summary=summary, source=draft.source, origin=origin,
            valid_from=draft.valid_from, valid_to=None, recorded_at=at, retired_at=None,
            status="review" if held else "current", superseded_by=None, uses=0,
        )  # fmt: skip
        self._put(memory, draft.scope)
        if draft.visibility:
            self.state.visibility[memory] = draft.visibility
        if held:
            self.set_meta(HELD + draft.uid, str(at))
        else:
            self.mention(memory, entities)
        for embedder, cell, planes, squares in draft.vectors:
            self.put_vectors(embedder, [(memory, cell, planes, squares)])
        told = {"text": text, "category": fact.category} | ({"why": fact.held} if held else {})
        self._log(at, "hold" if held else "add", draft.uid, None, told, draft.note)
        return memory

    def _put(self, memory: int, scope: Scope) -> None:
        self.state.scopes[memory] = Scope(screened(scope.repository), screened(scope.path))
        self._number(self.state.scopes[memory])

    def scope(self, memory: int) -> Scope:
        """Return what a memory holds for."""
        return self.state.scopes.get(memory, EVERYWHERE)

    def move(self, memory: int, scope: Scope, at: int) -> bool:
        """Have it hold for another scope."""
        before = self.scope(memory)
        if before == scope:
            return False
        self._put(memory, scope)
        self._log(at, "move", self._uid(memory), {"scope": before}, {"scope": scope})
        return True

    def supersede(self, old: int, new: int, at: int, valid_to: int, why: str) -> bool:
        """Close a memory in favour of another."""
        before, heir = self.state.memories[old], self._uid(new)
        if before.status != "current":
            return False
        ends = max(valid_to, before.valid_from)
        self._change(old, status="superseded", superseded_by=new, valid_to=ends, retired_at=at)
        self.set_meta(MAYBE + before.uid, None)
        if self.meta(MAYBE + heir) == before.uid:
            self.set_meta(MAYBE + heir, None)
        self._log(at, "supersede", before.uid, before.record(), self._record(old) | {"why": why})
        return True

    def doubt(self, old: int, new: int, at: int, why: str) -> bool:
        """Mark a memory as maybe replaced."""
        before, after = self.state.memories[old], self.state.memories[new]
        if old == new or not before.status == after.status == "current":
            return False
        passed, then = [before.uid], after.uid
        while then and then not in passed:
            passed.append(then)
            then = self._doubted_for(then)
        if then:  # a ring: the last of the marks that lead back was the older word
            self.set_meta(MAYBE + passed[-1], None)
        self.set_meta(MAYBE + before.uid, after.uid)
        self._log(at, "doubt", before.uid, None, {"maybe_replaced_by": after.uid, "why": why})
        return True

    def _doubted_for(self, uid: str) -> str:
        """Return what stands at the end of those that superseded what a memory is maybe replaced by."""
        row, passed = self._row(self.meta(MAYBE + uid)), set()
        while row and row.superseded_by and row.id not in passed:
            passed.add(row.id)
            row = self.state.memories.get(row.superseded_by)
        return row.uid if row and not row.superseded_by else ""

    def keep(self, memory: int, at: int) -> bool:
        """Have it be maybe replaced no more."""
        uid = self._uid(memory)
        newer = self._doubted_for(uid)
        if not newer:
            return False
        self.set_meta(MAYBE + uid, None)
        self._log(at, "keep", uid, {"maybe_replaced_by": newer}, None)
        return True

    def contradict(self, new: int, old: int, at: int, why: str, *, sure: bool) -> bool:
        """Have one memory say that it contradicts another."""
        before, after = self.state.memories[old], self.state.memories[new]
        if old == new or not before.status == after.status == "current":
            return False
        said = self._claims(after.uid) | {before.uid: "surely" if sure else "maybe"}
        self.set_meta(CLAIMS + after.uid, _json(said))
        self._log(at, "contradict", after.uid, None, {"against": before.uid, "why": why})
        return True

    def accord(self, new: int, old: int, at: int) -> bool:
        """Have it contradict that no more."""
        before, after = self._uid(old), self._uid(new)
        said = self._claims(after)
        if before not in said:
            return False
        del said[before]
        self.set_meta(CLAIMS + after, _json(said) if said else None)
        self._log(at, "keep", after, {"against": before}, None)
        return True

    def _make_good(self, memory: int, at: int) -> None:
        """Retire or doubt what it contradicts, for it is borne out."""
        new = self.state.memories[memory]
        said = self._claims(new.uid)
        if not said or new.status != "current":
            return
        self.set_meta(CLAIMS + new.uid, None)
        for old in sorted(self.located(said)):
            uid = self._uid(old)
            if uid not in said or PROTECTED + uid in self.state.meta:
                continue
            if said[uid] == "surely" and (not self.scope(memory).repository or self.scope(old).repository):
                self.supersede(old, memory, at, new.valid_from, "what contradicts it was borne out")
            else:
                self.doubt(old, memory, at, "what contradicts it was borne out")

    def reinstate(self, memory: int, at: int) -> bool:
        """Undo a supersession."""
        before = self.state.memories[memory]
        if before.status != "superseded":
            return False
        self._change(memory, status="current", superseded_by=None, valid_to=None, retired_at=None)
        self._log(at, "reinstate", before.uid, before.record(), self._record(memory))
        return True

    def bear_out(self, memory: int, kind: str, session: str, at: int) -> bool:
        """Keep a piece of evidence."""
        key = (memory, kind, screened(session))
        fresh = key not in self.state.evidence
        self.state.evidence.setdefault(key, (at,))
        if kind in BEARS_OUT:
            self._make_good(memory, at)
        return fresh

    def report(self, memory: int, kind: str, session: str, at: int) -> bool:
        """Keep what a session reported last."""
        if (memory, kind, session) in self.state.evidence:
            return False
        for one in FEEDBACK:
            self.state.evidence.pop((memory, one, session), None)
        self._log(at, "feedback", self._uid(memory), None, {"why": kind})
        return self.bear_out(memory, kind, session, at)

    def expire(self, memory: int, ends_at: int | None, at: int, why: str = "") -> bool:
        """Have it hold until a moment."""
        before, verified = self.state.freshness.get(memory, (None, None))
        if before == ends_at:
            return False
        self.state.freshness[memory] = (ends_at, verified)
        told = {"why": why} if why else {}
        self._log(at, "expire", self._uid(memory), {"ends_at": before}, {"ends_at": ends_at} | told)
        return True

    def verify(self, memory: int, blobs: Mapping[str, str], session: str, at: int) -> None:
        """Record that a person found it true."""
        before = self.state.freshness.get(memory, (None, None))[0]
        ends_at = None if before is None or before <= at else before
        self.state.freshness[memory] = (ends_at, at)
        self._drop("files", memory)
        self.tie(memory, blobs)
        self.state.evidence.pop((memory, "verified", session), None)
        self.bear_out(memory, "verified", session, at)
        self._log(at, "verify", self._uid(memory), {"ends_at": before}, {"ends_at": ends_at})

    def tie(self, memory: int, blobs: Mapping[str, str]) -> None:
        """Keep the files that it names."""
        self.state.files |= {(memory, path): (blob, None) for path, blob in blobs.items() if screened(path) == path}

    def refuse(self, text: str, at: int) -> None:
        """Keep that a text was rejected."""
        self.state.rejected[digest(text)] = at

    def tell(self, at: int, verb: str, name: str, why: str) -> None:
        """Write a line to the log."""
        self._log(at, verb, name, None, {"why": why})

    def confirm(self, memory: int, note: Note, at: int) -> None:
        """Record that it was said again."""
        self._log(at, "confirm", self._uid(memory), None, None, note.uid)

    def protect(self, memory: int, at: int, *, wanted: bool) -> bool:
        """Protect it, or let it go."""
        uid = self._uid(memory)
        if (PROTECTED + uid in self.state.meta) == wanted:
            return False
        self.set_meta(PROTECTED + uid, str(at) if wanted else None)
        if wanted:
            self.set_meta(MAYBE + uid, None)
            self._make_good(memory, at)
        self._log(at, "protect" if wanted else "unprotect", uid, None, None)
        return True

    def forget(self, memory: int, at: int, verb: str = "forget", why: str = "") -> bool:
        """Retire it from every recall."""
        before = self.state.memories[memory]
        if before.status == "forgotten":
            return False
        self._change(memory, status="forgotten", retired_at=before.retired_at or at)
        self._undoubt(before.uid)
        self.index(self.touched([memory]))
        verb = "reject" if before.status == "review" else verb
        self._log(at, verb, before.uid, before.record(), self._record(memory) | ({"why": why} if why else {}))
        return True

    def _undoubt(self, uid: str) -> None:
        for key in [
            key
            for key, value in self.state.meta.items()
            if key == MAYBE + uid or (key.startswith(MAYBE) and value == uid)
        ]:
            self.set_meta(key, None)

    def restore(self, memory: int, at: int) -> bool:
        """Undo a forgetting."""
        before = self.state.memories[memory]
        if before.status != "forgotten":
            return False
        if HELD + before.uid in self.state.meta:
            self._change(memory, status="review", retired_at=None)
        elif before.superseded_by:
            self._change(memory, status="superseded")
        else:
            self._change(memory, status="current", retired_at=None)
        self.state.rejected.pop(digest(before.text), None)
        self._bring_back(memory)
        self._log(at, "restore", before.uid, before.record(), self._record(memory))
        return True

    def approve(self, memory: int, at: int) -> bool:
        """Let what was held back be found."""
        before = self.state.memories[memory]
        if before.status != "review":
            return False
        self.set_meta(HELD + before.uid, None)
        self._change(memory, status="current")
        self._bring_back(memory)
        self._log(at, "approve", before.uid, before.record(), self._record(memory))
        return True

    def _bring_back(self, memory: int) -> None:
        self.index(self.touched([memory]))
        row = self.state.memories[memory]
        if row.status not in HIDDEN and not self.state.named.get(memory):
            self.mention(memory, json.loads(row.entities))

    def link(self, edges: Iterable[Edge]) -> None:
        """Store edges; a person's stay, or else the heavier."""
        for edge in edges:
            key, (weight, detail) = _link(edge)
            old = self.state.links.get(key)
            if old is None or (weight > old[0] and not old[1].startswith(MANUAL)):
                self.state.links[key] = (weight, detail)

    def linked(self, linker: str, first: int, last: int | None = None) -> None:
        """Note what made the edges of a run of rows."""
        before = self.state.linkers or {1: ""}
        starts = sorted({*before, first, *(() if last is None else (last + 1,))})
        runs: list[tuple[int, str]] = []
        for start in starts:
            ours = start >= first and (last is None or start <= last)
            made = linker if ours else before[max(one for one in before if one <= start)]
            if not runs or runs[-1][1] != made:
                runs.append((start, made))
        if runs != list(before.items()):
            self.state.linkers = dict(runs)

    def link_by_hand(self, edge: Edge, at: int) -> None:
        """Store a person's edge."""
        key, value = _link(edge)
        self.state.links[key] = value
        why = f"{edge.kind} to {self._uid(edge.dst)}, {edge.detail}"
        self._log(at, "link", self._uid(edge.src), None, {"why": why})

    def unlink(self, kinds: Sequence[str], memory: int) -> None:
        """Drop what linking made."""
        for (src, kind, dst), (_, detail) in list(self.state.links.items()):
            other = {src: dst, dst: src}.get(memory, memory)
            row = self.state.memories.get(other)
            if (
                other < memory
                and EDGE_KINDS[kind] in kinds
                and not detail.startswith(MANUAL)
                and not (row and row.status in HIDDEN)
            ):
                del self.state.links[src, kind, dst]

    def put_vectors(self, embedder: int, rows: Iterable[tuple[int, int, bytes, int]]) -> None:
        """Store vectors of memories that are there, each in place of one that another version of its maker made."""
        makers = {number: made.provider for made, number in self.state.embedders.items()}
        others = [n for n in makers if n != embedder and makers[n] == makers[embedder] in ON_MACHINE]
        for memory, _, planes, squares in rows:
            for number in others:
                self.state.vectors.pop((number, memory), None)
            if memory in self.state.memories:
                self.state.vectors[embedder, memory] = (planes, squares)

    def put_aliases(self, memory: int, pairs: Iterable[tuple[str, str]]) -> None:
        """Store which names mean the same."""
        self.state.aliases[memory] = frozenset(ends for one, other in pairs for ends in ((one, other), (other, one)))

    def set_meta(self, key: str, value: str | None) -> None:
        """Set a setting, or drop it."""
        self.state.meta.pop(key, None)
        if value is not None:
            self.state.meta[key] = value

    def mention(self, memory: int, entities: Iterable[str]) -> None:
        """Record that it names entities."""
        self.state.named[memory] = frozenset(name.casefold() for name in entities)

    def index(self, memories: Iterable[int]) -> None:
        """Index memories afresh."""
        for memory in memories:
            row = self.state.memories[memory]
            self.state.index.pop(memory, None)
            if row.status not in HIDDEN:
                terms = " ".join(json.loads(row.keywords))
                terms = " ".join((index_terms(f"{row.text} {terms}"), *json.loads(row.entities), terms))
                around = sorted((other, text) for distance, other, text in self.in_context(memory) if distance)
                said = {"text": row.text, "terms": terms, "context": " ".join(text for _, text in around)}
                self.state.index[memory] = {name: tokens(text) for name, text in said.items()}

    def questions(self, memory: int) -> list[str]:
        """Return those of its keywords that end as a question does."""
        return [one for one in json.loads(self.state.memories[memory].keywords) if one[-1:] == "?"]

    def in_context(self, memory: int) -> list[tuple[int, int, str]]:
        """Return a memory and those around it in its session, or else its note."""
        row = self.state.memories[memory]
        beside = [
            one
            for _, one in sorted(self.state.memories.items())
            if one.origin == row.origin and one.status not in HIDDEN
        ]
        near = [(0, memory, row.text)]
        for side in (
            [one for one in reversed(beside) if one.id < memory][:CONTEXT],
            [one for one in beside if one.id > memory][:CONTEXT],
        ):
            session = not row.origin.startswith("@")
            near += [(n, one.id, one.text) for n, one in enumerate(side, 1) if session or one.note == row.note]
        return near

    def touched(self, memories: Sequence[int]) -> list[int]:
        """Return memories and those around them."""
        return list(dict.fromkeys(other for memory in memories for _, other, _ in self.in_context(memory)))

    def _change(self, memory: int, **values: Any) -> None:
        self.state.memories[memory] = MemoryRow.of(**self._record(memory) | values)

    def _record(self, memory: int) -> dict[str, Any]:
        return self.state.memories[memory].record()

    def _uid(self, memory: int) -> str:
        return self.state.memories[memory].uid

    def _log(self, at: int, verb: str, uid: str, before: Any, after: Any, note: str = "") -> None:
        number = self.state.last[1] + 1
        self.state.last = (self.state.last[0], number)
        sides = {"before": _differing(before, after), "after": _differing(after, before)}
        line = {"id": number, "at": at, "verb": verb, "memory": uid, "note": note or self._note}
        self.state.log[number] = line | sides


def _differing(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if one is None:
        return None
    kept = {
        name: value for name, value in one.items() if name in LOGGED and (other is None or other.get(name) != value)
    }
    said: dict[str, Any] = json.loads(json.dumps(kept))
    return said


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def _link(edge: Edge) -> tuple[tuple[int, int, int], tuple[int, str]]:
    plain = edge.kind == "temporal" and not edge.detail.startswith(MANUAL)
    return (edge.src, EDGE_KINDS.index(edge.kind), edge.dst), (
        round(edge.weight * 10_000),
        "" if plain else edge.detail,
    )
