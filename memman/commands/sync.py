"""`memman sync`."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from memman.commands.person import tell
from memman.commands.printing import complain, pairs, printed, text, when
from memman.commands.verb import Command, data_options, place
from memman.model.errors import UsageError
from memman.model.plural import counted

if TYPE_CHECKING:
    from memman.commands.place import Place
    from memman.sync.turn import Done

# Longer than any key.
_LONGEST = 4096


@click.command(cls=Command)
@click.option("--folder", metavar="PATH", help="Sync the store by this folder from now on.")
@click.option(
    "--key",
    "key",
    is_flag=False,
    flag_value="show",
    metavar="-",
    help="Show the line of the key on the terminal; with --folder and - take that of another machine from standard"
    " input.",
)
@click.option("--status", is_flag=True, help="Show folder, hosts and what stands in the way.")
@click.option("--off", is_flag=True, help="Sync the store no more; what lies in the folder stays.")
@data_options
def sync(folder: str | None, key: str | None, status: bool, off: bool, as_json: bool) -> None:
    """Keep one memory on several machines by a folder that they share, encrypted and without a server.

    Without an option one round is made at once; drains make one each time. The folder may be one that a program syncs,
    or a share; never put the data folder itself into one.
    """
    from memman.govern import syncing as govern

    here = place()
    if key == "show" and not folder:
        tell(govern.key_line(here))
    elif key and not (folder and key == "-"):
        raise UsageError("no key on a command line: memman sync --folder PATH --key - reads it from standard input")
    elif status:
        _status(govern.status(here), as_json=as_json)
    elif off:
        text("the store is synced no more" if govern.end(here) else "the store was not synced")
    else:
        if folder:
            _begin(here, folder, by_key=key == "-")
        _report(govern.once(here), as_json=as_json)


def _begin(here: "Place", folder: str, *, by_key: bool) -> None:
    from memman.govern import syncing as govern

    line = sys.stdin.buffer.read(_LONGEST).decode("utf-8", "replace").strip() if by_key else ""
    if by_key and not line:
        raise UsageError("there was no key on standard input")
    if govern.begin(here, folder, line):
        text("a new key was made; `memman sync --key` shows the line to carry to the other machines")


def _report(done: "Done", *, as_json: bool) -> None:
    for trouble in done.troubles:
        complain(trouble)
    if printed(asdict(done), as_json=as_json):
        return
    _left(asdict(done))
    told = [f"{counted(done.said, 'record')} written", f"{done.taken} taken in"]
    text(", ".join([*told, *([f"{counted(done.retired, 'memory')} superseded"] if done.retired else [])]))


def _left(record: dict[str, Any]) -> None:
    for host in record.get("lagging", ()):
        text(f"host {host} has yet to take out of the folder what was purged")
    if lost := record.get("lost"):
        text(f"lost, since nobody has them: {counted(lost, 'record')} of this store")


def _status(record: dict[str, Any], *, as_json: bool) -> None:
    if printed(record, as_json=as_json):
        return
    if not record["folder"]:
        text("the store is not synced: memman sync --folder PATH begins")
        return
    hosts = ", ".join(f"{host} up to {number}" for host, number in record.get("hosts", {}).items())
    said = {
        "folder": record["folder"],
        "last round": when(record["at"]) if "at" in record else "none yet",
        "this host": f"{record['host']} up to {record['number']}{_unwritten(record)}" if "host" in record else "",
        "other hosts": hosts or "none yet",
    }
    pairs({name: value for name, value in said.items() if value})
    _left(record)
    for trouble in record.get("troubles", ()):
        text(f"in the way: {trouble}")


def _unwritten(record: dict[str, Any]) -> str:
    return f", {record['unwritten']} not written yet" if record.get("unwritten") else ""
