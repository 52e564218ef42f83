"""`memman scope`: what memories hold for, as a person sees and corrects it."""

import shlex
from collections.abc import Sequence
from typing import Any

import click

from memman.clock import now_ms
from memman.commands.place import (
    Opened,
    Place,
    Records,
    acted,
    expected,
    opened,
    standing,
    steadily,
    writing,
)
from memman.commands.printing import acted as line
from memman.commands.printing import complain, short, table, text
from memman.commands.verb import Group, ids_argument, store_option
from memman.config import stores
from memman.config.schedule import refuse_stopped
from memman.config.scope import (
    PATH,
    PERSONAL,
    around,
    called,
    kept,
    known,
    label,
    missing,
    part,
    same,
    sees,
    write,
)
from memman.model.errors import CannotWrite, UsageError
from memman.model.plural import counted
from memman.secrets import screened
from memman.store.sqlite import rules, scopes
from memman.store.sqlite import undo as undos
from memman.upkeep.rules import publish


@click.group(cls=Group)
@store_option
def scope() -> None:
    """Show and change where memories hold: everywhere, in a repository, or in a folder."""


def _listed(rows: Records) -> None:
    table([("*" * row["here"], row["scope"], counted(row["memories"], "memory"), row["repository"]) for row in rows])
    if joined := sorted({row["repository"] for row in rows if row["joined"]}):
        text(f"joined with this folder: {', '.join(joined)}; `memman scope join --undo` ends that")


@scope.verb("list", opened=True, shows=_listed)
def listed(store: Opened) -> Records:
    """List the scopes of a store; * marks those that are recalled here."""
    here = standing()
    return [
        {
            "scope": label(*scope) or PERSONAL,
            "repository": scope.repository,
            "path": scope.path,
            "memories": count,
            "here": not scope.repository or sees(here, scope.repository, scope.path, inside=False),
            # It holds here although it is another's, or was this folder's before its address changed.
            "joined": sees(here, scope.repository, "", inside=False) and not same(scope.repository, here.repository),
        }
        for scope, count in store.scopes()
    ]


def _moved(records: Records) -> None:
    told = {True: "moved to", False: "already in"}
    table([line(f"{told[one['changed']]} {one['scope']}", one) for one in records])


@scope.verb(shows=_moved)
@ids_argument
@click.option(
    "--to",
    required=True,
    metavar="SCOPE",
    help="personal, repository (the one around this folder), path:FOLDER below its root, or a name of `scope list`.",
)
@steadily
def move(place: Place, ids: Sequence[str], to: str) -> Records:
    """Move memories to another scope."""
    refuse_stopped(place.data, "scope move")
    with opened(place) as seen:
        scope, rows = seen.meant(to), seen.rows_of(ids)
    now = now_ms()
    with writing(place) as store:
        with store.unit() as unit:
            changed = {row: unit.move(row, scope, now) for row in rows}
        records = acted(place, store.reader, changed)
    if folder := to.startswith(PATH) and missing(to, stores.here()):
        complain(f"no session will begin with what was moved: there is no folder {folder}")
    return [one | {"scope": label(*scope) or PERSONAL} for one in records]


def _joined(report: dict[str, Any]) -> None:
    if report["undo"]:
        text(f"{report['folder']}: no longer recalled here: {', '.join(report['parted']) or 'nothing was joined'}")
    else:
        text(f"{report['folder']}: also recalled here: {', '.join(report['joined']) or 'nothing else'}")


@scope.verb(shows=_joined)
@click.argument("other", required=False, metavar="SCOPE")
@click.option("--undo", is_flag=True, help="End the join: recall the other scope's memories here no more.")
@steadily
def join(place: Place, other: str | None = None, *, undo: bool = False) -> dict[str, Any]:
    """Also recall the memories of another scope of `scope list` in this folder."""
    if undo == bool(other):
        raise UsageError("give a scope of `memman scope list`, or --undo")
    here = stores.here()
    folders = around(place.data, here, stores.cwd())
    if not folders:
        raise UsageError("what is said at home holds everywhere: go to the folder that is to be joined")
    folder = folders[0]
    if folder.name:
        raise UsageError(f"this repository is named {folder.name!r}: give the other one the same name")
    own, *before = folder.identities
    report: dict[str, Any] = {"folder": here.folder if here else stores.cwd(), "undo": undo, "joined": [], "parted": []}
    if undo:
        # A clone that is known by the same has joined it, too, and so may a folder above have.
        return report | {"parted": part(place.data, folders)}
    with opened(place) as store:
        theirs = store.meant(other or "").repository
    joined = [one for one in dict.fromkeys((*before, theirs)) if one and not same(one, own)]
    folder.identities, folder.news = [own, *joined], ""
    write(place.data, folder)
    return report | {"joined": joined}


def _named(report: dict[str, Any]) -> None:
    folder, said = report["folder"], report["name"]
    if said:
        text(f"{folder} is named {said!r}: what is remembered from now on is shared with all of that name")
    else:
        text(f"{folder} has no name")
    held = [counted(report[kind], one) for kind, one in (("memories", "memory"), ("rules", "rule")) if report[kind]]
    if not held:
        text("there was nothing here to move")
    elif report["id"]:
        back = f"memman undo {short(report['id'], note=True)}"
        former = f"memman scope name {shlex.quote(report['before']) if report['before'] else '--unset'}"
        text(f"moved: {' and '.join(held)}; to undo that: {back} and {former}")
    else:
        again = f"memman scope name {shlex.quote(said) if said else '--unset'} --move"
        text(f"still under the former name: {' and '.join(held)}; `{again}` moves them")


@scope.verb(shows=_named)
@click.argument("said", required=False, metavar="NAME")
@click.option("--unset", is_flag=True, help="Remove the repository's name.")
@click.option("--move", "moving", is_flag=True, help="Also move what is remembered here, with its rules.")
@steadily
def name(place: Place, said: str | None = None, *, unset: bool = False, moving: bool = False) -> dict[str, Any]:
    """Name this repository; repositories of the same name share their memories."""
    if unset == bool(said):
        raise UsageError("give a name, or --unset")
    here = stores.here()
    if here is None:
        raise UsageError("this folder is not in a repository")
    said = " ".join((said or "").split())
    if screened(said) != said:
        raise UsageError("the name contains a secret: use another")
    folder = known(place.data, here)
    before, (own, *also) = folder.identity, folder.identities
    identified = called(said) or own
    if moving:
        refuse_stopped(place.data, "scope name")
    try:
        folder_kept = kept(place.data, here.common)
        folder_kept.name = said
        write(place.data, folder_kept)
    except OSError as error:
        raise CannotWrite(f"the name of {here.common} cannot be kept in {place.data} ({error.strerror})") from error
    report: dict[str, Any] = {"id": None, "folder": here.folder, "name": said, "before": folder.name}
    report |= {"memories": 0, "rules": 0}
    if not expected(place).exists:
        return report
    now, uid = now_ms(), ""
    former = {before, own, *also} if said else {before}
    with writing(place) as store, store.unit() as unit:
        memories, ruled = scopes.held_by(unit.db, former, identified)
        if (memories or ruled) and moving:
            uid = unit.act_at(now)
            what = f"scope name {said}" if said else "scope name --unset"
            rules.take_along(unit, memories, ruled, identified, now)
            undos.keep(unit, now, what, f"{len(memories) + len(ruled)} moved", how="rename", acts=[])
    if uid and ruled:
        publish(place.data)
    return report | {"id": uid or None, "memories": len(memories), "rules": len(ruled)}
