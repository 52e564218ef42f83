"""What a person decides of what waits: they approve it, reject it, or say in their own words what holds."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memman.belief import APPROVED, outlasts
from memman.clock import now_ms
from memman.commands.memories import acted, rows_of
from memman.commands.place import Place, looking, steadily, writing
from memman.config.schedule import refuse_stopped
from memman.config.scope import PATH, PERSONAL, REPOSITORY
from memman.govern import inbox
from memman.model.errors import ProviderMisconfigured, UsageError
from memman.model.records import EVERYWHERE
from memman.pipeline.injection import STEERS, planted
from memman.pipeline.link import Subject, connected
from memman.providers import builtin_embedder
from memman.store.sqlite.past import PastReader
from memman.upkeep.relink import judged

if TYPE_CHECKING:
    from memman.embed import LocalEmbedder
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.unit import SqliteUnit

# What waits: kind, memory, other side; none of these where a memory does not wait.
Waiting = tuple[str, int, int]
NOTHING = "not waiting"


class _Desk:
    """A store that is decided about, in one transaction."""

    def __init__(self, store: "SqliteStore", unit: "SqliteUnit", local: "LocalEmbedder") -> None:
        self.store, self.unit, self.local, self.now = store, unit, local, now_ms()

    def approve(self, one: Waiting) -> str:
        """Do what approving means for the kind, and say it."""
        kind, memory, other = one
        if kind == inbox.HELD:
            self.unit.approve(memory, self.now)
            try:
                _join(self.store, self.unit, self.local, memory)
            except ProviderMisconfigured:  # it is found without edges, which `graph rebuild --stale` makes
                self.unit.linked("", memory, memory)
            self._bear_out(memory)
            return "approved"
        if kind == inbox.MAYBE and self._for_a_while(memory, other):
            self._bear_out(other)
            return f"stands behind {self._uid(other)[:8]} until that ends"
        if other and self._current(memory):
            row = self.store.reader.rows([other])[other]
            if not self.unit.supersede(memory, other, self.now, row.valid_from, "approved on review"):
                return NOTHING
            if kind == inbox.CONTRADICTED:
                self._take_over(memory, other)
        self._bear_out(other or memory)
        return f"superseded by {self._uid(other)[:8]}" if other else "approved"

    def reject(self, one: Waiting) -> str:
        """Do what rejecting means for the kind, and say it."""
        kind, memory, other = one
        if kind == inbox.MAYBE:
            kept = self.unit.accord(other, memory, self.now) or self.unit.keep(memory, self.now)
            return f"kept beside {self._uid(other)[:8]}" if kept else NOTHING
        refused = other or memory
        self.unit.refuse(self.store.reader.rows([refused])[refused].text, self.now)
        stands = self._current(memory)
        if kind == inbox.CONTRADICTED and not stands:
            self.unit.reinstate(memory, self.now)
            self.unit.renew([memory])
        self.unit.forget(refused, self.now)
        holds = "holds" if stands else "holds again"
        return f"{holds}, {self._uid(other)[:8]} rejected" if other else "rejected"

    def _take_over(self, old: int, new: int) -> None:
        """Have what takes the place of what holds everywhere hold there too."""
        if not self.unit.scope(old).repository:
            self.unit.move(new, EVERYWHERE, self.now)

    def _current(self, memory: int) -> bool:
        return self.store.reader.rows([memory])[memory].status == "current"

    def _for_a_while(self, memory: int, other: int) -> bool:
        """Whether `other` ends before `memory`."""
        ends = self.store.reader.ends([memory, other])
        return outlasts(ends.get(memory), ends.get(other))

    def _bear_out(self, memory: int) -> None:
        self.unit.bear_out(memory, APPROVED, "", self.now)

    def _uid(self, memory: int) -> str:
        return self.store.reader.rows([memory])[memory].uid


def approve(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Let what waits be found, replace or hold, unmarked but for its source; return a record for each."""
    return _decided(place, parts, "review approve", _Desk.approve)


