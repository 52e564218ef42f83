"""`memman review`: the one place for what waits for a person, who approves, rejects, or says what holds."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from memman.belief import APPROVED, outlasts
from memman.clock import now_ms
from memman.commands.inbox import CONTRADICTED, HELD, MAYBE, UNCONFIRMED, UNWANTED, found, told
from memman.commands.memories import Records, acted, all_named, rows_of
from memman.commands.person import choose, confirm
from memman.commands.place import Place, looking, reading, scopes_meant, steadily, writing
from memman.commands.printing import acted as line
from memman.commands.printing import ago, apart, holds, labelled, lines, named, pairs, short, table, when
from memman.commands.printing import text as say
from memman.commands.verb import Group, ids_argument, scope_option, store_option
from memman.config.schedule import refuse_stopped
from memman.config.scope import PATH, PERSONAL, REPOSITORY
from memman.hot.provenance import stamp
from memman.model.errors import ProviderMisconfigured, UsageError
from memman.model.records import EVERYWHERE
from memman.pipeline.link import Subject, connected
from memman.providers import builtin_embedder
from memman.queue.append import append
from memman.store.sqlite.past import PastReader
from memman.store.sqlite.scopes import kept
from memman.upkeep.relink import judged

if TYPE_CHECKING:
    from memman.embed import LocalEmbedder
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.unit import SqliteUnit

_MOST = 500
# What waits: kind, memory, other side; none of these where a memory does not wait.
Waiting = tuple[str, int, int]
NOTHING = "not waiting"
# What may be answered to each that is walked through, and what an empty line means.
_ANSWERS = {"a": "approve", "e": "edit", "r": "reject", "s": "skip", "q": "quit"}
_OF_TWO = {"y": "yes", "n": "no", "b": "both hold", "e": "edit", "s": "skip", "q": "quit"}
_REPLACES, _STAYS = "Does the newer replace the older?", "Does the older stay as it is?"
_WHOLE = 500
# What the other side is to what waits, by the name it has.
_SIDES = {"superseded_by": "replaced by", "stands_behind": "stands behind", "maybe_replaced_by": "maybe replaced by"}


@click.group(cls=Group)
@store_option
def review() -> None:
    """Decide about memories that wait for a person: held back, contradicted, or said by agents alone."""


def _print_waiting(records: Records) -> None:
    for record in records:
        lines(_block(record))
    say("")
    say("to decide: `memman review all`, or `memman review approve ID`, `reject ID`, `edit ID`")


def _block(record: dict[str, Any]) -> Iterator[str]:
    """Write what waits, why, and what it says; below it the other side."""
    yield f"{short(record['uid'])}  {_waits(record)}"
    yield f"    {_said(record)}"
    if other := record["other"]:
        yield f"    newer: {short(other['uid'])}  {_said(other)}"


def _said(record: dict[str, Any]) -> str:
    return f"{record['text']}  ({labelled(record, holds(record), ago(record['valid_from']))})"


@review.verb("list", shows=_print_waiting, counts=len, none="nothing waits for review")
@scope_option
def listed(place: Place, *, limit: int = 20, scope: str | None = None) -> Records:
    """List what waits, and why."""
    with reading(place) as catalogue:
        waits, scopes = found(catalogue), scopes_meant(catalogue, scope)
        if scopes is not None:
            there = kept(catalogue.reader.db, [row for _, row, _ in waits], scopes)
            waits = [one for one in waits if one[1] in there]
        return [told(place, catalogue, *one) for one in waits[:limit]]


def _print(records: Records) -> None:
    apart(records, lambda record: pairs(_details(record)))


@review.verb(shows=_print)
@click.argument("id_", metavar="ID")
def show(place: Place, id_: str) -> Records:
    """Show all that is known of what waits, both sides."""
    with looking(place) as (catalogue, queue):
        asked = [row for one in all_named([id_], catalogue, queue, place.name) for row in one.memories]
        known = {row: (kind, row, other) for kind, row, other in reversed(found(catalogue))}
        if away := next((row for row in asked if row not in known), None):
            uid = catalogue.memories([away])[0]["uid"]
            raise UsageError(f"{uid[:8]} does not wait for review: `memman show {uid[:8]}` shows it")
        records = [told(place, catalogue, *known[row]) for row in asked]
        return [one | {"provenance": catalogue.receipt(one["note"])} for one in records]


def _ask(place: Place, ids: Sequence[str], question: str, of_two: str = "") -> None:
    """Ask a person about what waits, with the other side of each; `of_two` where each has one."""
    from memman.commands.show import described

    records = described(place, ids)
    others = {one["uid"]: (one[name], said) for one in records for name, said in _SIDES.items() if one.get(name)}
    uids = sorted({uid for uid, _ in others.values()})
    sides = {one["uid"]: one for one in described(place, uids)} if uids else {}
    with reading(place) as catalogue:
        unwanted = {row for kind, row, _ in found(catalogue) if kind == UNWANTED}
    shown = []
    for one in records:
        uid, said = others.get(one["uid"], ("", ""))
        shown += [
            f"{UNWANTED} " * (one["id"] in unwanted) + named(one),
            *([f"{said} {named(sides[uid])}"] if uid in sides else []),
        ]
    confirm(of_two if of_two and len(others) == len(records) else question, listed=shown)


def _decisions(records: Records) -> None:
    table([line(one["done"], one) for one in records])


@review.verb(shows=_decisions, asks=lambda place, ids: _ask(place, ids, "Approve?", _REPLACES))
@ids_argument
def approve(place: Place, ids: Sequence[str]) -> Records:
    """Approve what waits.

    What was held back is recalled, what an agent said counts as confirmed, what is maybe replaced is superseded, and
    what an agent asks to forget is forgotten.
    """
    return _decided(place, ids, "review approve", _Desk.approve)


@review.verb(shows=_decisions, asks=lambda place, ids: _ask(place, ids, "Reject?", _STAYS))
@ids_argument
def reject(place: Place, ids: Sequence[str]) -> Records:
    """Reject what waits: it is forgotten, and no agent may propose it again; `forget --undo` takes that back.

    A memory that is maybe replaced, or to forget, stays, without the mark. What an agent's note contradicts holds.
    """
    return _decided(place, ids, "review reject", _Desk.reject)


@review.verb(shows=_decisions, asks=lambda place, ids: _ask(place, ids, "Shall both hold?"))
@ids_argument
def both(place: Place, ids: Sequence[str]) -> Records:
    """Say that both hold, of a memory and what contradicts or maybe replaces it: neither ends the other."""
    return _decided(place, ids, "review both", _Desk.both)


def _asks_edit(place: Place, id_: str, text: str) -> None:
    _editable(place, id_, text)
    _ask(place, (id_,), "Put your text in its place?")


@review.verb(asks=_asks_edit)
@click.argument("id_", metavar="ID")
@click.option("--text", required=True, metavar="TEXT", help="What holds instead, in your own words.")
def edit(place: Place, id_: str, text: str) -> None:
    """Say in your own words what holds in the place of what waits."""
    say(edited(place, id_, text))


@review.verb("all")
def each(place: Place) -> None:
    """Walk through all that waits, one by one, at the terminal."""
    records = listed(place, limit=_MOST)
    for number, record in enumerate(records, 1):
        question, answers = (_REPLACES, _OF_TWO) if record["other"] else ("", _ANSWERS)
        answer = choose(f"{number} of {len(records)}: {question}".rstrip(), answers, _block(record))
        if answer == "quit":
            return
        if answer == "edit":
            said = choose("What holds instead:", None)
            say(f"queued as {short(edited(place, record['uid'], said), note=True)}" if said else "left as it is")
        elif answer != "skip":
            _decisions(_DECIDES[answer](place, [record["uid"]]))
    if not records:
        say("nothing waits for review")


# What answers a question that `each` asks.
_DECIDES = {"approve": approve, "yes": approve, "reject": reject, "no": reject, "both hold": both}


def _waits(record: dict[str, Any]) -> str:
    return ": ".join(filter(None, (record["kind"], record["why"])))


def _details(record: dict[str, Any]) -> dict[str, object]:
    came, other = record["provenance"] or {}, record["other"]
    said = {
        "id": record["uid"],
        "waits": _waits(record),
        "text": record["text"],
        "source": labelled(record, holds(record)),
        "recorded": when(record["recorded_at"]),
        **{name: came.get(name) for name in ("agent", "session", "cwd", "repository")},
    }
    if other:
        said |= {"other side": other["uid"], "it says": other["text"], "its source": labelled(other, holds(other))}
    return said


class _Desk:
    """A store that is decided about, in one transaction."""

    def __init__(self, store: "SqliteStore", unit: "SqliteUnit", local: "LocalEmbedder") -> None:
        self.store, self.unit, self.local, self.now = store, unit, local, now_ms()

    def approve(self, one: Waiting) -> str:
        """Do what approving means for the kind, and say it."""
        kind, memory, other = one
        if kind == HELD:
            self.unit.approve(memory, self.now)
            try:
                join(self.store, self.unit, self.local, memory)
            except ProviderMisconfigured:  # it is found without edges, which `graph rebuild --stale` makes
                self.unit.linked("", memory, memory)
            self._bear_out(memory)
            return "approved"
        if kind == UNWANTED:
            self.unit.forget(memory, self.now)
            return "forgotten"
        if kind == MAYBE and self._for_a_while(memory, other):
            self._bear_out(other)
            return f"stands behind {self._uid(other)[:8]} until that ends"
        if other and self._current(memory):
            row = self.store.reader.rows([other])[other]
            if not self.unit.supersede(memory, other, self.now, row.valid_from, "approved on review"):
                return NOTHING
            if kind == CONTRADICTED:
                self._take_over(memory, other)
        self._bear_out(other or memory)
        return f"superseded by {self._uid(other)[:8]}" if other else "approved"

    def reject(self, one: Waiting) -> str:
        """Do what rejecting means for the kind, and say it."""
        kind, memory, other = one
        if kind == MAYBE:
            kept = self.unit.accord(other, memory, self.now) or self.unit.keep(memory, self.now)
            return f"kept beside {self._uid(other)[:8]}" if kept else NOTHING
        if kind == UNWANTED:
            self.unit.want(memory, self.now)
            return "kept"
        refused = other or memory
        self.unit.refuse(self.store.reader.rows([refused])[refused].text, self.now)
        stands = self._current(memory)
        if kind == CONTRADICTED and not stands:
            self.unit.reinstate(memory, self.now)
            self.unit.renew([memory])
        self.unit.forget(refused, self.now)
        holds = "holds" if stands else "holds again"
        return f"{holds}, {self._uid(other)[:8]} rejected" if other else "rejected"

    def both(self, one: Waiting) -> str:
        """Let a memory and what contradicts or maybe replaces it hold, and say it."""
        kind, memory, other = one
        if not other:
            return NOTHING
        if not self._current(memory):
            self.unit.reinstate(memory, self.now)
            self.unit.renew([memory])
        self.unit.accord(other, memory, self.now)
        self.unit.keep(memory, self.now)
        if kind == CONTRADICTED:
            self._bear_out(other)
        return f"both hold, it and {self._uid(other)[:8]}"

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


@steadily
def _decided(
    place: Place, parts: Sequence[str], verb: str, decide: Callable[[_Desk, Waiting], str]
) -> list[dict[str, Any]]:
    refuse_stopped(place.data, verb)
    rows = rows_of(place, parts)
    with writing(place) as store, builtin_embedder() as local:
        waits = _waiting(place, rows)
        with store.unit() as unit:
            desk = _Desk(store, unit, local)
            done = {row: decide(desk, waits[row]) if row in waits else NOTHING for row in rows}
        stored = store.reader.rows(rows)
        records = acted(place, store.reader, {row: done[row] != NOTHING for row in rows})
        return [one | {"source": stored[row].source, "done": done[row]} for row, one in zip(rows, records, strict=True)]


def _editable(place: Place, part: str, text: str) -> Waiting:
    """Return what waits, for a text to be put in its place. Raises UsageError where it does not, or nothing is said."""
    refuse_stopped(place.data, "review edit")
    rows = rows_of(place, [part])
    waits = _waiting(place, rows)
    if len(rows) != 1 or rows[0] not in waits:
        raise UsageError(f"{part} does not wait for review: `memman replace {part}` changes a memory")
    if not text.strip():
        raise UsageError("say with --text what holds instead")
    return waits[rows[0]]


@steadily
def edited(place: Place, part: str, text: str) -> str:
    """Queue what a person says holds in the place of what waits, as their own word; return the note's id."""
    kind, memory, other = _editable(place, part, text)
    with looking(place) as (catalogue, _):
        stands = catalogue.memories([memory])[0]["status"] == "current"
        against = kind == CONTRADICTED and stands
        record = catalogue.memories([other if kind == CONTRADICTED and not stands else memory])[0]
        repository, folder = catalogue.reader.scope_of([record["id"]]).get(record["id"], ("", ""))
    note = stamp(place.data, "", None) | {
        "store": place.name,
        "repository": repository,
        "text": text.strip(),
        "category": record["category"],
        "importance": record["importance"],
        "entities": "",
        "scope": (PATH + folder if folder else REPOSITORY) if repository else PERSONAL,
        "replaces": "" if kind == HELD else record["uid"],
    }
    uid, _ = append(place.data, note)
    if kind == HELD or against:
        reject(place, [record["uid"]])
    return uid


def _waiting(place: Place, rows: Sequence[int]) -> dict[int, Waiting]:
    """Return how each of `rows` waits, or may be decided about: also if unconfirmed, or behind another for a while."""
    with looking(place) as (catalogue, _):
        unconfirmed = catalogue.reader.unconfirmed(rows)
        current = {one["id"] for one in catalogue.memories(rows) if one["status"] == "current"}
        waits = {row: (kind, row, other) for kind, row, other in reversed(found(catalogue)) if row in rows}
        behind = {row: (MAYBE, row, other) for row, other in catalogue.behind().items() if row in rows}
    return {row: (UNCONFIRMED, row, 0) for row in rows if row in unconfirmed & current} | behind | waits


def join(store: "SqliteStore", unit: "SqliteUnit", local: "LocalEmbedder", memory: int) -> None:
    """Link a memory to those before it, as a drain does."""
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
