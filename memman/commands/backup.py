"""`memman backup` and `repair`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from memman.commands.person import confirm
from memman.commands.place import Place
from memman.commands.printing import ago, complain, lines, size, table, text, when
from memman.commands.verb import Group, said_store, store_option, verb
from memman.config.places import data_dir
from memman.model.errors import DamagedFile
from memman.model.plural import counted
from memman.recovery.backup import Manifest, backups_path, found
from memman.recovery.backup import listed as manifests

if TYPE_CHECKING:
    from memman.recovery.repair import Repaired
    from memman.recovery.restore import Restored


_WORDS = ("off", "daily", "weekly")
id_argument = click.argument("part", metavar="ID")


@click.group(cls=Group)
@store_option
def backup() -> None:
    """Create, list, verify and restore backups.

    ID may be abbreviated; `latest` is the newest backup.
    """


def _held(made: Manifest) -> str:
    held = f"{counted(len(made.stores), 'store')}, {counted(made.memories, 'memory')}"
    return f"{held}, {size(sum(part.bytes for part in made.parts))}"


@backup.verb(
    store=False,
    shows=lambda made: text(f"{made.id}  {_held(made)}, verified"),
)
@click.argument("label", required=False, default="")
@store_option
def create(label: str = "") -> Manifest:
    """Back up the queue and every store, or one store with --store; nothing has to stop meanwhile.

    API keys and the env file are not included.
    """
    from memman.recovery.backup import take

    return take(data_dir(), label=label, store=said_store())


def _row(one: Manifest | dict[str, Any]) -> tuple[str, ...]:
    if isinstance(one, dict):
        return one["id"], "?", "?", "its manifest cannot be read"
    how = ", scheduled" if one.automatic else ""
    return one.id, when(one.at), ago(one.at), _held(one) + how


@backup.verb("list", store=False, shows=lambda backups: table(map(_row, backups), 300), none="no backups")
def listed() -> list[Manifest | dict[str, Any]]:
    """List the backups, newest first."""
    return [made or {"id": name, "damaged": True} for name, made in manifests(data_dir()).items()]


def _print_sound(one: dict[str, Any]) -> None:
    if one["sound"]:
        text(f"{one['id']}  {one['held']}, verified")
    else:
        complain(f"backup {one['id']} is damaged: {'; '.join(one['faults'])}")


@backup.verb(
    store=False,
    shows=_print_sound,
    code=lambda one: 0 if one["sound"] else DamagedFile.exit_code,
)
@id_argument
def verify(part: str) -> dict[str, Any]:
    """Check every file of a backup by its checksum."""
    from memman.recovery.backup import faults

    name = found(data_dir(), part)
    folder = f"{backups_path(data_dir())}/{name}"
    manifest = Manifest.load(folder)
    wrong = list(faults(folder, manifest.parts))
    return {"id": name, "sound": not wrong, "faults": wrong, "held": _held(manifest)}


def _ask_to_restore(part: str, to: str | None) -> None:
    name = found(data_dir(), part)
    if to is None:
        what = f"store {said_store()!r}" if said_store() else "every store"
        confirm(f"Add what {what} lacks from backup {name}?")


@backup.verb(
    store=False,
    asks=_ask_to_restore,
    shows=lambda done: lines(line for one in done for line in _told(one)),
)
@id_argument
@click.option("--to", metavar="NAME", help="Make a new store of this name as it was at the backup; the others stay.")
@store_option
def restore(part: str, to: str | None = None) -> "list[Restored]":
    """Add what stores lack, or one with --store, from a backup; restore a store that is gone.

    What was changed, forgotten or purged since stays; `memman undo --since` goes back in time. Notes that were queued
    at the time are queued again unless already stored.
    """
    from memman.recovery.restore import restore as bring_back

    return bring_back(data_dir(), found(data_dir(), part), store=said_store(), to=to)


def _told(one: "Restored") -> Iterator[str]:
    if one.made:
        yield f"restored store {one.store!r}: {counted(one.memories, 'memory')}"
    elif one.records:
        yield f"added {counted(one.records, 'record')} about {counted(one.changed, 'memory')} to store {one.store!r}"
    else:
        yield f"store {one.store!r} lacks nothing that is in the backup"
    if one.waiting:
        yield f"{counted(one.waiting, 'note')} queued again for the next drain"
    if one.purged:
        yield f"still purged: {counted(one.purged, 'memory')}; what you remember again is stored again"


def _ask_to_remove(parts: Sequence[str]) -> None:
    confirm("Delete these backups permanently?", listed=[found(data_dir(), part) for part in dict.fromkeys(parts)])


@backup.verb(store=False, asks=_ask_to_remove, shows=lambda names: lines(f"deleted backup {name}" for name in names))
@click.argument("parts", nargs=-1, required=True, metavar="ID...")
def remove(parts: Sequence[str]) -> list[str]:
    """Delete backups permanently."""
    from memman.locks import backup_lock
    from memman.recovery.backup import remove as throw_away

    names = [found(data_dir(), part) for part in dict.fromkeys(parts)]
    with backup_lock(data_dir()):
        for name in names:
            throw_away(data_dir(), name)
    return names


def _scheduled(said: dict[str, str]) -> None:
    every = said["every"] if said["every"] in _WORDS else f"every {said['every']}"
    text("no automatic backups" if every == "off" else f"a backup {every}; the newest {said['keep']} are kept")


@backup.verb(store=False, shows=_scheduled)
@click.argument("every", required=False, metavar="[daily|weekly|off|HOURSh]")
@click.option("--keep", type=click.IntRange(1, 1000), metavar="N", help="How many scheduled backups to keep.")
def schedule(every: str | None = None, keep: int | None = None) -> dict[str, str]:
    """Show or set how often a backup is created; those you create yourself are kept until you remove them."""
    from memman.config.env import Settings, change_all

    said = {"MEMMAN_BACKUP_EVERY": every, "MEMMAN_BACKUP_KEEP": None if keep is None else str(keep)}
    if every or keep:
        change_all(data_dir(), {name: value for name, value in said.items() if value is not None})
    settings = Settings.read(data_dir())
    return {"every": settings["MEMMAN_BACKUP_EVERY"], "keep": settings["MEMMAN_BACKUP_KEEP"]}


# Lost memories that are named; --json names all.
_NAMED = 20


def _ask_to_repair(place: Place, *, queue: bool) -> None:
    from memman.recovery.repair import missing

    if not (queue or place.exists):
        raise missing(place.name)
    confirm(f"Rebuild {'the queue' if queue else f'store {place.name!r}'} from its undamaged parts?")


def repaired(done: "Repaired") -> Iterator[str]:
    """Say what became of a damaged database."""
    if not done.wrong:
        yield f"nothing is wrong with {done.what}"
        return
    queue = done.what == "queue"
    yield f"{done.what} was damaged: {done.wrong}"
    yield f"kept {counted(done.kept, 'note' if queue else 'memory')}; the damaged file was moved to {done.aside}"
    if done.damaged:
        there = f"{done.replaced} came from the last backup, {done.damaged - done.replaced} are lost"
        yield f"{counted(done.damaged, 'record')} of the log could not be read: {there}"
    if done.lost:
        more = " and others" if len(done.lost) > _NAMED else ""
        yield f"lost {len(done.lost)}: {', '.join(done.lost[:_NAMED])}{more}"
    if done.lost or done.damaged > done.replaced or not done.kept:
        yield "`memman backup list` shows the backups that may have the rest"
    if not queue:
        yield "the text index, built-in vectors and edges were rebuilt; the next drains check the edges again"


@verb(asks=_ask_to_repair, shows=lambda done: lines(repaired(done)))
@click.option("--queue", is_flag=True, help="Repair the queue instead of a store.")
def repair(place: Place, *, queue: bool = False) -> "Repaired":
    """Rebuild a damaged store from its log and the last backup.

    The damaged file is kept. The exit code is 0 even if something was lost; the output says what. An undamaged
    store is not changed.
    """
    from memman.recovery import repair as recovery

    return recovery.repair_queue(place.data) if queue else recovery.repair(place.data, place.name)
