"""What a session begins with: topics, what a person protected, what weighs most, the last session. Hot.

A topic is what memories of a repository are about, as drains find it: a name, and the memories under it. Its page is
read from those memories each time, so that nothing stands there that holds no longer. They are a setting of the store
for each repository.
"""

from memman.belief import SOURCES
from memman.config.scope import sees
from memman.model.vocabulary import WISH
from memman.store.sqlite import scopes
from memman.store.sqlite.scopes import PERSONAL, role

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from memman.config.scope import Here
    from memman.store import MemoryRow
    from memman.store.sqlite.reader import SqliteReader

# How the store setting of a repository begins, and that of what a model made of a topic's page; and the setting that
# says up to which record they were made, and by which rules.
KEY, SUMMARY, MADE = "topic:", "summary:", "topics"
# Lines worth reading that a topic has at least.
LEAST = 3
_KEPT = (
    "SELECT substr(meta.key, ?), t.key, t.value ->> '$.name', m.id, m.source FROM meta"
    " CROSS JOIN json_each(meta.value) t CROSS JOIN json_each(t.value, '$.ids') i"
    " CROSS JOIN memory m ON m.id = i.value WHERE meta.key GLOB ? AND t.key < ? AND m.status = 'current'"
    " ORDER BY meta.key, t.key, i.key"
)
# How many of the newest memories are looked through for a session, where no other number is given.
_NEWEST = 200
_STILL_HOLDS = (
    " AND NOT EXISTS"
    " (SELECT 1 FROM freshness WHERE memory = m.id AND ends_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER))"
)


class Topic:
    """A name of a repository ('' for what holds everywhere), and the rows under it, the newest first."""

    __slots__ = ("ids", "name", "repository")

    def __init__(self, repository: str, name: str, ids: "Iterable[int]" = ()) -> None:
        self.repository, self.name, self.ids = repository, name, list(ids)


def kept(
    db: "apsw.Connection", here: "Here | None" = None, sources: "Sequence[str]" = SOURCES, most: int = 2**31
) -> list[Topic]:
    """Return the topics of a store, or only those that hold `here`, the `most` weighty of each repository first.

    A memory that is no longer current, holds elsewhere or has another source than `sources` is under none.
    """
    every: dict[tuple[str, int], Topic] = {}
    for repository, number, name, memory, source in db.execute(_KEPT, (len(KEY) + 1, KEY + "*", most)):
        if source in sources and (here is None or not repository or sees(here, repository, "", inside=False)):
            every.setdefault((repository, number), Topic(repository, name)).ids.append(memory)
    seen = scopes.visible(db, here, inside=True) if here else None
    if seen is not None:
        held = scopes.kept(db, (memory for topic in every.values() for memory in topic.ids), seen)
        for topic in every.values():
            topic.ids = [memory for memory in topic.ids if memory in held]
    return [topic for topic in every.values() if len(topic.ids) >= LEAST]


def drop(db: "apsw.Connection") -> None:
    """Drop all topics and what was made of them, which are words of memories; the next drains make them anew."""
    db.execute("DELETE FROM meta WHERE key GLOB ? OR key GLOB ? OR key = ?", (KEY + "*", SUMMARY + "*", MADE))


def _marks(values: "Sequence[object]") -> str:
    return ", ".join("?" * len(values))


def _holds(scopes: "frozenset[int] | None") -> str:
    """Write that a memory `m` has one of `scopes` and is not past its end."""
    if scopes is None:
        return _STILL_HOLDS
    listed = ", ".join(map(str, sorted(scopes)))
    return f" AND coalesce((SELECT scope FROM scoped WHERE memory = m.id), {PERSONAL}) IN ({listed}){_STILL_HOLDS}"


def protected(
    reader: "SqliteReader", sources: "Sequence[str]", limit: int, scopes: "frozenset[int] | None"
) -> "list[MemoryRow]":
    """Return the current memories of `scopes` that a person protected, the most important first, then the newest."""
    sql = (
        "SELECT m.id FROM mark JOIN memory m ON m.id = memory"
        f" WHERE protected IS NOT NULL AND m.status = 'current' AND m.source IN ({_marks(sources)})"
        f"{_holds(scopes)} ORDER BY m.importance DESC, m.id DESC LIMIT ?"
    )
    return reader.shown_rows(memory for (memory,) in reader.db.execute(sql, (*sources, limit)))


def heaviest(
    reader: "SqliteReader",
    sources: "Sequence[str]",
    limit: int,
    scopes: "frozenset[int] | None" = None,
    *,
    wishes: bool,
    uses: int = 0,
) -> "list[MemoryRow]":
    """Return the current preferences of `scopes`, or all but those, the most important first.

    Twice shown by recall counts as one step of importance, up to `uses` times; of equals the newest comes first.
    """
    sql = (
        f"SELECT m.id FROM memory m WHERE status = 'current' AND (category = '{WISH}') = ?"
        f" AND source IN ({_marks(sources)}){_holds(scopes)}"
        " ORDER BY 2 * importance + min(uses, ?) DESC, id DESC LIMIT ?"
    )
    return reader.shown_rows(memory for (memory,) in reader.db.execute(sql, (wishes, *sources, uses, limit)))


def superseded_texts(db: "apsw.Connection", ids: "Sequence[int]") -> dict[int, str]:
    """Return the text of what each of these memories superseded last."""
    sql = f"SELECT superseded_by, text FROM memory WHERE superseded_by IN ({_marks(ids)}) ORDER BY id"
    return dict(db.execute(sql, ids))


def last_session(
    db: "apsw.Connection", here: "Here", other: str, since: int = 0, newest: int = _NEWEST
) -> tuple[str, str, int] | None:
    """Return origin, id and newest moment of our last session `here`, but the `other`, that left something `since`."""
    sql = (
        "SELECT m.origin, r.session, m.recorded_at, r.repository FROM memory m CROSS JOIN receipt r ON r.note = m.note"
        " WHERE m.id > (SELECT max(id) FROM memory) - ? AND m.recorded_at > ? AND m.status IN ('current', 'review')"
        " AND r.session NOT IN ('', ?) AND NOT EXISTS"
        " (SELECT 1 FROM authorship WHERE memory = m.id AND author NOT IN ('', ?)) ORDER BY m.id DESC"
    )
    for origin, session, at, repository in db.execute(sql, (newest, since, other, role(db))):
        if repository == here.repository or sees(here, repository, "", inside=False):
            return origin, session, at
    return None


def outcome_of(db: "apsw.Connection", origin: str) -> tuple[int, int, int]:
    """Count the current memories of an origin, those of others that they took the place of, and what is in review."""
    sql = (
        "SELECT total(m.status = 'current'), total(m.status = 'review'), total("
        "(SELECT count(*) FROM memory o WHERE o.superseded_by = m.id AND o.origin <> m.origin))"
        " FROM memory m WHERE m.origin = ? AND m.status IN ('current', 'review')"
    )
    count, held, replaced = map(int, next(db.execute(sql, (origin,))))
    return count, replaced, held
