"""The data folder: its place, its files and settings, and the room left."""

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from itertools import chain

from memman.config import filesystem
from memman.config.env import env_path, unknown
from memman.config.ignore import misread
from memman.config.keys import KEYS
from memman.config.places import queue_path, store_path
from memman.doctor.finding import Context, Finding, fail, ok, shell, skipped, sound, warn, writable
from memman.doctor.layout import entries
from memman.integrations.files import read_only

_MOVE = "move the folder to a local disk and set MEMMAN_DATA_DIR; `memman sync` shares memories between machines"
_ELSEWHERE = "or set MEMMAN_DATA_DIR to a folder that you can write to"
# What services that copy files call their folders, and what they leave in them.
_COPIED = re.compile(
    r"(Dropbox|OneDrive|iCloud ?Drive|Mobile Documents|CloudStorage|Google ?Drive|Nextcloud|ownCloud|Syncthing)\b.*",
    re.IGNORECASE,
)
_MARKS = {".stfolder": "Syncthing", ".dropbox.cache": "Dropbox"}
# What has to be made anew where it is taken away; all else is made when it is needed.
_ANEW = {"schedule": "memman scheduler install", "bin": "memman install", "bin/memman": "memman install"}
# Bytes that are little, and next to nothing: a drain writes a few kilobytes a note, a migration copies a store.
_LITTLE, _NONE = 500 * 2**20, 20 * 2**20


def check(context: Context) -> Iterator[Finding]:
    """Look at where the data folder lies, who may read it, and what its files and settings are.

    Fails where it cannot be written, lies on a network or shared file system, or in a folder that Dropbox,
    OneDrive, iCloud, Syncthing or the like copy; where others can read it; where a pipe, device, folder or broken link
    is in a file's place; of settings with bad values, and lists of excluded folders that it cannot read; warns of
    unknown settings
    """
    data = context.data
    if not os.path.exists(data):
        yield from _unsafe(context, [data]) or [_unmade(data)]
    elif not os.path.isdir(data):
        yield fail(f"{data} is not a folder", hint="move it away, or set MEMMAN_DATA_DIR")
    elif not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        yield fail(f"{data} is read-only: nothing can be remembered", writable(data), _ELSEWHERE)
    else:
        places = [queue_path(data), *(store_path(data, name) for name in context.stores)]
        faults = chain(_kinds(context), _unsafe(context, places), _open(data), _settings(context))
        kind = filesystem.file_system(data)
        yield from sound(faults, data + (f" on {kind}" if kind else ""))


def disk(context: Context) -> Iterator[Finding]:
    """Look at the room left.

    Warns below 500 MiB, fails below 20 MiB
    """
    if not os.path.isdir(context.data):
        yield skipped("no data folder yet")
        return
    free = shutil.disk_usage(context.data).free
    says = f"{free / 2**30:.1f} GiB free"
    if free < _NONE:
        yield fail(says, hint="free some space: new notes cannot be saved")
    else:
        yield warn(says, hint="free some space") if free < _LITTLE else ok(says)


def _unmade(data: str) -> Finding:
    """Say of a folder that is not there whether it can be made."""
    for place in read_only(data):
        says = f"{place} is read-only, so {data} cannot be made: nothing can be remembered"
        return fail(says, writable(place), _ELSEWHERE)
    return ok(f"{data} does not exist yet: the first note creates it")


def _unsafe(context: Context, places: Iterable[str]) -> list[Finding]:
    """Find file systems and services that damage a database; a warning where the settings allow them."""
    data, known = context.data, env_path(context.data) not in context.amiss
    grave = warn if known and context.settings["MEMMAN_UNSAFE_FOLDER"] == "allow" else fail
    kinds = {path: filesystem.file_system(path) for path in places}
    found = [
        grave(f"{path} lies on {kind}, where SQLite databases get damaged", hint=_MOVE)
        for path, kind in kinds.items()
        if filesystem.shared(kind)
    ]
    if service := _copied(data):
        says = f"{data} lies in a folder of {service}, which copies a database while it is written: it gets damaged"
        found.append(grave(says, hint=_MOVE))
    return found


def _copied(data: str) -> str:
    """Name the service that copies what lies in the data folder to other machines, '' for none."""
    folder = os.path.realpath(data)
    while folder != "/":
        if _COPIED.fullmatch(os.path.basename(folder)):
            return os.path.basename(folder)
        for mark, service in _MARKS.items():
            if os.path.exists(f"{folder}/{mark}"):
                return service
        folder = os.path.dirname(folder)
    return ""


def _kinds(context: Context) -> Iterator[Finding]:
    for path, fault in sorted(context.amiss.items()):
        yield fail(f"{path} {fault}", _mend(context.data, path, fault))


def _mend(data: str, path: str, fault: str) -> str:
    if fault.startswith("is not readable"):
        return shell("chmod", "u+rwX", path)
    mode = os.lstat(path).st_mode
    kept = stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
    away = shell("mv", "-n", path, path + ".aside") if kept else shell("rm", path)
    again = _ANEW.get(path.removeprefix(data + "/"))
    return f"{away} && {again}" if again else away


def _open(data: str) -> Iterator[Finding]:
    """Find folders and files that others may read, or that belong to them; where a link leads is not looked at."""
    found = {path: info for path, info in entries(data) if stat.S_ISDIR(info.st_mode) or stat.S_ISREG(info.st_mode)}
    readable = [path for path, info in found.items() if info.st_mode & 0o077]
    foreign = [path for path, info in found.items() if info.st_uid != os.geteuid()]
    if readable:
        mode = stat.S_IMODE(found[readable[0]].st_mode)
        says = f"{_and_more(readable)} can be read by others (mode {mode:04o})"
        yield fail(says, shell("chmod", "-R", "go-rwx", data))
    if foreign:
        yield fail(
            f"{_and_more(foreign)} belongs to another user", shell("sudo", "chown", "-R", str(os.geteuid()), data)
        )


def _and_more(paths: list[str]) -> str:
    return paths[0] + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _settings(context: Context) -> Iterator[Finding]:
    """Find bad values, unknown keys, and variables of the shell that somebody may believe to count."""
    if env_path(context.data) in context.amiss:
        return
    for fault in context.settings.faults:
        key = KEYS.get(fault.split(maxsplit=1)[0].rstrip(":"))
        if key is None:
            continue  # others can read the file, which was said
        value = ("set", key.name, key.amiss) if key.amiss else ("unset", key.name)
        yield fail(fault, shell("memman", "config", *value))
    for fault in misread(context.data, os.getcwd()):
        yield fail(f"{fault}, so nothing is remembered here", hint="write it as docs/secrets.md says, or remove it")
    for name in unknown(context.data):
        yield warn(f"{name[:60]} is not a known setting", shell("memman", "config", "unset", name))
    for name in KEYS:
        if os.environ.get(name, context.settings[name]) != context.settings[name]:
            says = f"{name} is set to something else in this shell, which has no effect"
            yield warn(says, hint=f"set it with `memman config set {name} VALUE`, or unset the variable")
