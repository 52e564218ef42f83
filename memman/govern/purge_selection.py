"""What a person means to purge, as whole ids of memories, waiting notes and rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from memman.commands.memories import SHORTEST, named
from memman.commands.place import Place, looking
from memman.config.scope import label
from memman.model.errors import AmbiguousId, UnknownId
from memman.queue.view import QueueView
from memman.store.sqlite import rules, selection, undo
from memman.store.sqlite.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class Meant:
    """What is to be purged: ids, and all of a session, a repository, or a source, or that has all words of a query."""

    ids: Sequence[str] = ()
    session: str = ""
    repository: str = ""
    source: str = ""
    query: str = ""


def uids(place: Place, meant: Meant) -> list[str]:
    """Return whole ids. Raises UnknownId where nothing is meant by one of the ways, AmbiguousId and UsageError."""
    with looking(place) as (catalogue, queue):
        db, found = catalogue.reader.db, [_one(part, catalogue, queue, place.name) for part in meant.ids]
        waiting = queue.rows(place.name)
        if meant.session:
            session = undo.one_of({*undo.sessions(db), *queue.sessions(place.name)}, meant.session, "session")
            found += selection.uids(db, "session", session)
            found += [row["uid"] for row in waiting if row["session"] == session]
        if meant.repository:
            scopes = [scope for scope, _ in catalogue.scopes() if scope.repository]
            known = {one.repository for one in scopes if meant.repository in {label(*one), one.repository}}
            repository = undo.one_of(known, next(iter(known), meant.repository), "repository")
            found += selection.uids(db, "scope", repository)
            found += [row["uid"] for row in waiting if row["repository"] == repository]
        if meant.source:
            found += selection.uids(db, "source", meant.source)
            found += [row["uid"] for row in waiting if row["source"] == meant.source]
        if meant.query:
            found += selection.saying(db, meant.query)
            found += selection.those_saying(((row["uid"], row["text"]) for row in waiting), meant.query)
    if not found:
        raise UnknownId("nothing in this store is meant by that")
    return list(dict.fromkeys(found))


def _one(part: str, catalogue: Catalogue, queue: QueueView, store: str) -> str:
    """Return the whole id of a memory, a note, or a rule, which may be removed already."""
    ruled = [rule["uid"] for rule in rules.worded(catalogue.reader) if rule["uid"].startswith(part.lower())]
    if not ruled or len(part) < SHORTEST:
        return named(part, catalogue, queue, store).uid
    if len(ruled) > 1 or catalogue.named(part.lower()):
        raise AmbiguousId(f"{part} is ambiguous, give more characters of the id")
    return str(ruled[0])
