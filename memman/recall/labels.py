"""What is to be said of hits beside what they say, and a topic's page: the lines under it that hold now. Hot."""

import time

from memman.belief import ON_RECORD, PROMPTED, RECORDED, REPORTED, SAID_AS, TRUSTED, UNCERTAIN, UNTRUSTED, standing
from memman.model.text import day, opposed, outdated, plain
from memman.recall.hit import Hit
from memman.recall.supersede import chain, marked
from memman.store.filters import Filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memman.recall.hit import Read
    from memman.store import MemoryRow
    from memman.store.sqlite.reader import SqliteReader


# Orders that go by when things were, and what led to what: nothing stands back there.
IN_TIME = ("when", "why")
# Characters of a commit's id, and of what names a record.
_COMMIT, _LONGEST = 8, 60
# What is said of what only an agent has said.
UNCONFIRMED = "unconfirmed"


def stood_back(reader: "SqliteReader", reads: "list[Read]", as_of: int | None) -> "list[Read]":
    """Put what is past its end below the rest before any is cut off, and what it superseded with it."""
    ended = reader.ended((read.id for read in reads), as_of) if reads else set()
    if not ended:
        return reads
    told = [read.having(ended=True) if read.id in ended or read.behind in ended else read for read in reads]
    return sorted(told, key=lambda read: read.ended)


def standing_back(hits: "list[Hit]") -> "list[Hit]":
    """Do the same with hits of which it is known how they stand."""
    ended = {hit.id for hit in hits if hit.ended}
    return sorted(hits, key=lambda hit: hit.id in ended or hit.behind in ended) if ended else hits


def labelled(reader: "SqliteReader", hits: "list[Hit]", now: int) -> "list[Hit]":
    """Return the hits with how they stand and what is to be said of that, in a store that is shared with authors.

    That only an agent has said it, or how it was said, that it contradicts what people stand behind, that it holds no
    longer or names a file that has changed.
    """
    ids = [hit.id for hit in hits]
    known, against, changed = reader.statements(ids), reader.contradicts(ids), reader.changed_files(ids, now)
    found = []
    for hit in hits:
        one, said = known[hit.id], against.get(hit.id, ())
        outdates = outdated(one.ends_at, changed.get(hit.id), now)
        told = [UNCONFIRMED] if one.lone else []
        told += [SAID_AS[way] for way in (PROMPTED, REPORTED) if way in one.evidence and (one.lone or way != PROMPTED)]
        told += [opposed(said[0][1], len(said), sure=said[0][2])] if said else []
        told += _records(reader, hit) if RECORDED in one.evidence else []
        stands = standing(one, now, doubted=bool(said or outdates or hit.maybe_replaced_by))
        found.append(hit.having(standing=stands, verified=one.looked_at, labels=(*hit.labels, *told, *outdates)))
    return _signed(reader, found)


def _records(reader: "SqliteReader", hit: "Hit") -> list[str]:
    """Return the commit that says it, or the file, the newest that does."""
    *_, said = (said for kind, said, _ in reader.evidence([hit.id])[hit.id] if kind == RECORDED)
    commit, _, path = said.partition(":")
    return [plain(f"{path or f'commit {commit[:_COMMIT]}'} of {day(hit.row.valid_from)}", _LONGEST)]


def _signed(reader: "SqliteReader", hits: "list[Hit]") -> "list[Hit]":
    by = reader.authorship(hit.id for hit in hits)
    if not by:
        return hits
    ours = reader.role()
    return [_by(hit, by[hit.id].author, by[hit.id].visibility, ours) if hit.id in by else hit for hit in hits]


def _by(hit: "Hit", author: str, visibility: str, ours: str) -> "Hit":
    """Name the author of a hit, and label it where that is somebody else."""
    mark = () if author in ("", ours) else (f"by {author}",)
    stands = max(hit.standing, UNCERTAIN) if mark else hit.standing
    # Another's user is not ours, nor is the repository that they vouch for.
    stands = UNTRUSTED if mark and stands == ON_RECORD else stands
    return hit.having(author=author, visibility=visibility, labels=(*mark, *hit.labels), standing=stands)


def page(
    reader: "SqliteReader", ids: "Iterable[int]", scopes: "frozenset[int] | None", worst: int = UNCERTAIN
) -> list[Hit]:
    """Return these memories as the lines of a page, those of `scopes` that stand no worse than `worst`."""
    filters = Filters(scopes=scopes)
    rows = sorted(reader.shown_rows(reader.filtered(ids, filters)), key=lambda row: (-row.valid_from, -row.id))
    return [hit for hit in newest(reader, rows, filters) if hit.standing <= worst]


def newest(reader: "SqliteReader", rows: "Sequence[MemoryRow]", filters: Filters) -> list[Hit]:
    """Return memories as they stand, the newer one before each that is maybe replaced, which says so."""

    def trusted(ids: "Iterable[int]") -> "list[MemoryRow]":
        ids = reader.filtered(ids, filters)
        ids -= reader.unconfirmed(ids)
        return [row for row in reader.shown_rows(sorted(ids)) if row.source in TRUSTED]

    known = marked(reader, (Hit(row, score=0.0, confidence=1.0) for row in rows), trusted, None, filters.scopes)
    told = labelled(reader, [*known.values()], time.time_ns() // 1_000_000)
    known = {hit.row.uid: hit for hit in told}
    placed = (one for row in rows for one in reversed(chain(known[row.uid], known)))
    return [one for one in {one.row.uid: one for one in placed}.values() if not one.ended]
