"""`memman sync`."""

import asyncio
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import click

from memman.commands.person import tell
from memman.commands.place import Place, absolute, opened
from memman.commands.printing import complain, lines, pairs, text, when
from memman.commands.verb import Told, verb
from memman.config import synced
from memman.config.env import Settings
from memman.config.schedule import refuse_stopped, ring
from memman.drain.failpoint import reach
from memman.drain.stores import Stores
from memman.locks import quiet
from memman.model.errors import BadConfig, CannotWrite, MemmanError, UsageError
from memman.model.plural import counted
from memman.store.reach import address
from memman.store.sqlite import record_log
from memman.sync.exchange import can_be_read, lagging
from memman.sync.folder import Folder, Key, make
from memman.sync.turn import Done, failed, turn_by_folder


def begin(place: Place, path: str, line: str = "") -> bool:
    """Sync a store by a folder from now on; return whether a new key was made.

    `line` is another machine's key. Raises UsageError, BadConfig and CannotWrite; then nothing was changed.
    """
    refuse_stopped(place.data, "sync")
    if address(place.data, place.name):
        raise UsageError(f"store {place.name!r} is on a server already, with which every machine can connect")
    path, data = os.path.realpath(absolute(path)), os.path.realpath(place.data)
    if os.path.commonpath((path, data)) in {path, data}:
        raise UsageError(f"{path} and the data folder contain one another: give another folder")
    known = Key.load(place.data)
    key = Key(line) if line else known or Key.made()
    if line and known and known.line != key.line and synced.names(place.data):
        raise BadConfig("this machine has another key already: end its syncs with `memman sync --off` first")
    if path != synced.folder(place.data, place.name):
        make(path)
    _check(Folder(path), key, given=bool(line or known))
    key.keep(place.data)
    synced.choose(place.data, place.name, path)
    return not (line or known)


def _check(folder: Folder, key: Key, *, given: bool) -> None:
    """Raise BadConfig where the folder's files are all locked with another key."""
    if folder.hosts and not any(can_be_read(folder, host, key) for host in folder.hosts):
        why = "was written with another key" if given else "has records of another machine"
        raise BadConfig(
            f"{folder.path} {why}: `memman sync --key` on that machine shows its key; give it to"
            f" `memman sync --folder {folder.path} --key -`"
        )


def once(place: Place) -> Done:
    """Make a round now. Raises Busy where a drain takes longer, and what stands in the way."""
    refuse_stopped(place.data, "sync")
    with quiet(place.data):
        try:
            return asyncio.run(_once(place))
        except MemmanError as error:
            if synced.folder(place.data, place.name):
                failed(place.data, place.name, str(error))
            raise


async def _once(place: Place) -> Done:
    stores = Stores.of(place.data, Settings.load(place.data, place.name))
    try:
        store, tools = stores.equipped(place.name)
        done = await turn_by_folder(store, place.data, place.name, tools, reach())
        if done.taken:
            ring(place.data)
        return done
    finally:
        await stores.close()


def end(place: Place) -> bool:
    """Sync a store no more; False where it was not. What lies in the folder stays there."""
    was = bool(synced.folder(place.data, place.name))
    synced.choose(place.data, place.name, "")
    return was


def status(place: Place) -> dict[str, Any]:
    """Return folder, host id, how far each host is by now, and what the last round found; '' for no folder."""
    path, last = synced.folder(place.data, place.name), synced.last_round(place.data, place.name)
    found = {"folder": path, **last}
    if path and "host" in last and place.exists:
        with opened(place) as store, suppress(CannotWrite):
            db = store.db
            hosts = record_log.complete(db)
            number = hosts.pop(last["host"], 0)
            found |= {"number": number, "unwritten": number - last["number"], "hosts": dict(sorted(hosts.items()))}
            found |= {"lost": len(record_log.lost(db)), "lagging": lagging(db, Folder(path))}
    return found


def key_line(place: Place) -> str:
    """Return the line of the key. Raises UsageError where there is none."""
    key = Key.load(place.data)
    if key is None:
        raise UsageError("there is no key yet: `memman sync --folder PATH` makes one")
    return key.line


# Longer than any key.
_LONGEST = 4096


@verb(shows=Told)
@click.option("--folder", metavar="PATH", help="Sync the store through this folder from now on.")
@click.option(
    "--key",
    "key",
    is_flag=False,
    flag_value="show",
    metavar="-",
    help="Show the key at the terminal; with --folder and -, read another machine's key from standard input.",
)
@click.option("--status", "look", is_flag=True, help="Show folder, hosts and problems.")
@click.option("--off", is_flag=True, help="Stop syncing this store; the folder is kept.")
def sync(place: Place, *, folder: str | None, key: str | None, look: bool, off: bool) -> Told:
    """Share one memory between your machines through an encrypted folder.

    Without an option it syncs once, now; every drain syncs too. The folder may be one that a program syncs, or a
    share. Never put the data folder itself into one.
    """
    if key == "show" and not folder:
        tell(key_line(place))
        return Told({}, lambda _: None)
    if key and not (folder and key == "-"):
        raise UsageError("no key on a command line: memman sync --folder PATH --key - reads it from standard input")
    if look:
        return Told(status(place), _print_status)
    if off:
        says = "the store is no longer synced" if end(place) else "the store was not synced"
        return Told({"said": says}, lambda done: text(done["said"]))
    new = folder and begin(place, folder, _read_key() if key else "")
    if new:
        complain("a new key was made; `memman sync --key` shows it, for the other machines")
    done = once(place)
    for trouble in done.troubles:
        complain(trouble)
    return Told(done, _report)


def _read_key() -> str:
    line = sys.stdin.buffer.read(_LONGEST).decode("utf-8", "replace").strip()
    if not line:
        raise UsageError("there was no key on standard input")
    return line


def _report(done: Done) -> None:
    _left(asdict(done))
    told = [f"{counted(done.said, 'record')} written", f"{done.taken} taken in"]
    text(", ".join([*told, *([f"{counted(done.retired, 'memory')} superseded"] if done.retired else [])]))


def _left(record: dict[str, Any]) -> None:
    lines(
        f"host {host} still has purged text in the folder, until its next round" for host in record.get("lagging", ())
    )
    if lost := record.get("lost"):
        text(f"lost on every machine: {counted(lost, 'record')} of this store")


def _print_status(record: dict[str, Any]) -> None:
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
    lines(f"problem: {trouble}" for trouble in record.get("troubles", ()))


def _unwritten(record: dict[str, Any]) -> str:
    return f", {record['unwritten']} not written yet" if record.get("unwritten") else ""
