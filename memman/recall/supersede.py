"""What a newer memory does to the one it replaced, or maybe replaced, wherever a recall comes upon it. Hot.

A superseded memory gives way: what finds it finds the one in force. Where history is asked for it is shown too, below
that one and never without it. What is maybe replaced stands, marked, right behind the newer one; what contradicts,
unconfirmed, a memory that people stand behind stands behind that one. A hit that likely changes an older one stands
before it, and what may change the best hit follows it, if the question did not find it.
"""

from memman.belief import AHEAD, CONTRARY, UPDATE, allowed, effect, outlasts
from memman.model.text import SHORT_ID
from memman.model.vocabulary import NEWER
from memman.recall.hit import Anchor, Hit, Read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from memman.recall.pending import WaitingRow
    from memman.store import MemoryRow
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

# Puts the memory in force before the one it superseded.
_AHEAD = 1e-6
# From this weight on, in ten-thousandths, a memory stands before the one that it may change: as likely as not.
_LIKELY = 5_000
# And only where it answers the question nearly as well: of two about other things the better answer stays first.
_CLOSE = 0.9


def current(reader: "SqliteReader", anchors: list[Anchor], filters: "Filters") -> list[Anchor]:
    """Replace every superseded anchor by the memory in force, now or as of a time, which takes over its score."""
    heirs = reader.heirs((anchor.id for anchor in anchors), filters.as_of)
    if filters.as_of is not None and not filters.history:
        stood = reader.filtered([anchor.id for anchor in anchors], filters)
        anchors = [anchor for anchor in anchors if anchor.id in stood or anchor.id in heirs]
    if not heirs:
        return anchors
    admitted = reader.filtered(set(heirs.values()), filters)
    kept = {anchor.id: anchor for anchor in anchors if filters.history or anchor.id not in heirs}
    for old in anchors:
        heir = heirs.get(old.id, 0)
        if heir in admitted and (heir not in kept or old.score >= kept[heir].score):
            kept[heir] = old.having(id=heir, score=old.score + _AHEAD, stands_for=old.id)
    return sorted(kept.values(), key=lambda anchor: (-anchor.score, anchor.id))


def settled(reader: "SqliteReader", reads: list[Read], filters: "Filters") -> list[Read]:
    """Keep what was superseded below what took its place, whatever was added to their scores."""
    heirs = reader.heirs((read.id for read in reads), filters.as_of) if filters.history else {}
    if not heirs:
        return reads
    scores = {read.id: read.score for read in reads}
    behind = {old: heir for old, heir in heirs.items() if heir in scores}
    below = [
        read.having(behind=behind[read.id], score=min(read.score, scores[behind[read.id]] - _AHEAD))
        if read.id in behind
        else read
        for read in reads
    ]
    return sorted(below, key=lambda read: (-read.score, read.id))


def orphaned(one: Read | Hit, shown: "Container[int]") -> bool:
    """Whether a superseded memory would be shown without what took its place."""
    return one.behind is not None and one.behind not in shown


def raised(hits: "Iterable[Hit]", heights: dict[int, float]) -> dict[int, float]:
    """Return how high each hit stands, none lower than what it superseded."""
    heights = dict(heights)
    for hit in hits:
        if hit.behind in heights:
            heights[hit.behind] = max(heights[hit.behind], heights[hit.id])
    return heights


def awaited(notes: "Iterable[WaitingRow]", filters: "Filters") -> set[str]:
    """Return the uids of what notes that wait are going to replace, if they may replace anything."""
    trusted = () if filters.past else (note for note in notes if allowed(note.source, AHEAD))
    return {note.replaces for note in trusted if note.replaces}


def with_newer(reader: "SqliteReader", hits: list[Hit], filters: "Filters") -> list[Hit]:
    """Put a hit before the one that it likely changes; behind the best hit add what may change it and was not found."""
    pairs = reader.later(hit.id for hit in hits)
    if not pairs:
        return hits
    heirs = reader.heirs((new for _, new, _ in pairs), filters.as_of)
    likeliest = {old: (heirs.get(new, new), weight) for old, new, weight in pairs}
    admitted = reader.filtered((new for new, _ in likeliest.values()), filters)
    rows = reader.rows(admitted - reader.ended(admitted, filters.as_of))
    known, placed = {hit.id: hit for hit in hits}, [hit.id for hit in hits]
    stands = reader.statements({*known, *rows})
    for id_, (new, weight) in likeliest.items():
        old, its, at = known[id_], known.get(new), placed.index(id_)
        what = effect(UPDATE, stands[new], stands[id_]) if new in rows and new != id_ else ""
        if not what:
            continue
        if its is None and id_ == hits[0].id and not old.doubtful:
            its = Hit(rows[new], old.score - _AHEAD, old.confidence)
            placed.insert(at + 1, new)
        elif its and _alike(old, its, weight) and at < placed.index(new) and what not in CONTRARY:
            its = its.having(score=old.score + _AHEAD, confidence=max(its.confidence, old.confidence))
            placed.remove(new)
            placed.insert(at, new)
        if its:
            known[new] = its.having(via=(NEWER, id_), labels=(f"newer than {old.row.uid[:SHORT_ID]}",))
    return [known[memory] for memory in placed]


