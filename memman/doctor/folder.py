"""The data folder: its place, its files and settings, and the room left."""

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from itertools import chain

from memman.config.env import unknown
from memman.config.ignore import misread
from memman.config.keys import KEYS
from memman.config.launcher import kept_path
from memman.config.places import file_system, queue_path, shared, store_path
from memman.doctor.finding import Context, Finding, fail, shell, sound, warn

_MOVE = "move the folder to a local disk and set MEMMAN_DATA_DIR; `memman sync` shares memories between machines"
_ELSEWHERE = "or set MEMMAN_DATA_DIR to a folder that you can write to"
# What services that copy files call their folders, and what they leave in them.
_COPIED = re.compile(
    r"(Dropbox|OneDrive|iCloud ?Drive|Mobile Documents|CloudStorage|Google ?Drive|pCloud ?Drive"
    r"|Nextcloud|ownCloud|Syncthing)\b.*",
    re.IGNORECASE,
)
_MARKS = {".stfolder": "Syncthing", ".dropbox.cache": "Dropbox"}
# Bytes that are little, and next to nothing: a drain writes a few kilobytes a note, a migration copies a store.
_LITTLE, _NONE = 500 * 2**20, 20 * 2**20


def folder(context: Context) -> Iterator[Finding]:
    """Check where the data folder is, who else can read or copy it, its files, settings and ignored folders.

    Less than 500 MiB free is a warning, less than 20 MiB a failure.
    """
    data = context.data
    if not os.path.exists(data):
        yield from sound(_unsafe(context, [data]), f"{data} does not exist yet: the first note creates it")
    elif not os.path.isdir(data):
        yield fail(f"{data} is not a folder", hint="move it away, or set MEMMAN_DATA_DIR")
    elif not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        mend = shell("chmod", "u+rwX", data) if os.stat(data).st_uid == os.geteuid() else ""
        yield fail(f"{data} is read-only: nothing can be remembered", mend, _ELSEWHERE)
    else:
        places = [queue_path(data), *(store_path(data, name) for name in context.stores)]
        faults = chain(_unsafe(context, places), _open(data), _full(data), _settings(context))
        kind = file_system(data)
        yield from sound(faults, data + (f" on {kind}" if kind else ""))


def _full(data: str) -> Iterator[Finding]:
    """Find that there is little room left."""
    free = shutil.disk_usage(data).free
    if free < _LITTLE:
        yield (fail if free < _NONE else warn)(f"{free / 2**20:.0f} MiB free", hint="free some space for new notes")


def _unsafe(context: Context, places: Iterable[str]) -> Iterator[Finding]:
    """Find file systems and services that damage a database; a warning where the settings allow them."""
    data, grave = context.data, warn if context.settings["MEMMAN_UNSAFE_FOLDER"] == "allow" else fail
    for path in places:
        if shared(kind := file_system(path)):
            yield grave(f"{path} lies on {kind}, where SQLite databases get damaged", hint=_MOVE)
    if service := _copied(os.path.realpath(data)):
        says = f"{data} lies in a folder of {service}, which copies a database while it is written: it gets damaged"
        yield grave(says, hint=_MOVE)


def _copied(folder: str) -> str:
    """Name the service that copies what lies in a folder to other machines, '' for none."""
    home = os.path.realpath(os.path.expanduser("~"))
    while folder != "/":
        if folder == f"{home}/Sync":
            return "Syncthing or Sync.com"
        if _COPIED.fullmatch(os.path.basename(folder)):
            return os.path.basename(folder)
        for mark, service in _MARKS.items():
            if os.path.exists(f"{folder}/{mark}"):
                return service
        folder = os.path.dirname(folder)
    return ""


def _open(data: str) -> Iterator[Finding]:
    """Find folders and files that others may read, or that belong to them; where a link leads is not looked at."""
    found = {path: info for path, info in _entries(data) if stat.S_ISDIR(info.st_mode) or stat.S_ISREG(info.st_mode)}
    if readable := [path for path, info in found.items() if info.st_mode & 0o077]:
        mode = stat.S_IMODE(found[readable[0]].st_mode)
        says = f"{_and_more(readable)} can be read by others (mode {mode:04o})"
        yield fail(says, shell("chmod", "-R", "go-rwx", data))
    if foreign := [path for path, info in found.items() if info.st_uid != os.geteuid()]:
        mend = shell("sudo", "chown", "-R", str(os.geteuid()), data)
        yield fail(f"{_and_more(foreign)} belongs to another user", mend)


def _and_more(paths: list[str]) -> str:
    return paths[0] + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _settings(context: Context) -> Iterator[Finding]:
    """Find bad values, unknown keys, and variables of the shell that somebody may believe to count."""
    for fault in context.settings.faults:
        # What has no key is that others can read the file, which was said.
        if key := KEYS.get(fault.split(maxsplit=1)[0].rstrip(":")):
            yield fail(
                fault, shell("memman", "config", "unset", key.name), "or correct the value: drains wait for that"
            )
    for fault in misread(context.data, os.getcwd()):
        yield fail(f"{fault}, so nothing is remembered here", hint="write it as docs/secrets.md says, or remove it")
    for name in unknown(context.data):
        yield warn(f"{name[:60]} is not a known setting", shell("memman", "config", "unset", name))
    for name in KEYS:
        if os.environ.get(name, context.settings[name]) != context.settings[name]:
            says = f"{name} is set to something else in this shell, which has no effect"
            yield warn(says, hint=f"set it with `memman config set {name} VALUE`, or unset the variable")


def _entries(data: str) -> Iterator[tuple[str, os.stat_result]]:
    """Return everything in the data folder, itself too; what goes meanwhile is left out, and no link is followed."""
    yield data, os.stat(data)
    for folder, folders, files in os.walk(data):
        if folder == kept_path(data):  # programs, which nobody else gets at
            folders.clear()
        for name in (*folders, *files):
            try:
                yield f"{folder}/{name}", os.lstat(f"{folder}/{name}")
            except OSError:
                continue
