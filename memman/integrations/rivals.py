"""Other memmans of the same user: data folders whose hooks, plugins and skills stand where ours go."""

import os

from memman.config.launcher import launcher_path
from memman.integrations import own_part
from memman.integrations.files import content, decoded
from memman.integrations.install_record import Entry, InstallRecord
from memman.integrations.json5 import CannotEdit
from memman.model.errors import MemmanError

_LAUNCHER = launcher_path("")


def called(manifest: InstallRecord, form: str, held: bytes | None) -> list[str]:
    """Return every other memman that a file's content calls. Raises CannotEdit."""
    own = os.path.realpath(launcher_path(manifest.data))
    return [program for program in own_part.called(form, decoded(held) or "") if os.path.realpath(program) != own]


def calls(manifest: InstallRecord, form: str, path: str) -> list[str]:
    """Return every other memman that a file calls, none where it cannot be read."""
    try:
        return called(manifest, form, content(path))
    except (CannotEdit, MemmanError):
        return []


def before(manifest: InstallRecord, path: str, programs: list[str]) -> str:
    """Return the data folder of the memman that laid a file down which calls `programs`, '' for none."""
    known = [entry.rival for entry in manifest.entries.values()]
    return _claiming([*map(_folder, programs), *known], path)


def holder(manifest: InstallRecord, entry: Entry) -> str:
    """Return the other memman that a file of ours works for by now, '' for none."""
    if own := calls(manifest, entry.form, entry.path):
        return own[0]
    kin = [other for other in manifest.entries.values() if set(entry.targets) & set(other.targets)]
    programs = [program for other in kin for program in calls(manifest, other.form, other.path)]
    folder = _claiming(list(map(_folder, programs)), entry.path)
    return folder and launcher_path(folder)


def claims(folder: str, path: str) -> bool:
    """Whether the memman with this data folder laid the file down, and has not taken it away."""
    return path in InstallRecord(folder).entries


def _folder(program: str) -> str:
    return program.removesuffix(_LAUNCHER) if os.path.isabs(program) and program.endswith(_LAUNCHER) else ""


def _claiming(folders: list[str], path: str) -> str:
    return next((folder for folder in folders if folder and claims(folder, path)), "")