def _alike(old: Hit, new: Hit, weight: int) -> bool:
    """Whether both answer a question about as well, and the newer likely changes the older."""
    return weight >= _LIKELY and new.score >= _CLOSE * old.score


def doubted(reader: "SqliteReader", hits: list[Hit], filters: "Filters", limit: int) -> list[Hit]:
    """Put the newer memory before each hit that is maybe replaced or contradicted; return the first `limit`."""

    def bring(ids: "Iterable[int]") -> "Iterable[MemoryRow]":
        return reader.rows(reader.filtered(ids, filters)).values()

    known = marked(reader, hits, bring, filters.as_of, filters.scopes)
    if not any(hit.after for hit in known.values()):
        return hits[:limit]
    found = {uid: hit.confidence for uid, hit in known.items()}
    placed = [hit.row.uid for hit in newer_first([*known.values()])]
    for uid in reversed(placed):
        old = known[uid]
        if new := known.get(old.after or ""):
            score, sure = max(new.score, old.score + _AHEAD), max(new.confidence, old.confidence)
            known[new.row.uid] = new.having(score=score, confidence=sure)
    return _surest([known[uid] for uid in placed], found, limit)


def _surest(placed: list[Hit], found: "Mapping[str, float]", limit: int) -> list[Hit]:
    """Return the first `limit` hits, a surer one in no doubt in place of a chain's older end."""
    kept = placed[:limit]
    for hit in placed[limit:]:
        if hit.doubtful or hit.after or orphaned(hit, {one.id for one in kept}):
            continue
        needed = {one.after for one in kept} | {one.behind for one in kept}
        ends = [one for one in kept if one.after and not {one.row.uid, one.id} & needed]
        least = min(ends, key=lambda one: found[one.row.uid], default=hit)
        if least is not hit and found[least.row.uid] < hit.confidence:
            kept = [*(one for one in kept if one is not least), hit]
    return kept


def marked(
    reader: "SqliteReader",
    hits: "Iterable[Hit]",
    bring: "Callable[[Iterable[int]], Iterable[MemoryRow]]",
    as_of: int | None = None,
    scopes: "frozenset[int] | None" = None,
) -> dict[str, Hit]:
    """Return hits by uid, marked where another of `scopes` stands before them, and those that `bring` reads."""
    known = {hit.row.uid: hit for hit in hits}
    found: Mapping[str, Hit] = known
    while found:
        uids = {hit.id: uid for uid, hit in found.items()}
        newer, said = reader.newer(uids, as_of, scopes), reader.contradicts(uids, as_of, scopes)
        until = _until(reader, {old: new for old, (new, _) in newer.items()})
        upheld = {memory: claims[0][:2] for memory, claims in said.items()}
        for memory, (_, its) in newer.items():
            known[uids[memory]] = known[uids[memory]].having(maybe_replaced_by=its, until=until.get(memory))
        for memory, (_, its) in upheld.items():
            known[uids[memory]] = known[uids[memory]].having(against=its)
        before = dict.fromkeys((*newer.values(), *upheld.values()))
        rows = bring(memory for memory, its in before if its not in known)
        found = {row.uid: Hit(row, score=0.0, confidence=0.0) for row in rows}
        known |= found
    return known


def _until(reader: "SqliteReader", newer: "Mapping[int, int]") -> dict[int, int]:
    """Return, by the older one of each pair, until when the newer one holds where the older one holds longer."""
    ends = reader.ends({*newer, *newer.values()})
    return {old: ends[new] for old, new in newer.items() if outlasts(ends.get(old), ends.get(new))}


def newer_first(hits: "Sequence[Hit]") -> list[Hit]:
    """Put right before each hit that another stands before that one, unless it does already."""
    shown = {hit.row.uid: hit for hit in hits}
    return list(dict.fromkeys(one for hit in hits for one in reversed(chain(hit, shown))))


def chain(hit: Hit, known: "Mapping[str, Hit]") -> list[Hit]:
    """Return a hit and those of `known` that stand before it, one after the other."""
    passed = [hit]
    while (newer := known.get(passed[-1].after or "")) and newer not in passed:
        passed.append(newer)
    return passed
