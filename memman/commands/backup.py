"""`memman backup`: create, list, verify, restore, remove, schedule."""

from collections.abc import Iterable
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from memman.commands.person import confirm
from memman.commands.printing import ago, as_data, bar, pairs, printed, size, table, text, when
from memman.commands.verb import Group, data_options, json_option, said_store, starting, store_option
from memman.config.places import data_dir
from memman.model.errors import DamagedFile
from memman.model.plural import counted
from memman.recovery.manifest import NEWEST, Manifest, backups_path, found, listed

if TYPE_CHECKING:
    from memman.recovery.restore import Restored


def _complete(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    return starting([*listed(data_dir()), NEWEST], begun)


identified = click.argument("id_", metavar="ID", shell_complete=_complete)


@click.group(cls=Group)
@store_option
def backup() -> None:
    """Create, list, verify and restore backups.

    ID may be abbreviated; `latest` is the newest backup.
    """


@backup.command()
@click.argument("label", required=False, default="")
@data_options
def create(label: str, as_json: bool) -> None:
    """Back up the queue and every store, or one store with --store; nothing has to stop meanwhile.

    API keys and the env file are not included.
    """
    from memman.recovery.backup import take

    with bar("backing up", "no backup was taken") as progress:
        made = take(data_dir(), label=label, store=said_store(), progress=progress)
    if not printed(asdict(made), as_json=as_json):
        text(f"{made.id}  {_held(made)}, verified")


@backup.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the backups, newest first."""
    found = listed(data_dir())
    if not printed(
        [asdict(made) if made else {"id": name, "damaged": True} for name, made in found.items()], as_json=as_json
    ):
        table([_row(name, made) for name, made in found.items()], 300)


@backup.command()
@identified
@json_option
def verify(id_: str, as_json: bool) -> None:
    """Verify a backup: checksums, database integrity and row counts."""
    from memman.recovery.backup import faults, told

    name = found(data_dir(), id_)
    folder = f"{backups_path(data_dir())}/{name}"
    manifest = Manifest.load(folder)
    parts = manifest.parts
    with bar("verifying", "nothing was changed") as progress:
        wrong = list(faults(folder, told(parts, count(1), len(parts), progress)))
    if as_json:
        as_data({"id": name, "sound": not wrong, "faults": wrong})
    if wrong:
        raise DamagedFile(f"backup {name} is damaged: {'; '.join(wrong)}")
    if not as_json:
        text(f"{name}  {_held(manifest)}, verified")


@backup.command()
@identified
@click.option("--to", metavar="NAME", help="Restore one store under this new name, next to the existing ones.")
@data_options
def restore(id_: str, to: str | None, as_json: bool) -> None:
    """Restore every store of a backup, or one store with --store.

    The current stores are moved aside. Notes that were queued at the time are queued again unless already stored.
    """
    from memman.recovery.restore import restore as bring_back

    name = found(data_dir(), id_)
    if to is None:
        what = f"the current store {said_store()!r}" if said_store() else "all current stores"
        confirm(f"Replace {what} with backup {name}?")
    kept = "each store is whole, as it was or as the backup has it; the same command brings back the rest"
    with bar("restoring", kept) as progress:
        done = bring_back(data_dir(), name, store=said_store(), to=to, progress=progress)
    if not printed([asdict(one) for one in done], as_json=as_json):
        for line in (line for one in done for line in _told(one)):
            text(line)


@backup.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=_complete)
def remove(ids: tuple[str, ...]) -> None:
    """Delete backups permanently."""
    from memman.locks import backup_lock
    from memman.recovery.backup import remove as throw_away

    names = [found(data_dir(), id_) for id_ in dict.fromkeys(ids)]
    confirm("Delete these backups permanently?", listed=names)
    with backup_lock(data_dir()):
        for name in names:
            throw_away(data_dir(), name)
            text(f"deleted backup {name}")


@backup.command()
@click.argument("every", required=False, metavar="[daily|weekly|off|HOURSh]")
@click.option("--keep", type=click.IntRange(1, 1000), metavar="N", help="How many scheduled backups to keep.")
def schedule(every: str | None, keep: int | None) -> None:
    """Show or set how often a backup is created; those you create yourself are kept until you remove them."""
    from memman.config.env import Settings, change_all

    said = {"MEMMAN_BACKUP_EVERY": every, "MEMMAN_BACKUP_KEEP": None if keep is None else str(keep)}
    if every or keep:
        change_all(data_dir(), {name: value for name, value in said.items() if value is not None})
    settings = Settings.read(data_dir())
    pairs({"every": settings["MEMMAN_BACKUP_EVERY"], "keep": settings["MEMMAN_BACKUP_KEEP"]})


def _row(name: str, made: Manifest | None) -> tuple[str, ...]:
    if made is None:
        return name, "?", "?", "its manifest cannot be read"
    how = "scheduled" if made.automatic else f"by {made.taken_by}"
    return name, when(made.at), ago(made.at), f"{_held(made)}, {how}"


def _held(made: Manifest) -> str:
    held = f"{counted(len(made.stores), 'store')}, {counted(made.memories, 'memory')}"
    return f"{held}, {size(sum(part.bytes for part in made.parts))}"


def _told(one: "Restored") -> Iterable[str]:
    waiting = f"; {counted(one.waiting, 'note')} queued again for the next drain" if one.waiting else ""
    yield f"restored store {one.store!r}: {counted(one.memories, 'memory')}{waiting}"
    if one.missing is None:
        yield "the store that was there cannot be read, so notes stored since the backup cannot be counted"
    elif one.missing:
        yield f"not in this backup because it came later: {counted(one.missing, 'note')}"
    if one.forgotten:
        yield f"still forgotten: {counted(one.forgotten, 'memory')}; `memman forget --undo ID` brings one back"
    if one.purged:
        yield f"still purged: {counted(one.purged, 'memory')}; what you remember again is stored again"
    if one.aside:
        yield f"the previous store was moved to {one.aside}"
