"""What is to be said of hits beside what they say. Hot."""

from memman.belief import PROMPTED, REPORTED, SAID_AS, trusted
from memman.model.text import opposed, outdated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memman.recall.hit import Hit, Read
    from memman.store.sqlite.reader import SqliteReader


# Orders that go by when things were, and what led to what: nothing stands back there.
IN_TIME = ("when", "why")
# What is said of what only an agent has said.
UNCONFIRMED = "unconfirmed"


def labels(reader: "SqliteReader", ids: "Iterable[int]", now: int) -> dict[int, tuple[str, ...]]:
    """Return the labels of those of `ids` that have any, as of `now`.

    That only an agent has said it, or how it was said, that it contradicts what people stand behind, that it holds no
    longer or names a file that has changed.
    """
    if not (ids := list(ids)):
        return {}
    lone, against = reader.unconfirmed(ids), reader.contradicts(ids)
    ends, changed = reader.ends(ids), reader.changed_files(ids, now)
    evidence = reader.evidence(ids)
    found: dict[int, tuple[str, ...]] = {}
    for memory in ids:
        said = against.get(memory, ())
        opposes = [opposed(said[0][1], len(said), sure=said[0][2])] if said else []
        known = [UNCONFIRMED] if memory in lone else []
        kinds = {kind for kind, *_ in evidence.get(memory, ())} & {REPORTED, *([PROMPTED] if known else [])}
        known += [SAID_AS[kind] for kind in sorted(kinds)]
        if told := (*known, *opposes, *outdated(ends.get(memory), changed.get(memory), now)):
            found[memory] = told
    return found


def stood_back(reader: "SqliteReader", reads: "list[Read]", as_of: int | None) -> "list[Read]":
    """Put what is past its end below the rest before any is cut off, and what it superseded with it."""
    ended = reader.ended((read.id for read in reads), as_of) if reads else set()
    if not ended:
        return reads
    marked = [read.having(ended=True) if read.id in ended or read.behind in ended else read for read in reads]
    return sorted(marked, key=lambda read: read.ended)


def standing_back(hits: "list[Hit]") -> "list[Hit]":
    """Do the same with hits that have their labels."""
    ended = {hit.id for hit in hits if hit.ended}
    return sorted(hits, key=lambda hit: hit.id in ended or hit.behind in ended) if ended else hits


def labelled(reader: "SqliteReader", hits: "list[Hit]", now: int) -> "list[Hit]":
    """Return the hits with their labels, and in a store that is shared with their authors."""
    told = labels(reader, (hit.id for hit in hits), now)
    if told:
        hits = [hit.having(labels=(*hit.labels, *told[hit.id])) if hit.id in told else hit for hit in hits]
    doubted = [hit.id for hit in hits if not trusted(hit.row.source)]
    if looked_at := {row for row, one in reader.statements(doubted).items() if one.looked_at} if doubted else ():
        hits = [hit.having(verified=True) if hit.id in looked_at else hit for hit in hits]
    return _signed(reader, hits)


def _signed(reader: "SqliteReader", hits: "list[Hit]") -> "list[Hit]":
    by = reader.authorship(hit.id for hit in hits)
    if not by:
        return hits
    ours = reader.role()
    return [_by(hit, by[hit.id].author, by[hit.id].visibility, ours) if hit.id in by else hit for hit in hits]


def _by(hit: "Hit", author: str, visibility: str, ours: str) -> "Hit":
    """Name the author of a hit, and label it where that is somebody else."""
    mark = () if author in ("", ours) else (f"by {author}",)
    return hit.having(author=author, visibility=visibility, labels=(*mark, *hit.labels))
