"""Who bears out what only an agent has said: the user's own words, or another day's session not shown it."""

from collections.abc import Iterable, Iterator, Sequence

from memman.belief import AGENT, USER, apart, trusted
from memman.model.records import Note
from memman.model.terms import respelled
from memman.pipeline.comparison import numbers, says
from memman.pipeline.fidelity import faithful, in_order, original
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.trust import whose
from memman.store import MemoryRow

# The user says it where the judge finds the two so probably the same, and a change so improbable.
SAME, CHANGED = 0.5, 0.1
# Memories of the note's own session that a user's words are compared with: an agent notes down before a turn ends.
_NEWEST = 16
_ALL = 1.0

# A stored memory, or a fact of the note that is yet to be stored as -(1 + number); and the session that bears it out.
Piece = tuple[int, str]


def borne_out(tools: Tools, plan: Plan) -> list[Piece]:
    """Return what the note bears out of agents' words, and what bears out its own; before the transaction."""
    reader = tools.reader
    near = reader.located({c.uid for found in plan.candidates for c in found})
    near |= set(reader.newest_of(plan.note.provenance.origin, _NEWEST))
    rows = reader.rows(near)
    doubtful = [rows[memory] for memory in sorted(reader.unconfirmed(near))]
    pieces = set(_by_user(tools, plan.note, doubtful))
    for n, fact in enumerate(plan.facts):
        candidates = plan.candidates[n] if plan.candidates else ()
        if fact.held or whose(plan.note, fact, candidates) != AGENT:
            continue
        pieces |= set(_by_others(tools, plan, n, rows.values()))
    return sorted(pieces)


def _by_user(tools: Tools, note: Note, doubtful: Sequence[MemoryRow]) -> Iterator[Piece]:
    said = _words(tools, note) if doubtful else ""
    yield from ((row.id, note.provenance.session) for row in doubtful if said and says_so(tools, said, row.text))


def _words(tools: Tools, note: Note) -> str:
    """Return what a note's user said in their own words."""
    if note.provenance.source != USER:
        return ""
    if note.channel == "note":
        return note.text
    if note.channel == "noted":
        return ""
    from memman.pipeline.heard import Heard

    return Heard.of(note, tools.judge).stated


def typed_in(tools: Tools, note: Note) -> str:
    """Return what the user typed in the turn that a note is from, '' for one that is from none."""
    from memman.pipeline.heard import Heard
    from memman.pipeline.noted import Said

    if note.channel == "noted":
        return next(reversed(Said.of(note, tools.judge).typed), "")
    if note.channel not in {"turn", "watched"}:
        return ""
    return Heard.of(note, tools.judge).spoken.typed[0]


def _by_others(tools: Tools, plan: Plan, n: int, rows: Iterable[MemoryRow]) -> Iterator[Piece]:
    """Yield what the user, or another session, said before the agent does, and that session's memory with it."""
    note, text = plan.note, plan.facts[n].text
    session = note.provenance.session
    for row in rows:
        if row.status != "current" or not trusted(row.source) or not says_so(tools, row.text, text):
            continue
        theirs = _session(row.origin)
        if row.source == USER:
            yield -1 - n, theirs
        elif session and theirs and theirs != session and _independent(tools, note, row):
            yield from ((-1 - n, theirs), (row.id, session))


def _independent(tools: Tools, note: Note, row: MemoryRow) -> bool:
    """Whether a note was made at another sitting than a memory, in a session that had not been shown it."""
    if not apart(note.queued_at, row.valid_from):
        return False
    shown = tools.reader.shown_in(note.provenance.session, [row.id])
    return not (shown or row.uid in note.shown or row.note in note.shown)


def _session(origin: str) -> str:
    """Return the session that an origin names, '' for one that names a place."""
    return "" if origin.startswith("@") else origin.partition(":")[2]


def says_so(tools: Tools, said: str, text: str) -> bool:
    """Whether what was `said` says all that `text` does: in its words, or as the judge reads its likest sentences."""
    if says([said], text, _ALL) and faithful(text, said) and in_order(text, said):
        return True
    likest = original(text, said) if tools.judge else ""
    if not likest or not numbers(text) <= numbers(said) or respelled(text, said):
        return False
    assert tools.judge is not None  # noqa: S101 - there are no likest sentences without it
    there, back = tools.judge.relations([(text, likest), (likest, text)])
    return min(there.same, back.same) >= SAME and max(there.ends, back.ends) < CHANGED
