"""How the hits of a recall came about, and what kept a memory or a waiting note out. Not for the hot path.

Every figure is one that recall itself works out on the way: its stages are run again, on the same store.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memman.config.scope import label, path_of
from memman.embed.static import query_planes
from memman.model.reliability import factor
from memman.model.terms import stem, stems, terms
from memman.model.vocabulary import BUILTIN, HIDDEN
from memman.recall import cut, looked_at, relevant
from memman.recall.candidates import POOL, candidates
from memman.recall.collapse import SPARE
from memman.recall.confidence import FLOOR, LOW, SILENT
from memman.recall.fuse import shares
from memman.recall.gate import CLOSE, FIRST, NEAR, NEARER, gated, heights, outstanding
from memman.recall.hit import UNREAD, Hit, Read
from memman.recall.pending import COVERED, WaitingRow, admitted, coverage, pending
from memman.recall.rescore import MAXSIM, SESSION
from memman.store import MemoryRow
from memman.store.filters import Filters

if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.recall.query import Query
    from memman.store.sqlite.reader import SqliteReader

# The filters that keep memories out by what is recorded of them.
_FILTERS = ("category", "source", "since", "until", "as_of")


class Reason(NamedTuple):
    """What kept a memory out, by name, and the figures that go with it."""

    why: str
    figures: dict[str, Any]


def reason(why: str, **figures: Any) -> Reason:
    """Make a reason."""
    return Reason(why, figures)


class Trace:
    """A recall with its `hits`, and its stages to look into."""

    def __init__(
        self,
        reader: "SqliteReader | None",
        table: "StaticTable | None",
        asked: "Query",
        filters: Filters,
        limit: int,
        intent: str | None,
        hits: Sequence[Hit],
        notes: Sequence[WaitingRow],
        gone: set[str],
    ) -> None:
        self.reader, self.asked, self.filters, self.limit, self.hits = reader, asked, filters, limit, list(hits)
        self.intent = intent
        self.notes = {note.uid: note for note in notes}
        self.needed = (0.0 if asked.bare else FLOOR) if filters.least is None else filters.least
        self.cut = cut(asked, filters)
        self.terms = {stem(term): term for term in terms(asked.about or asked.text)}
        self.reads: list[Read] = []
        self.weighed: list[Hit] = []
        self.relevant: list[Hit] = []
        self.brought: dict[int, None] = {}
        self.shares: dict[int, tuple[float, float, float]] = {}
        self._gone = {note.replaces: note.uid for note in notes if note.replaces in gone}
        if reader is not None and table is not None:
            self._look(reader, table)

    def _look(self, reader: "SqliteReader", table: "StaticTable") -> None:
        asked, filters = self.asked, self.filters
        brought = candidates(reader, table, asked, filters)
        self.brought = brought.found
        self.shares = shares(reader, asked, brought)
        self.reads = looked_at(reader, table, asked, filters, self.intent)
        self.weighed = gated(reader, table, self.reads, asked, len(self.reads), 0.0)
        self.relevant = relevant(reader, table, asked, self.reads, filters, self.limit)
        self._number = reader.embedder(BUILTIN, f"{table.model}-v{table.version}", table.dimension)
        self._planes = query_planes(table.vector(asked.text))

    def place(self, uid: str) -> int | None:
        """Return where a memory or a note is shown, from 1."""
        return next((n for n, hit in enumerate(self.hits, 1) if hit.row.uid == uid), None)

    def parts(self, hit: Hit) -> dict[str, float]:
        """Return what each signal adds to a hit's score; together they are the score."""
        if hit.pending:
            return {"words": hit.coverage, "time": hit.score - hit.coverage}
        if hit.read is UNREAD:
            return {"edge" if hit.via else "succession": hit.score}
        whole = 1 + SESSION + MAXSIM
        words, meaning, time = (share / whole for share in self.shares[hit.read.place])
        moved = hit.reliability is not None and hit.behind is None
        parts = {
            "words": words,
            "meaning": meaning,
            "time": time,
            "session": hit.read.session / whole,
            "maxsim": MAXSIM * hit.read.maxsim / whole,
            "evidence": hit.read.score * (factor(hit.reliability or 0.5) - 1) if moved else 0.0,
        }
        return parts | {"succession": hit.score - sum(parts.values())}

    def said(self, *rows: MemoryRow) -> list[str]:
        """Return the query's words that the first of `rows` to hold the most of them says."""
        each = [self.terms.keys() & stems(self.asked.told(f"{row.text} {row.entities} {row.keywords}")) for row in rows]
        held: set[str] = max(each, key=len, default=set())
        return [term for own, term in self.terms.items() if own in held]

    def height(self, hit: Hit) -> float | None:
        """Return how high a hit stands beside the best, None where that is not asked."""
        return heights(self.relevant).get(hit.id) if self.cut and not hit.pending else None

    def silent(self) -> Reason | None:
        """Return why nothing stored is shown although something passes the gate's floor, None where that is not so."""
        if not self.weighed or self.relevant or self.asked.bare or self.filters.least is not None:
            return None
        return reason("silent", confidence=max(hit.confidence for hit in self.weighed), needed=SILENT)

    def kept_out(self, memory: int) -> Reason:
        """Return the first thing that kept a stored memory out of the hits."""
        if self.reader is None:
            return reason("unsearched")
        row = self.reader.rows([memory])[memory]
        return self._barred(self.reader, row) or self._unread(self.reader, row) or self._unshown(row)

    def _barred(self, reader: "SqliteReader", row: MemoryRow) -> Reason | None:
        """Return what kept a memory out before anything was searched for."""
        if row.status in HIDDEN:
            return reason(row.status)
        if row.id not in reader.sound_rows([row.id]):
            return reason("damaged")
        heir = reader.heirs([row.id], self.filters.as_of).get(row.id)
        if heir and not self.filters.history:
            by = reader.rows([heir])[heir].uid
            return reason("superseded", by=by, at=self.place(by))
        return self._replaced(row.uid, row.note) or self._filtered(
            lambda filters: row.id in reader.filtered([row.id], filters)
        )

    def _replaced(self, *uids: str) -> Reason | None:
        """Return which note that waits replaces what has these uids."""
        by = next((self._gone[uid] for uid in uids if uid in self._gone), "")
        return reason("replaced", by=by, at=self.place(by)) if by else None

    def _filtered(self, admits: Callable[[Filters], bool]) -> Reason | None:
        """Return which of the filters, each by itself, does not admit something."""
        asked = self.filters
        where = Filters(
            here=asked.here, inside=asked.inside, anywhere=asked.anywhere, scopes=asked.scopes, history=True
        )
        each = {name: Filters(history=True, **{name: getattr(asked, name)}) for name in _FILTERS} | {"scope": where}
        return next((reason(name) for name, filters in each.items() if not admits(filters)), None)

    def _unread(self, reader: "SqliteReader", row: MemoryRow) -> Reason | None:
        """Return why a memory was not looked at."""
        if any(read.id == row.id for read in self.reads):
            return None
        if row.id not in self.brought:
            cosine = reader.cosines(self._number or 0, self._planes, [row.id]).get(row.id)
            return reason("unfound", said=self.said(row), words=list(self.terms.values()), cosine=cosine, best=POOL)
        first = {memory: words + meaning + time for memory, (words, meaning, time) in self.shares.items()}
        place = 1 + sum(score > first[row.id] for score in first.values())
        return reason("unread", place=place, of=len(first), most=CLOSE)

    def _unshown(self, row: MemoryRow) -> Reason:
        """Return what kept out a memory that was looked at."""
        hit = next((hit for hit in self.weighed if hit.id == row.id), None)
        if hit is None:
            return reason("behind")
        if hit.confidence < self.needed:
            return reason("gate", confidence=hit.confidence, needed=self.needed)
        passing = [one.id for one in self.weighed if one.confidence >= self.needed]
        place = passing.index(row.id) + 1
        if place <= self.limit + SPARE and (silent := self.silent()):
            return silent
        standing = next((one for one in self.relevant if row.uid in one.alike), None)
        if standing is not None:
            return reason("alike", by=standing.row.uid, at=self.place(standing.row.uid))
        if self.cut and any(one.id == row.id for one in self.relevant):
            kept = outstanding(self.relevant)
            if row.id not in {one.id for one in kept}:
                return self._low(hit, len(kept))
        reranked = any(one.rerank is not None for one in self.hits)
        return reason("reranked" if reranked else "limit", limit=self.limit, place=place)

    def _low(self, hit: Hit, kept: int) -> Reason:
        height = heights(self.relevant)[hit.id]
        if height >= NEARER:
            return reason("doubtful", confidence=hit.confidence, needed=LOW, first=FIRST)
        return reason("height", height=height, needed=NEAR if kept < FIRST else NEARER)

    def kept_out_note(self, uid: str) -> Reason:
        """Return the first thing that kept a note that waits out of the hits."""
        note = self.notes.get(uid)
        if note is None:
            return reason("unsearched")
        barred = self._filtered(lambda filters: admitted(note, filters)) or self._replaced(uid)
        if barred and barred.why == "scope":
            return reason("scope", scope=label(note.repository, path_of(note.scope)))
        return barred or self._unmatched(note)

    def _unmatched(self, note: WaitingRow) -> Reason:
        covered = coverage(note, self.asked, stems(self.asked.about or self.asked.text))
        if not self.asked.bare and covered < COVERED:
            return reason("covered", covered=covered, needed=COVERED)
        found = pending([*self.notes.values()], self.asked, self.filters.having(least=None))
        place, hit = next(((n, hit) for n, hit in enumerate(found, 1) if hit.row.uid == note.uid), (0, None))
        if hit is None:
            return reason("time")
        if self.filters.least is not None and hit.confidence < self.filters.least:
            return reason("gate", confidence=hit.confidence, needed=self.filters.least)
        return reason("limit", limit=self.limit, place=place)
