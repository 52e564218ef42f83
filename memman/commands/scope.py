"""`memman scope`: list, move, name, join."""

import shlex

import click

from memman.commands.printing import acted, as_data, complain, printed, short, table, text
from memman.commands.verb import Group, data_options, place, store_option
from memman.config import stores
from memman.config.scope import PATH, missing
from memman.govern import scope as govern
from memman.model.errors import UsageError
from memman.model.plural import counted


@click.group(cls=Group)
@store_option
def scope() -> None:
    """Show and change what memories hold for: everywhere, a repository, or a folder of it."""


@scope.command("list")
@data_options
def list_(as_json: bool) -> None:
    """List the scopes of a store; * marks those that are recalled here."""
    rows = govern.listed(place())
    if printed(rows, as_json=as_json):
        return
    marks = {True: "*", False: ""}
    table([(marks[row["here"]], row["scope"], counted(row["memories"], "memory"), row["repository"]) for row in rows])
    if joined := sorted({row["repository"] for row in rows if row["joined"]}):
        text(f"joined with this folder: {', '.join(joined)}; `memman scope join --undo` parts them")


@scope.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "--to",
    required=True,
    metavar="SCOPE",
    help="personal, repository (the one around this folder), path:FOLDER below its root, or a name of `scope list`.",
)
@data_options
def move(ids: tuple[str, ...], to: str, as_json: bool) -> None:
    """Have memories hold for another scope."""
    records = govern.move(place(), ids, to)
    told = {True: "moved to", False: "already in"}
    if not printed(records, as_json=as_json):
        table([acted(f"{told[one['changed']]} {one['scope']}", one) for one in records])
    if folder := to.startswith(PATH) and missing(to, stores.here()):
        complain(f"no session will begin with what was moved: there is no folder {folder}")


@scope.command()
@click.argument("other", required=False, metavar="SCOPE")
@click.option("--undo", is_flag=True, help="Recall here no more what this folder was joined with.")
@data_options
def join(other: str | None, undo: bool, as_json: bool) -> None:
    """Recall in this folder what another scope of `scope list` holds, too."""
    if undo == bool(other):
        raise UsageError("give a scope of `memman scope list`, or --undo")
    report = govern.join(place(), other, undo=undo)
    if as_json:
        as_data(report)
    elif undo:
        text(f"{report['folder']}: no longer recalled here: {', '.join(report['parted']) or 'nothing was joined'}")
    else:
        text(f"{report['folder']}: also recalled here: {', '.join(report['joined']) or 'nothing else'}")


@scope.command()
@click.argument("called", required=False, metavar="NAME")
@click.option("--unset", is_flag=True, help="Remove the repository's name.")
@click.option("--move", "moving", is_flag=True, help="Take along what is remembered here, rules too.")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken along.")
@data_options
def name(called: str | None, unset: bool, moving: bool, dry_run: bool, as_json: bool) -> None:
    """Name this repository; those that have the same name share their memories."""
    if unset == bool(called):
        raise UsageError("give a name, or --unset")
    report = govern.name(place(), called, moving=moving, dry_run=dry_run)
    if printed(report, as_json=as_json):
        return
    folder, said = report["folder"], report["name"]
    if dry_run:
        text("nothing was changed: this was a dry run")
    elif said:
        text(f"{folder} is named {said!r}: what is remembered from now on is shared with all of that name")
    else:
        text(f"{folder} has no name")
    held = [counted(report[kind], one) for kind, one in (("memories", "memory"), ("rules", "rule")) if report[kind]]
    if not held:
        text("nothing was remembered here before that would have to be moved")
    elif report["id"]:
        text(f"moved: {' and '.join(held)}; to take that back: memman undo {short(report['id'], note=True)}")
    else:
        again = f"memman scope name {shlex.quote(said) if said else '--unset'} --move"
        text(f"{'would move' if moving else 'still of the former name'}: {' and '.join(held)}; `{again}` moves them")
