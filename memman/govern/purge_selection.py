"""What a person means to purge, as whole ids of memories and waiting notes."""

from collections.abc import Sequence
from dataclasses import dataclass

from memman.config.scope import label
from memman.govern.ids import all_named
from memman.govern.stores import Chosen, looking
from memman.model.errors import UnknownId
from memman.store.sqlite import selection, undone


@dataclass(frozen=True, slots=True)
class Meant:
    """What is to be purged: ids, and all of a session, a repository, or a source."""

    ids: Sequence[str] = ()
    session: str = ""
    repository: str = ""
    source: str = ""


def uids(place: Chosen, meant: Meant) -> list[str]:
    """Return whole ids. Raises UnknownId where nothing is meant by one of the ways, AmbiguousId and UsageError."""
    with looking(place) as (catalogue, queue):
        db, named = catalogue.reader.db, [one.uid for one in all_named(meant.ids, catalogue, queue, place.name)]
        waiting = queue.rows(place.name)
        if meant.session:
            session = undone.one_of({*undone.sessions(db), *queue.sessions(place.name)}, meant.session, "session")
            named += selection.uids(db, "session", session)
            named += [row["uid"] for row in waiting if row["session"] == session]
        if meant.repository:
            scopes = [scope for scope, _ in catalogue.scopes() if scope.repository]
            known = {one.repository for one in scopes if meant.repository in {label(*one), one.repository}}
            repository = undone.one_of(known, next(iter(known), meant.repository), "repository")
            named += selection.uids(db, "scope", repository)
            named += [row["uid"] for row in waiting if row["repository"] == repository]
        if meant.source:
            named += selection.uids(db, "source", meant.source)
            named += [row["uid"] for row in waiting if row["source"] == meant.source]
    if not named:
        raise UnknownId("nothing in this store is meant by that")
    return list(dict.fromkeys(named))
