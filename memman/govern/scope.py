"""What memories hold for, as a person sees and corrects it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from memman.clock import now_ms
from memman.commands.memories import acted, all_memories
from memman.commands.place import Place, expected, looking, standing, steadily, writing
from memman.config import stores
from memman.config.schedule import refuse_stopped
from memman.config.scope import PATH, PERSONAL, REPOSITORY, around, asked, called, known, label, part, same, sees, write
from memman.govern.naming import give
from memman.model.errors import UsageError
from memman.model.records import Scope
from memman.secrets import screened
from memman.store.sqlite import rescoped, undo
from memman.store.sqlite.catalogue import Catalogue
from memman.upkeep.rules import publish


def listed(place: Place) -> list[dict[str, Any]]:
    """Return every scope of a store that memories have: its label, how many are current, and whether it holds here.

    `joined` are those that hold here although they are another's, or were this folder's before its address changed.
    """
    here = standing()
    with looking(place) as (catalogue, _):
        return [
            {
                "scope": label(*scope) or PERSONAL,
                "repository": scope.repository,
                "path": scope.path,
                "memories": count,
                "here": not scope.repository or sees(here, scope.repository, scope.path, inside=False),
                "joined": sees(here, scope.repository, "", inside=False)
                and not same(scope.repository, here.repository),
            }
            for scope, count in catalogue.scopes()
        ]


@steadily
def move(place: Place, parts: Sequence[str], to: str) -> list[dict[str, Any]]:
    """Have memories hold for another scope; return a record for each. Raises UsageError and UnknownId."""
    refuse_stopped(place.data, "scope move")
    with looking(place) as (catalogue, queue):
        scope, rows = _meant(catalogue, to), all_memories(parts, catalogue, queue, place.name)
    now = now_ms()
    with writing(place) as store, store.unit() as unit:
        changed = {row: unit.move(row, scope, now) for row in rows}
    with looking(place) as (catalogue, _):
        return [one | {"scope": label(*scope) or PERSONAL} for one in acted(place, catalogue.reader, changed)]


@steadily
def name(place: Place, said: str | None, *, moving: bool, dry_run: bool) -> dict[str, Any]:
    """Give the repository around the working folder a name, None takes it away; return what that did.

    With `moving` what the store holds for its former identities comes along, under an id that `undo` takes. Raises
    UsageError and CannotWrite.
    """
    here = stores.here()
    if here is None:
        raise UsageError("this folder is not in a repository")
    said = " ".join((said or "").split())
    if screened(said) != said:
        raise UsageError("the name contains a secret: use another")
    folder = known(place.data, here)
    before, (own, *also) = folder.identity, folder.identities
    identified = called(said) or own
    if moving and not dry_run:
        refuse_stopped(place.data, "scope name")
    naming = (here.common, folder.name, said)
    if not dry_run:
        give(place.data, here.common, said)
    report: dict[str, Any] = {"id": None, "folder": here.folder, "name": said, "memories": 0, "rules": 0}
    if not expected(place).exists:
        return report
    now, uid = now_ms(), ""
    former = {before, own, *also} if said else {before}
    with writing(place) as store, store.unit() as unit:
        moves = rescoped.planned(unit, former, identified)
        counts = Counter(kind for kind, *_ in moves)
        if moves and moving and not dry_run:
            uid = unit.act_at(now)
            what = f"scope name {said}" if said else "scope name --unset"
            moved = len(rescoped.move(unit, moves, now))
            undo.keep(unit, now, what, f"{moved} moved", how="rename", acts=[], named=naming)
    if uid and counts[rescoped.RULE]:
        publish(place.data)
    return report | {"id": uid or None, "memories": counts[rescoped.MEMORY], "rules": counts[rescoped.RULE]}


@steadily
def join(place: Place, said: str | None, *, undo: bool) -> dict[str, Any]:
    """Recall in this folder what another scope holds, too, or with `undo` only its own; return that."""
    here = stores.here()
    folders = around(place.data, here, stores.cwd())
    if not folders:
        raise UsageError("what is said at home holds everywhere: go to the folder that is to be joined")
    folder = folders[0]
    if folder.name:
        raise UsageError(f"this repository is named {folder.name!r}: give the other one the same name")
    own, *before = folder.identities
    report: dict[str, Any] = {"folder": here.folder if here else stores.cwd(), "joined": [], "parted": []}
    if undo:
        # A clone that is known by the same has joined it, too, and so may a folder above have.
        return report | {"parted": part(place.data, folders)}
    with looking(place) as (catalogue, _):
        other = _meant(catalogue, said or "").repository
    joined = [one for one in dict.fromkeys((*before, other)) if one and not same(one, own)]
    folder.identities, folder.news = [own, *joined], ""
    write(place.data, folder)
    return report | {"joined": joined}


def _meant(catalogue: Catalogue, to: str) -> Scope:
    """Return the scope that is meant by `personal`, `repository`, `path:FOLDER` or the label of one that there is."""
    if to == PERSONAL:
        return Scope()
    if to == REPOSITORY or to.startswith(PATH):
        said, here = asked(to), standing()
        if not here.repository:
            raise UsageError("what is said at home holds everywhere: go to the folder that memories are to be moved to")
        return Scope(here.repository, said.removeprefix(PATH) if said.startswith(PATH) else "")
    known = [scope for scope, _ in catalogue.scopes() if to in (label(*scope), scope.repository)]
    if len(known) != 1:
        why = "several scopes are called" if known else "there is no scope"
        raise UsageError(f"{why} {to!r}: give personal, repository, path:FOLDER, or one of `memman scope list`")
    return known[0]
