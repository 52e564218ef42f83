"""A store in plain Python: what the pipeline and recall ask of one, written to be read and not to be fast.

`tests/conformance` holds every other store to what this one says. It shares with them only what is no store's own: how
words are cut (FTS5's own tokenizer), the texts that go into the index, what a name is. No part of memman needs it, so
the wheel does not have it.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from memman.model.vocabulary import CLAIMS, HELD, HIDDEN, MAYBE, PROTECTED, REPLACED
from tests.support.oracle.state import HOLDS, SUPERSEDES, TRACKED, State, alike, named, said
from tests.support.oracle.writes import Writes

# Tables that a purge drops rows of, and verbs whose lines in the log name another memory.
PURGED = (*TRACKED[2:], "links", "aliases", "named", "vectors", "scopes", "visibility", "index", "memories")
TELLING = ("link", "doubt", "keep", "contradict")


class Oracle(Writes):
    """One store: its reads, its writes and its transactions in one."""

    @contextmanager
    def unit(self) -> Iterator["Oracle"]:
        """Hold one write transaction: all of it is stored, or none."""
        before = self.state
        self.state, self._note, self._since = before.copy(), "", ""
        try:
            yield self
            if self._since:
                self.state.images[self._since] = self._changed_since(self._before)
        except BaseException:
            self.state = before
            raise

    def pull(self) -> int:
        """Nobody shares it."""
        return 0

    def cell(self, embedder: int, vector: Any) -> int:  # noqa: ARG002 - all is one cell
        """Return the one cell there is."""
        return 0

    # --- what a person does to many rows at once ---

    def purge(self, memories: Sequence[int], at: int) -> None:
        """Delete memories that are forgotten, and all that says what they said."""
        gone = [self.state.memories[memory] for memory in sorted(memories)]
        ids = {row.id for row in gone}
        for row in gone:
            for old in [one for one in self.state.memories.values() if one.superseded_by == row.id]:
                self._change(old.id, superseded_by=self.state.memories[row.id].superseded_by)
            self._undoubt(row.uid)
            late = (k for k, v in self.state.meta.items() if k.startswith(REPLACED) and v.startswith(f"{row.id} "))
            for key in [PROTECTED + row.uid, HELD + row.uid, CLAIMS + row.uid, REPLACED + row.note, *late]:
                self.set_meta(key, None)
            for key in [key for key in self.state.meta if key.startswith(CLAIMS)]:
                left = {uid: said for uid, said in self._claims(key.removeprefix(CLAIMS)).items() if uid != row.uid}
                self.set_meta(key, json.dumps(left, separators=(",", ":")) if left else None)
        self._clear_log({row.uid for row in gone}, ids)
        for table in PURGED:
            for memory in ids:
                self._drop(table, memory)
        self._note = ""
        for row in gone:
            self._log(at, "purge", row.uid, None, None, row.note)
            if row.note in self.state.receipts and not self.located([row.note]):
                self.state.receipts[row.note] = self.state.receipts[row.note] | {"outcome": "purged", "facts": 0}
        for note, images in self.state.images.items():
            self.state.images[note] = {image: sides for image, sides in images.items() if not ids & set(named(*image))}

    def _clear_log(self, uids: Collection[str], ids: Collection[int]) -> None:
        """Empty the lines of memories, and take out of others what they say of them."""
        for number, line in self.state.log.items():
            told = json.dumps(line["before"] if line["after"] is None else line["after"])
            if line["memory"] in uids or (line["verb"] in TELLING and any(uid in told for uid in uids)):
                line = line | {"before": None, "after": None}  # noqa: PLW2901 - the line as it is then
            for side in ("before", "after"):
                if line[side] and line[side].get("superseded_by") in ids:
                    left = {name: value for name, value in line[side].items() if name not in ("superseded_by", "why")}
                    line = line | {side: left}  # noqa: PLW2901 - the same
            self.state.log[number] = line

    def _drop(self, table: str, memory: int) -> None:
        """Drop what a table has of a memory."""
        place = {"vectors": slice(1, 2), "links": slice(0, 3, 2)}.get(table, slice(0, 1))
        rows = getattr(self.state, table)
        for key in [key for key in rows if memory in (key[place] if isinstance(key, tuple) else (key,))]:
            del rows[key]

    def take_back(self, notes: Collection[str], at: int) -> dict[int, tuple[str, str]]:
        """Undo notes: what they made is forgotten, what they changed is as it was; return (was, is) of each status."""
        before, state = self.state.copy(), self.state
        made = {row.id for row in state.memories.values() if row.note in notes}
        left: set[int] = set()
        for note in sorted(notes, key=lambda one: (state.receipts[one]["at"], one), reverse=True):
            for (table, key), (was, became) in reversed(state.images.get(note, {}).items()):
                self._reverse(table, key, was, became, made, left)
        for row in list(state.memories.values()):  # what a store from before receipts told it knows by this only
            if row.superseded_by in made and row.status == "superseded" and row.id not in made | left:
                became = said(state, "memories", row.id)
                self._say("memories", row.id, self._held_before(row.id, HOLDS, became, made, left))
        going = {state.memories[memory].uid for memory in made}
        for key in [key for key, value in state.meta.items() if key.startswith(MAYBE) and value in going]:
            del state.meta[key]
        for uid in going:
            state.meta.pop(CLAIMS + uid, None)
        for memory in sorted(made):
            row = state.memories[memory]
            if row.status != "forgotten":
                self._change(memory, status="forgotten", retired_at=row.retired_at or at)
        return self._settled(before)

    def _reverse(self, table: str, key: Any, was: Any, became: Any, made: set[int], left: set[int]) -> None:
        """Have a row say what it said, where nobody has changed it since."""
        now = said(self.state, table, key)
        if alike(table, now, became):
            self._say(table, key, self._held_before(key, was, became, made, left) if table == "memories" else was)
        elif not alike(table, now, was):
            about = self._row(key.removeprefix(MAYBE).removeprefix(CLAIMS)) if table == "meta" else None
            left |= {about.id} if about else set(named(table, key)[:1])

    def _settled(self, before: State) -> dict[int, tuple[str, str]]:
        """Put memories where their status says, and return which have another than before."""
        rows = self.state.memories
        statuses = {
            memory: (row.status, rows[memory].status)
            for memory, row in before.memories.items()
            if row.status != rows[memory].status
        }
        moved = [memory for memory, (was, now) in statuses.items() if (was in HIDDEN) != (now in HIDDEN)]
        for memory in moved:
            if rows[memory].status in HIDDEN:
                self.state.named.pop(memory, None)
            else:
                self._bring_back(memory)
        self.index(self.touched(moved))
        return statuses

    def _held_before(self, memory: int, was: Any, became: Any, made: set[int], left: set[int]) -> Any:
        """Return what a memory said, or that it gives way to the heir of what had taken its place."""
        if became and became[3] in made and memory not in made:
            heir, passed = became[3], set()
            while heir in made and heir not in passed:
                passed.add(heir)
                heir = self.state.memories[heir].superseded_by
            if heir and heir not in made:
                left.add(memory)
                return (*became[:3], heir)
        if was and was[3] and was[3] not in self.state.memories:
            left.add(memory)
            return became
        return was

    def _say(self, table: str, key: Any, values: Any) -> None:
        """Give a row its values again, where all memories that it names are there."""
        there: list[Any] = [self.state.memories.get(memory) for memory in named(table, key)]
        if values is not None and table == "meta" and key.startswith(MAYBE):
            there = [self._row(uid) for uid in (key.removeprefix(MAYBE), values)]
        if values is not None and table == "meta" and key.startswith(CLAIMS):
            there = [self._row(uid) for uid in (key.removeprefix(CLAIMS), *json.loads(values))]
        if values is None:
            getattr(self.state, table).pop(key, None)
        elif all(there) and table == "memories":
            self._change(key, **dict(zip(SUPERSEDES, values, strict=True)))
        elif all(there):
            getattr(self.state, table)[key] = values

    def _changed_since(self, before: State) -> dict[tuple[str, Any], tuple[Any, Any]]:
        """Return what changed of rows that are about no new memory."""
        fresh = self.state.memories.keys() - before.memories.keys()
        uids = {self.state.memories[memory].uid for memory in fresh}
        found = {}
        for table in TRACKED:
            for key in {**getattr(before, table), **getattr(self.state, table)}:
                was, now = said(before, table, key), said(self.state, table, key)
                new = key.partition(":")[2] in uids if table == "meta" else fresh & set(named(table, key))
                if was != now and not new:
                    found[table, key] = (was, now)
        return found
