"""`memman review`: the one place for what waits for a person, who approves, rejects, or says what holds."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from memman.belief import APPROVED, outlasts
from memman.clock import now_ms
from memman.commands.person import choose, confirm
from memman.commands.place import Opened, Place, Records, acted, opened, steadily, writing
from memman.commands.printing import acted as line
from memman.commands.printing import ago, holds, labelled, lines, short, table
from memman.commands.printing import text as say
from memman.commands.verb import Group, ids_argument, scope_option, store_option
from memman.config.schedule import refuse_stopped
from memman.config.scope import PATH, PERSONAL, REPOSITORY
from memman.hot.provenance import stamp
from memman.model.errors import UsageError
from memman.model.records import EVERYWHERE
from memman.model.vocabulary import WISHES
from memman.queue.append import append
from memman.store.sqlite import beliefs, words

if TYPE_CHECKING:
    from memman.embed.base import LocalEmbedder
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.unit import SqliteUnit

# The kinds of what waits, in the order of the list. The id is the older one's where there are two.
HELD, MAYBE, CONTRADICTED = "held back", "maybe replaced", "contradicted"
UNWANTED, UNCONFIRMED = "to forget", "unconfirmed"
# As many of what waits are walked through, and of those held back looked at.
MOST = 500
# What waits: kind, memory, other side; none of these where a memory does not wait.
Waiting = tuple[str, int, int]
NOTHING = "not waiting"
# What may be answered to each that is walked through, and what an empty line means.
_ANSWERS = {"a": "approve", "e": "edit", "r": "reject", "s": "skip", "q": "quit"}
_OF_TWO = {"y": "yes", "n": "no", "b": "both hold", "e": "edit", "s": "skip", "q": "quit"}
_REPLACES, _STAYS = "Does the newer replace the older?", "Does the older stay as it is?"


def found(store: Opened, scope: str | None = "all") -> list[Waiting]:
    """Return (kind, memory, the other side or 0) of what waits in the scopes that are said."""
    held = [one["id"] for one in store.listed(status="review", limit=MOST)]
    pairs, contradicted = store.doubtful(), beliefs.contradicted(store.reader)
    said = beliefs.claimed(store.db)
    unwanted = beliefs.unwanted(store.db)
    told = {*unwanted, *pairs, *pairs.values(), *contradicted.values(), *(new for _, new, _ in said)}
    wishes = [row for row in beliefs.lone(store.db, WISHES) if row not in told]
    waits = [
        *((HELD, row, 0) for row in held),
        *((MAYBE, old, new) for old, new in pairs.items()),
        *((MAYBE, old, new) for old, new, sure in said if not sure),
        *((CONTRADICTED, old, new) for old, new, sure in said if sure),
        *((CONTRADICTED, old, new) for old, new in contradicted.items()),
        *((UNWANTED, row, 0) for row in unwanted),
        *((UNCONFIRMED, row, 0) for row in wishes),
    ]
    there = store.within([row for _, row, _ in waits], scope)
    return [one for one in waits if one[1] in there]


def count(store: Opened) -> dict[str, int]:
    """Count what waits by kind."""
    kinds = [kind for kind, _, _ in found(store)]
    return {kind: kinds.count(kind) for kind in (HELD, MAYBE, CONTRADICTED, UNWANTED, UNCONFIRMED) if kind in kinds}


def told(store: Opened, kind: str, memory: int, other: int) -> dict[str, Any]:
    """Describe what waits, with the other side."""
    record = store.memories([memory])[0]
    beside = store.memories([other])[0] if other else None
    return {"kind": kind, "why": _why(store, kind, record, beside), "other": beside} | record


def _why(store: Opened, kind: str, record: dict[str, Any], other: dict[str, Any] | None) -> str:
    if kind == HELD:
        return store.why_held(record).get("why", "")
    against = beliefs.why_against(store.reader, other["uid"], record["uid"]) if other else ""
    said = against or beliefs.why(store.reader, record["uid"])
    return {UNCONFIRMED: "nobody but an agent has said so", UNWANTED: "an agent asks for it"}.get(kind, said)


@click.group(cls=Group)
@store_option
def review() -> None:
    """Decide about memories that wait for a person: held back, contradicted, or unconfirmed."""


def _print_waiting(records: Records) -> None:
    for record in records:
        lines(_block(record))
    say("")
    say("to decide: `memman review all`, or `memman review approve ID`, `reject ID`, `edit ID`")


def _block(record: dict[str, Any]) -> Iterator[str]:
    """Write what waits, why, and what it says; below it the other side."""
    yield f"{short(record['uid'])}  {': '.join(filter(None, (record['kind'], record['why'])))}"
    yield f"    {_said(record)}"
    if other := record["other"]:
        yield f"    newer: {short(other['uid'])}  {_said(other)}"


def _said(record: dict[str, Any]) -> str:
    return f"{record['text']}  ({labelled(record, holds(record), ago(record['valid_from']))})"


@review.verb("list", opened=True, shows=_print_waiting, counts=len, none="nothing waits for review")
@scope_option
def listed(store: Opened, *, limit: int = 20, scope: str | None = None) -> Records:
    """List what waits, and why."""
    return [told(store, *one) for one in found(store, scope)[:limit]]


def _ask(place: Place, ids: Sequence[str], question: str, of_two: str = "") -> None:
    """Ask a person about what waits, with the other side of each; `of_two` where each has one."""
    with opened(place) as store:
        rows = store.rows_of(ids)
        waits = _waiting(store, rows)
        records = [told(store, *waits.get(row, ("", row, 0))) for row in rows]
    asked = of_two if of_two and all(one["other"] for one in records) else question
    confirm(asked, listed=(line for one in records for line in _block(one)))


def _decisions(records: Records) -> None:
    table([line(one["done"], one) for one in records])


@review.verb(shows=_decisions, asks=lambda place, ids: _ask(place, ids, "Approve?", _REPLACES))
@ids_argument
def approve(place: Place, ids: Sequence[str]) -> Records:
    """Approve what waits.

    What was held back is recalled, an agent's word is confirmed, what is maybe replaced is superseded, and what an
    agent asked to forget is forgotten.
    """
    return _decided(place, ids, "review approve", _Desk.approve)


@review.verb(shows=_decisions, asks=lambda place, ids: _ask(place, ids, "Reject?", _STAYS))
@ids_argument
def reject(place: Place, ids: Sequence[str]) -> Records:
    """Reject what waits: it is forgotten, and no agent may propose it again; `forget --undo` takes that back.

    A memory that is maybe replaced, or that an agent asked to forget, stays without the mark. A memory that an
    agent's note contradicts stays confirmed.
    """
    return _decided(place, ids, "review reject", _Desk.reject)


@review.verb(shows=_decisions, asks=lambda place, ids: _ask(place, ids, "Shall both hold?"))
@ids_argument
def both(place: Place, ids: Sequence[str]) -> Records:
    """Keep both: a memory, and the one that contradicts or may replace it."""
    return _decided(place, ids, "review both", _Desk.both)


@review.verb("all")
def each(place: Place) -> None:
    """Decide about everything that waits, one by one, at the terminal."""
    with opened(place) as store:
        records = listed(store, limit=MOST)
    for number, record in enumerate(records, 1):
        question, answers = (_REPLACES, _OF_TWO) if record["other"] else ("", _ANSWERS)
        answer = choose(f"{number} of {len(records)}: {question}".rstrip(), answers, _block(record))
        if answer == "quit":
            return
        if answer == "edit":
            said = choose("What holds instead:", None)
            say(f"queued as {short(edit(place, record['uid'], said), note=True)}" if said else "left as it is")
        elif answer != "skip":
            _decisions(_DECIDES[answer](place, [record["uid"]]))
    if not records:
        say("nothing waits for review")


# What answers a question that `each` asks.
_DECIDES = {"approve": approve, "yes": approve, "reject": reject, "no": reject, "both hold": both}


class _Desk:
    """A store that is decided about, in one transaction."""

    def __init__(self, store: "SqliteStore", unit: "SqliteUnit", local: "LocalEmbedder") -> None:
        self.store, self.unit, self.local, self.now = store, unit, local, now_ms()

    def approve(self, one: Waiting) -> str:
        """Do what approving means for the kind, and say it."""
        kind, memory, other = one
        if kind == HELD:
            self.unit.approve(memory, self.now)
            self._bear_out(memory)
            return "approved"
        if kind == UNWANTED:
            self.unit.forget(memory, self.now)
            return "forgotten"
        if kind == MAYBE and self._for_a_while(memory, other):
            self._bear_out(other)
            return f"suspended by {self._uid(other)[:8]} until that ends"
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
            words.renew(self.unit.db, [memory])
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
            words.renew(self.unit.db, [memory])
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
    from memman.providers.pool import builtin_embedder

    refuse_stopped(place.data, verb)
    with opened(place) as seen:
        rows = seen.rows_of(parts)
        waits = _waiting(seen, rows)
    with writing(place) as store, builtin_embedder() as local:
        with store.unit() as unit:
            desk = _Desk(store, unit, local)
            done = {row: decide(desk, waits[row]) if row in waits else NOTHING for row in rows}
        stored = store.reader.rows(rows)
        records = acted(place, store.reader, {row: done[row] != NOTHING for row in rows})
        return [one | {"source": stored[row].source, "done": done[row]} for row, one in zip(rows, records, strict=True)]


def _editable(place: Place, part: str, text: str) -> Waiting:
    """Return what waits, for a text to be put in its place. Raises UsageError where it does not, or nothing is said."""
    refuse_stopped(place.data, "review edit")
    with opened(place) as store:
        rows = store.rows_of([part])
        waits = _waiting(store, rows)
    if len(rows) != 1 or rows[0] not in waits:
        raise UsageError(f"{part} does not wait for review: `memman replace {part}` changes a memory")
    if not text.strip():
        raise UsageError("give the text that holds instead with --text")
    return waits[rows[0]]


def _asks_edit(place: Place, id_: str, text: str) -> None:
    _editable(place, id_, text)
    _ask(place, (id_,), "Replace it by your text?")


@review.verb(asks=_asks_edit, shows=say)
@click.argument("id_", metavar="ID")
@click.option("--text", required=True, metavar="TEXT", help="The text that holds instead.")
@steadily
def edit(place: Place, id_: str, text: str) -> str:
    """Replace what waits by your own words; the id of the new note is printed."""
    kind, memory, other = _editable(place, id_, text)
    with opened(place) as store:
        stands = store.memories([memory])[0]["status"] == "current"
        against = kind == CONTRADICTED and stands
        record = store.memories([other if kind == CONTRADICTED and not stands else memory])[0]
        repository, folder = store.reader.scope_of([record["id"]]).get(record["id"], ("", ""))
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


def _waiting(store: Opened, rows: Sequence[int]) -> dict[int, Waiting]:
    """Return how each of `rows` waits, or may be decided about: also if unconfirmed, or behind another for a while."""
    unconfirmed = store.reader.unconfirmed(rows)
    current = {one["id"] for one in store.memories(rows) if one["status"] == "current"}
    waits = {row: (kind, row, other) for kind, row, other in reversed(found(store)) if row in rows}
    behind = {row: (MAYBE, row, other) for row, other in store.behind().items() if row in rows}
    return {row: (UNCONFIRMED, row, 0) for row in rows if row in unconfirmed & current} | behind | waits
