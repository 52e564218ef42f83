"""`memman purge`: delete for ever what a person means by ids, a session, a repository, a source or words."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from memman.belief import SOURCES
from memman.commands.person import confirm, typed
from memman.commands.place import SHORTEST, Opened, Place, opened
from memman.commands.printing import labelled, lines, short
from memman.commands.verb import Told, verb
from memman.config.scope import label
from memman.config.synced import folder
from memman.model.errors import AmbiguousId, UnknownId, UsageError
from memman.store.reach import address
from memman.store.sqlite import rules, undo
from memman.store.sqlite.catalogue import chosen_by, saying, those_saying

if TYPE_CHECKING:
    from memman.recovery.purge import Receipt, Selection


@verb(shows=Told)
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--session", default="", metavar="S", help="Purge everything that a session wrote.")
@click.option("--repository", default="", metavar="R", help="Purge everything of a repository of `memman scope list`.")
@click.option("--source", type=click.Choice(SOURCES), help="Purge everything from this source.")
@click.option("--query", default="", metavar="WORDS", help="Purge what has all these words, and what recall finds.")
@click.option("--dry-run", is_flag=True, help="Only show what would be purged.")
def purge(place: Place, *, dry_run: bool = False, **meant: Any) -> Told:
    """Delete memories permanently: this cannot be undone.

    ID is a memory, a note (all memories from it), a note still in the queue, or a rule, even a removed one. Rules
    made from a memory are purged with it. `memman forget` hides memories and can be undone. What was purged is not
    stored again, unless you `remember` it yourself.
    """
    from memman.recovery import purge as recovery

    if sum(map(bool, meant.values())) != 1:
        raise UsageError("give IDs, or just one of --session, --repository, --source and --query")
    with opened(place) as store:
        found = uids(store, **meant)
    target = recovery.targeted(place.data, place.name, found)
    texts = _texts(target)
    told = [f"{id_}  {said}" for id_, said in texts.items()]
    if dry_run:
        kinds = {"memories": target.memories, "notes": target.waiting, "rules": target.rules}
        seen = [*told, "nothing was deleted: this was a dry run"]
        return Told({kind: [one["uid"] for one in rows] for kind, rows in kinds.items()}, lambda _: lines(seen))
    question = "Delete this permanently?" if len(texts) == 1 else f"Delete these {len(texts)} permanently?"
    confirm(question, typed([*texts]), told, whole=next(iter(texts)) if len(texts) == 1 else "")
    receipt = recovery.purge(place.data, place.name, found)
    heard = not address(place.data, place.name) or _told_server(place)
    return Told(receipt, lambda receipt: lines(_told(place, receipt, heard=heard)))


def _told_server(place: Place) -> bool:
    from memman.commands.team import told  # the driver of a server is not everywhere

    return told(place.data, place.name)


def uids(
    store: Opened,
    ids: Sequence[str] = (),
    *,
    session: str = "",
    repository: str = "",
    source: str | None = None,
    query: str = "",
) -> list[str]:
    """Return whole ids of memories, waiting notes and rules: of ids, and of all that one of the others means.

    Raises UnknownId where nothing is meant by one of the ways, AmbiguousId and UsageError.
    """
    db, queue = store.db, store.queue
    recalled = _recalled(store.place, query) if query else []
    found = [_one(store, part) for part in (*ids, *recalled)]
    waiting = queue.rows(store.name)
    if session:
        session = undo.one_of({*undo.sessions(db), *queue.sessions(store.name)}, session, "session")
        found += chosen_by(db, "session", session)
        found += [row["uid"] for row in waiting if row["session"] == session]
    if repository:
        scopes = [scope for scope, _ in store.scopes() if scope.repository]
        known = {one.repository for one in scopes if repository in {label(*one), one.repository}}
        repository = undo.one_of(known, next(iter(known), repository), "repository")
        found += chosen_by(db, "scope", repository)
        found += [row["uid"] for row in waiting if row["repository"] == repository]
    if source:
        found += chosen_by(db, "source", source)
        found += [row["uid"] for row in waiting if row["source"] == source]
    if query:
        found += saying(db, query)
        found += those_saying(((row["uid"], row["text"]) for row in waiting), query)
    if not found:
        raise UnknownId("nothing in this store matches that")
    return list(dict.fromkeys(found))


def _recalled(place: Place, query: str) -> list[str]:
    """Return what recall finds anywhere, superseded memories too."""
    from memman.hot.recall_session import found
    from memman.store.filters import Filters

    return [hit.row.uid for hit in found(place.data, place.name, query, Filters(history=True, anywhere=True), 50, None)]


def _one(store: Opened, part: str) -> str:
    """Return the whole id of a memory, a note, or a rule, which may be removed already."""
    ruled = [rule["uid"] for rule in rules.worded(store.reader) if rule["uid"].startswith(part.lower())]
    if not ruled or len(part) < SHORTEST:
        return store.find(part).uid
    if len(ruled) > 1 or store.named(part.lower()):
        raise AmbiguousId(f"{part} is ambiguous, give more characters of the id")
    return str(ruled[0])


def _texts(target: "Selection") -> dict[str, str]:
    texts = {short(memory["uid"]): f"{labelled(memory)}  {memory['text']}" for memory in target.memories}
    texts |= {short(row["uid"], note=True): row["text"] for row in target.waiting}
    return texts | {short(rule["uid"]): f"{_ruled(rule)}: {rule['text']}" for rule in target.rules}


def _ruled(rule: dict[str, Any]) -> str:
    """Say what a rule does."""
    if not rule["action"]:
        return "removed rule"
    return f"rule, {rule['action']}: {rule['pattern']}" if rule["pattern"] else "standing rule"


def _told(place: Place, receipt: "Receipt", *, heard: bool) -> Iterator[str]:
    """Say what was deleted, what still holds it, and what other machines have yet to do."""
    yield from (f"deleted memory {short(uid)}" for uid in receipt.memories)
    yield from (f"deleted note {short(uid, note=True)}" for uid in receipt.notes)
    yield from (f"deleted rule {short(uid)}" for uid in receipt.rules)
    if not receipt.scrubbed:
        yield (
            "the file still holds the deleted bytes (it is in use, or the disk is full); the next drain overwrites them"
        )
    for name in receipt.backups:
        yield f"backup {name} still contains it; to delete that too: memman backup remove {name}"
    yield from (f"{path} still contains it; delete that file when you no longer need it" for path in receipt.files)
    for store, uids in receipt.stores.items():
        ids = " ".join(map(short, uids))
        yield f"store {store!r} still contains it; to delete that too: memman --store {store} purge {ids}"
    if shared := folder(place.data, place.name):
        says = "`memman sync --status` says which have yet to"
        yield f"machines that share {shared} delete it at their next round; {says}"
    if not heard:
        yield "the server cannot be reached and still has it: the next drain that reaches it purges it there"
