"""Topics: what the memories of a repository are about, as drains find it. Safe on the hot path.

A topic is an index: a name, and the memories under it. Its page is read from those memories each time, so that nothing
stands there that holds no longer. They are a setting of the store for each repository.
"""

from memman.belief import SOURCES
from memman.config.scope import sees
from memman.store.sqlite import scopes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from memman.config.scope import Here

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
