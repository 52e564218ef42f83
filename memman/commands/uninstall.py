"""`memman uninstall`: undo what install did; memories and settings of memman stay."""

import os
from contextlib import suppress

import click

from memman.commands.install import Work, dry_option, target_option
from memman.commands.person import confirm
from memman.commands.printing import text
from memman.commands.verb import verb
from memman.config.command import command
from memman.config.launcher import launcher_path
from memman.config.places import data_dir
from memman.integrations import reach
from memman.integrations.install_record import InstallRecord
from memman.integrations.installer import locked
from memman.integrations.target import Target, Wiring
from memman.integrations.targets import ALL, TARGETS, targets
from memman.integrations.uninstaller import Undo, entries, leave_folders, plan, undo
from memman.scheduler import setup


def _undone(names: tuple[str, ...]) -> tuple[list[Target], bool]:
    """Return the agents that are undone, and whether all of memman is."""
    whole = not names or ALL in names
    return (targets() if whole else [TARGETS[name] for name in TARGETS if name in names]), whole


@verb(store=False)
@target_option
@dry_option
@click.option(
    "--checkout", default="", metavar="PATH", help="Path of the NanoClaw checkout; default: the current folder."
)
def uninstall(names: tuple[str, ...] = (), checkout: str = "", *, dry_run: bool = False) -> int:
    """Remove memman from your agents and stop its scheduler; memories stay.

    A file that was not changed since gets its original content back; from other files only memman's entries are
    removed. What could not be undone is reported, also by the exit code. With --target only that agent is undone, and
    the scheduler is kept.
    """
    data, (picked, whole) = data_dir(), _undone(names)
    wiring = Wiring(data, checkout=checkout, command=command(data))
    work = Work(data)
    if dry_run:
        _plan(work, picked, wiring, whole=whole)
        return work.code
    if not os.path.isdir(data) and not entries(InstallRecord(data), picked, wiring):
        text("nothing is installed")
        return 0
    what = "" if whole else f" from {', '.join(target.name for target in picked)}"
    confirm(f"Remove memman{what}?")
    take_out(work, picked, wiring, whole=whole)
    kept = f"{data}/backups/settings"
    text(f"memories and settings are kept in {data}")
    if os.path.isdir(kept):
        text(f"the originals of changed files are kept in {kept}")
    return work.code


def take_out(work: Work, picked: list[Target], wiring: Wiring, *, whole: bool) -> None:
    """Undo the agents, of the `whole` the scheduler and the launcher too."""
    with locked(work.data):
        if whole:
            _say_link(work.data)
            reach.take(work.data)
        manifest, names = InstallRecord(work.data), {target.name for target in picked}
        for entry in entries(manifest, picked, wiring):
            with work.trying():
                _say(undo(manifest, entry, names))
        leave_folders(manifest)
        if whole:
            with work.trying():
                work.tell(setup.uninstall(work.data))
        if whole and not InstallRecord(work.data).entries:
            _remove_launcher(work.data)


def _plan(work: Work, picked: list[Target], wiring: Wiring, *, whole: bool) -> None:
    manifest = InstallRecord(work.data)
    for entry in entries(manifest, picked, wiring):
        with work.trying():
            _say(plan(manifest, entry))
    if whole and os.path.exists(launcher_path(work.data)):
        text(f"remove the scheduler's units and {launcher_path(work.data)}")
    if whole:
        _say_link(work.data)
    text("dry run: nothing was changed")


def _say_link(data: str) -> None:
    if reach.laid(data):
        text(f"remove {reach.link_path()}")


def _say(step: Undo) -> None:
    if step.verb:
        text(f"{step.verb} {step.path}" + (f" ({step.said})" if step.said else ""))


def _remove_launcher(data: str) -> None:
    path = launcher_path(data)
    with suppress(OSError):
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