def reject(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Retire what waits, or keep what was in doubt; no agent may propose again what was rejected."""
    return _decided(place, parts, "review reject", _Desk.reject)


@steadily
def _decided(
    place: Place, parts: Sequence[str], verb: str, decide: Callable[[_Desk, Waiting], str]
) -> list[dict[str, Any]]:
    rows = _named(place, parts, verb)
    with writing(place) as store, builtin_embedder() as local:
        waits = _waiting(place, rows)
        with store.unit() as unit:
            desk = _Desk(store, unit, local)
            done = {row: decide(desk, waits[row]) if row in waits else NOTHING for row in rows}
        memories = store.reader.rows(rows)
        records = acted(place, store.reader, {row: done[row] != NOTHING for row in rows})
        return [
            one | {"source": memories[row].source, "done": done[row]} for row, one in zip(rows, records, strict=True)
        ]


def editable(place: Place, part: str, text: str) -> Waiting:
    """Return what waits, for a text to be put in its place. Raises UsageError where it does not, or nothing is said."""
    rows = _named(place, [part], "review edit")
    waits = _waiting(place, rows)
    if len(rows) != 1 or rows[0] not in waits:
        raise UsageError(f"{part} does not wait for review: `memman replace {part}` changes a memory")
    if not text.strip():
        raise UsageError("say with --text what holds instead")
    return waits[rows[0]]


@steadily
def edit(place: Place, part: str, text: str, provenance: Mapping[str, str]) -> str:
    """Queue what a person says holds in the place of what waits, as their own word; return the note's id."""
    from memman.queue.append import append

    kind, memory, other = editable(place, part, text)
    with looking(place) as (catalogue, _):
        stands = catalogue.memories([memory])[0]["status"] == "current"
        against = kind == inbox.CONTRADICTED and stands
        record = catalogue.memories([other if kind == inbox.CONTRADICTED and not stands else memory])[0]
        scope = catalogue.reader.scope_of([record["id"]]).get(record["id"], ("", ""))
    note = {**provenance, **_note(place, record, scope, text)} | {
        "replaces": "" if kind == inbox.HELD else record["uid"]
    }
    uid, _ = append(place.data, note)
    if kind == inbox.HELD or against:
        reject(place, [record["uid"]])
    return uid


def _note(place: Place, record: dict[str, Any], scope: tuple[str, str], text: str) -> dict[str, str | int | None]:
    repository, folder = scope
    asked = (PATH + folder if folder else REPOSITORY) if repository else PERSONAL
    return {
        "store": place.name,
        "repository": repository,
        "text": text.strip(),
        "category": record["category"],
        "importance": record["importance"],
        "entities": "",
        "scope": asked,
    }


def reason(text: str) -> str:
    """Say why a text was held back, as far as it shows."""
    return planted(text) or f"{STEERS}, or hid text"


def _named(place: Place, parts: Sequence[str], verb: str) -> list[int]:
    refuse_stopped(place.data, verb)
    return rows_of(place, parts)


def _waiting(place: Place, rows: Iterable[int]) -> dict[int, Waiting]:
    """Return how each of `rows` waits, or may be decided about: also if unconfirmed, or behind another for a while."""
    rows = list(rows)
    with looking(place) as (catalogue, _):
        unconfirmed = catalogue.reader.unconfirmed(rows)
        current = {one["id"] for one in catalogue.memories(rows) if one["status"] == "current"}
        found = {row: (kind, row, other) for kind, row, other in reversed(inbox.found(catalogue)) if row in rows}
        behind = {row: (inbox.MAYBE, row, other) for row, other in catalogue.behind().items() if row in rows}
    return {row: (inbox.UNCONFIRMED, row, 0) for row in rows if row in unconfirmed & current} | behind | found


def _join(store: "SqliteStore", unit: "SqliteUnit", local: "LocalEmbedder", memory: int) -> None:
    """Link an approved memory to those before it, as when it came in."""
    row = store.reader.rows([memory])[memory]
    subject = Subject(
        origin=row.origin,
        at=row.valid_from,
        ends=(memory,),
        texts=(row.text,),
        entities=(tuple(json.loads(row.entities)),),
        fingerprint=local.fingerprint,
        vectors=local.vectors([row.text]),
        local=local,
        judged=judged(store, [memory]),
    )
    unit.link(connected(PastReader(store.reader, memory, row.recorded_at), subject))
