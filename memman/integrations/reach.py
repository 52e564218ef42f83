"""Whether the shells that agents start find memman, and the link that lets them."""

import os
import subprocess
from contextlib import suppress
from typing import NamedTuple

from memman.config.command import NAME, command, command_path, found, quoted
from memman.config.launcher import launcher_path, moved, program
from memman.config.places import write_file
from memman.integrations.files import missing_folders
from memman.integrations.installer import InstallRecord
from memman.model.errors import CannotWrite

_PATIENCE = 5.0  # seconds for a login shell to read its files
_LOGINS = ("bash", "zsh", "sh", "dash", "ksh")
# What a login begins with.
_PLAIN = "/usr/local/bin:/usr/bin:/bin"
_KEPT = ("HOME", "USER", "LOGNAME", "SHELL", "LANG", "XDG_CONFIG_HOME", "ZDOTDIR")
_TELL = "printf '\\n%s' \"$PATH\""


class Shell(NamedTuple):
    """A way in which agents start shells: what a person calls it, the words before a command, its environment."""

    name: str
    words: tuple[str, ...]
    environ: dict[str, str]


class Reach(NamedTuple):
    """How agents are to call memman, the link that has to be made first, and what a person should know of it."""

    command: str
    link: str = ""
    says: str = ""


def link_path() -> str:
    """Return the place of the link."""
    return os.path.expanduser(f"~/.local/bin/{NAME}")


def shells() -> list[Shell]:
    """Return the ways: as after a login, and as in the shell that runs us, except for an environment it has entered."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    login = os.environ.get("SHELL", "")
    if os.path.basename(login) not in _LOGINS or not os.access(login, os.X_OK):
        login = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
    entered = os.environ.get("VIRTUAL_ENV", "") + "/bin"
    here = ":".join(folder for folder in os.environ.get("PATH", _PLAIN).split(":") if folder != entered)
    return [
        Shell("a login shell", (login, "-lc"), kept | {"PATH": _PLAIN, "TERM": "dumb"}),
        Shell("a shell as this one", ("/bin/sh", "-c"), dict(os.environ) | {"PATH": here}),
    ]


def run(shell: Shell, line: str) -> subprocess.CompletedProcess[str]:
    """Have a shell run a line. Raises OSError and SubprocessError."""
    return subprocess.run(  # noqa: S603 - the user's own shell
        [*shell.words, line],
        env=shell.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=_PATIENCE,
        check=False,
    )


def reach(data: str) -> Reach:
    """Look how agents can call memman; makes nothing."""
    paths = [_path(shell) for shell in shells()]
    finds = [found(path) for path in paths]
    if all(_ours(data, place) for place in finds):
        return Reach(NAME)
    launcher, link = quoted(launcher_path(data)), link_path()
    other = next((place for place in finds if place and not _ours(data, place)), "")
    if other:
        same = os.path.realpath(other) == os.path.realpath(program())
        why = f"does not use {data} by itself" if same else "is another memman and was not touched"
        return Reach(launcher, says=f"{other} {why}: agents will use {launcher}")
    if not all(os.path.dirname(link) in path.split(":") for path in paths):
        return Reach(launcher, says=f"the agents' shells do not find {NAME}: agents will use {launcher}")
    if os.path.lexists(link) and not _ours(data, link):
        return Reach(launcher, says=f"{link} does not belong to memman and was not touched: agents will use {launcher}")
    return Reach(NAME, link)


def lay(data: str, reached: Reach) -> None:
    """Make the link, and write down how agents are to call memman. Raises CannotWrite."""
    if reached.link and not os.path.lexists(reached.link):
        manifest = InstallRecord(data)
        manifest.folders += [folder for folder in missing_folders(reached.link) if folder not in manifest.folders]
        manifest.save()
        try:
            os.makedirs(os.path.dirname(reached.link), exist_ok=True)
            os.symlink(launcher_path(data), reached.link)
        except OSError as error:
            raise CannotWrite(f"{reached.link} could not be created ({error.strerror})") from error
    if command(data) != reached.command:
        write_file(command_path(data), reached.command + "\n")


def laid(data: str) -> bool:
    """Whether the link is there, and leads to this data folder's launcher."""
    link = link_path()
    return os.path.islink(link) and os.readlink(link) == launcher_path(data)


def take(data: str) -> None:
    """Remove the link, if it is ours, and forget how agents call memman."""
    for path in ([link_path()] if laid(data) else []) + [command_path(data)]:
        with suppress(OSError):
            os.unlink(path)


def _ours(data: str, place: str) -> bool:
    """Whether a program is our launcher, or the one behind it where that needs not be told of the data folder."""
    real = os.path.realpath(place)
    known = [launcher_path(data)] + ([] if moved(data) else [program()])
    return bool(place) and real in map(os.path.realpath, known)


def _path(shell: Shell) -> str:
    try:
        return run(shell, _TELL).stdout.rpartition("\n")[2]
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
