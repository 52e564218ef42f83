"""Anchors looked at again: what their session says, what each of their words says.

Safe on the hot path.
"""

from memman.recall.hit import Read
from memman.recall.maxsim import MaxSim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.recall.hit import Anchor
    from memman.recall.signals import Signals
    from memman.store.rows import MemoryRow
    from memman.store.sqlite.reader import SqliteReader

# What an anchor gains by the best of its session, and by maxsim, beside a first score of 1 at most.
SESSION = 0.25
MAXSIM = 0.4
# Anchors whose words are read: a question that is answered at all is nearly always answered among these.
READ = 20


def rescored(
    reader: "SqliteReader", table: "StaticTable", query: str, anchors: "list[Anchor]", signals: "Signals"
) -> list[Read]:
    """Read the anchors, damaged ones left out, and sort them by what they say; scores stay about as high as they were.

    Anchors come best first.
    """
    wanted = {anchor.id for anchor in anchors} | {anchor.stands_for for anchor in anchors if anchor.stands_for}
    rows = reader.sound_rows(wanted)
    anchors = [anchor for anchor in anchors if anchor.id in rows]
    session = _by_session(anchors, rows) if signals.sessions else {}
    first = sorted(anchors, key=lambda anchor: (-anchor.score - session.get(anchor.id, 0.0), anchor.id))
    maxsim = _by_words(MaxSim(table, query), first[:READ], rows) if signals.maxsim else {}
    reads = [_read(anchor, rows, session.get(anchor.id, 0.0), maxsim.get(anchor.id, 0.0)) for anchor in first]
    return sorted(reads, key=lambda read: (-read.score, read.id))


def _read(anchor: "Anchor", rows: "dict[int, MemoryRow]", session: float, maxsim: float) -> Read:
    score = (anchor.score + session + MAXSIM * maxsim) / (1 + SESSION + MAXSIM)
    return Read(anchor, rows[anchor.id], score, rows.get(anchor.stands_for or 0), session, maxsim)


def _by_session(anchors: "list[Anchor]", rows: "dict[int, MemoryRow]") -> dict[int, float]:
    """Return what each anchor gains by the best of its session; an origin that is none gives nothing to others."""
    best: dict[str, float] = {}
    gained = {}
    for anchor in anchors:
        origin = rows[anchor.id].origin
        best.setdefault(origin, anchor.score)
        gained[anchor.id] = SESSION * (anchor.score if origin.startswith("@") else best[origin])
    return gained


def _by_words(asked: MaxSim, anchors: "list[Anchor]", rows: "dict[int, MemoryRow]") -> dict[int, float]:
    """Return the maxsim of each anchor's words to the question's, or of those it took the place of."""
    texts = {
        anchor.id: [rows[memory].text for memory in (anchor.id, anchor.stands_for) if memory in rows]
        for anchor in anchors
    }
    asked.prepare(text for both in texts.values() for text in both)
    return {memory: max(map(asked.of, both)) for memory, both in texts.items()}
