"""The best hits looked at again: what their session says, what each of their words says.

Safe on the hot path.
"""

from memman.recall.likeness import Likeness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.recall.hit import Hit
    from memman.recall.signals import Signals
    from memman.store.sqlite.reader import SqliteReader

# What a hit gains by the best hit of its session, and by likeness, beside a first score of 1 at most.
SESSION = 0.25
LIKENESS = 0.4
# Hits whose words are read: a question that is answered at all is nearly always answered among these.
READ = 20
_ORIGIN = 10


def read(
    reader: "SqliteReader", table: "StaticTable", query: str, hits: "list[Hit]", signals: "Signals"
) -> "list[Hit]":
    """Fetch what the hits say, damaged ones left out, and sort them by it; scores stay about as high as they were."""
    rows = reader.sound_rows({hit.id for hit in hits} | {hit.stands_for for hit in hits if hit.stands_for})
    hits = [hit for hit in hits if hit.id in rows]
    for hit in hits:
        hit.row = rows[hit.id]
        hit.former = rows.get(hit.stands_for) if hit.stands_for else None
    if signals.sessions:
        _by_session(hits)
    if signals.likeness:
        _by_words(Likeness(table, query), hits[:READ])
    for hit in hits:
        hit.score /= 1 + SESSION + LIKENESS
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits


def _by_session(hits: "list[Hit]") -> None:
    """Let each hit gain by the best of its session; an origin that is none gives nothing to others."""
    best: dict[str, float] = {}
    for hit in hits:
        origin = hit.row[_ORIGIN]
        best.setdefault(origin, hit.score)
        hit.session = SESSION * (hit.score if origin.startswith("@") else best[origin])
        hit.score += hit.session
    hits.sort(key=lambda hit: (-hit.score, hit.id))


def _by_words(asked: Likeness, hits: "list[Hit]") -> None:
    """Let each hit gain by the likeness of its words to the question's, or of those it took the place of."""
    texts = [[row[3] for row in (hit.row, hit.former) if row] for hit in hits]
    asked.prepare(text for both in texts for text in both)
    for hit, both in zip(hits, texts, strict=True):
        hit.likeness = max(map(asked.of, both))
        hit.score += LIKENESS * hit.likeness
