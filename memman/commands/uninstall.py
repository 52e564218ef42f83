"""`memman uninstall`: undo what install did; memories and settings of memman stay."""

import os

import click

from memman.commands.install import dry_option, target_option
from memman.commands.person import confirm
from memman.commands.printing import complain, text
from memman.commands.verb import Command
from memman.config.command import command
from memman.config.launcher import launcher_path
from memman.config.places import data_dir
from memman.integrations import reach
from memman.integrations.install_record import InstallRecord
from memman.integrations.installer import locked
from memman.integrations.target import Target, Wiring
from memman.integrations.targets import ALL, TARGETS, targets
from memman.integrations.uninstaller import Undo, entries, leave_folders, plan, undo
from memman.model.errors import MemmanError
from memman.scheduler import setup


@click.command(cls=Command)
@target_option
@dry_option
@click.option(
    "--checkout", default="", metavar="PATH", help="Path of the NanoClaw checkout; default: the current folder."
)
def uninstall(names: tuple[str, ...], dry_run: bool, checkout: str) -> int:
    """Remove memman from the agents and stop its scheduler; memories are kept.

    A file that was not changed since gets its original content back; from other files only memman's entries are
    removed. What could not be undone is reported, also by the exit code. With --target only that agent is undone, and
    the scheduler is kept.
    """
    data = data_dir()
    whole = not names or ALL in names
    picked = targets() if whole else [TARGETS[name] for name in TARGETS if name in names]
    wiring = Wiring(data, checkout=checkout, command=command(data))
    if dry_run:
        return _plan(data, picked, wiring, whole=whole)
    if not os.path.isdir(data) and not entries(InstallRecord(data), picked, wiring):
        text("nothing is installed")
        return 0
    what = "" if whole else f" from {', '.join(target.name for target in picked)}"
    confirm(f"Remove memman{what}?")
    code = take_out(data, picked, wiring, whole=whole)
    kept = f"{data}/backups/settings"
    text(f"memories and settings are kept in {data}")
    if os.path.isdir(kept):
        text(f"the originals of changed files are kept in {kept}")
    return code


def take_out(data: str, picked: list[Target], wiring: Wiring, *, whole: bool) -> int:
    """Undo the agents, of the `whole` the scheduler and the launcher too; return the exit code."""
    with locked(data):
        if whole and reach.laid(data):
            text(f"remove {reach.link_path()}")
        if whole:
            reach.take(data)
        code = _undo(data, picked, wiring)
        if whole:
            code = _stop(data) or code
        if whole and not InstallRecord(data).entries:
            _remove_launcher(data)
    return code


def _plan(data: str, picked: list[Target], wiring: Wiring, *, whole: bool) -> int:
    manifest, code = InstallRecord(data), 0
    for entry in entries(manifest, picked, wiring):
        try:
            _say(plan(manifest, entry))
        except MemmanError as error:
            complain(str(error))
            code = code or error.exit_code
    if whole and os.path.exists(launcher_path(data)):
        text(f"remove the scheduler's units and {launcher_path(data)}")
    if whole and reach.laid(data):
        text(f"remove {reach.link_path()}")
    text("dry run: nothing was changed")
    return code


def _undo(data: str, picked: list[Target], wiring: Wiring) -> int:
    manifest, code = InstallRecord(data), 0
    names = {target.name for target in picked}
    for entry in entries(manifest, picked, wiring):
        try:
            _say(undo(manifest, entry, names))
        except MemmanError as error:
            complain(str(error))
            code = code or error.exit_code
    leave_folders(manifest)
    return code


def _stop(data: str) -> int:
    try:
        for line in setup.uninstall(data):
            text(f"scheduler: {line}")
    except MemmanError as error:
        complain(str(error))
        return error.exit_code
    return 0


def _say(step: Undo) -> None:
    if step.verb:
        text(f"{step.verb} {step.path}" + (f" ({step.said})" if step.said else ""))


def _remove_launcher(data: str) -> None:
    path = launcher_path(data)
    for remove, what in ((os.unlink, path), (os.rmdir, os.path.dirname(path))):
        try:
            remove(what)
        except OSError:
            return
