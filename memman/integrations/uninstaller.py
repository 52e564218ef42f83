"""Undoes what install did: the original bytes where nobody else wrote since, else only our part is taken out."""

import os
from contextlib import suppress
from dataclasses import dataclass

from memman.config.launcher import launcher_path
from memman.integrations import own_part
from memman.integrations.edits import CannotEdit
from memman.integrations.files import clear_draft, content, decoded, digest, encoded, swap
from memman.integrations.install_record import Entry, InstallRecord
from memman.integrations.installer import TRIES
from memman.integrations.skills import COMMANDS
from memman.integrations.target import LAID, File, Target, Wiring
from memman.model.errors import BadConfig, Busy, MemmanError

_OWN = ("memman", "add-memman", *COMMANDS)


@dataclass(frozen=True, slots=True)
class Undo:
    """What is to happen to one file, and what has to be said of it."""

    path: str
    before: bytes | None
    after: bytes | None
    saved: bytes | None = None
    said: str = ""

    @property
    def verb(self) -> str:
        """Return the word for it, '' where nothing is to be done."""
        if self.before == self.after:
            return "leave" if self.said else ""
        return "remove" if self.after is None else "restore" if not self.said else "change"


def entries(manifest: InstallRecord, targets: list[Target], wiring: Wiring) -> list[Entry]:
    """Return what there is to undo for `targets`, the last made first; what the manifest lost is looked for."""
    names = {target.name for target in targets}
    known = [entry for entry in manifest.entries.values() if names & set(entry.targets)]
    files = [(target, file) for target in targets for file in _files(target, wiring)]
    alone = not any(_works_for_another(file, wiring) for _, file in files)
    lost = [
        Entry(file.path, file.form, [target.name])
        for target, file in files
        if file.path not in manifest.entries and _is_ours(file, wiring, alone=alone)
    ]
    return known[::-1] + lost[::-1]


def plan(manifest: InstallRecord, entry: Entry) -> Undo:
    """Work out how one file is undone. Raises BadConfig where it cannot be."""
    before = content(entry.path)
    recorded = manifest.entries.get(entry.path)
    sound, original = manifest.original(recorded) if recorded else (False, None)
    original = _without_gone(entry.form, original)
    if before is None or (sound and entry.known(digest(before))):
        return Undo(entry.path, before, None if before is None else original)
    if entry.form == LAID:
        if {*own_part.called(LAID, decoded(before) or "")} - {launcher_path(manifest.data)}:
            return Undo(entry.path, before, before, said="it works for another memman now")
        said = "it was changed since it was laid down; that version is kept among the backups" if recorded else ""
        return Undo(entry.path, before, original, saved=before, said=said)
    try:
        first = (decoded(original) or "") if sound else None
        left = encoded(own_part.take(entry.form, decoded(before) or "", first, launcher_path(manifest.data)))
    except CannotEdit as error:
        why = "the file was not changed, take memman's entries out by hand"
        raise BadConfig(f"{entry.path}: {error}; {why}") from error
    kept = f"; the original is in {entry.backup}" if entry.backup else ""
    return Undo(entry.path, before, left, said=f"changed since: only memman's entries are taken out{kept}")


def _without_gone(form: str, held: bytes | None) -> bytes | None:
    """Return the original without the work of another memman whose launcher is gone by now."""
    try:
        programs = own_part.called(form, decoded(held) or "")
        gone = any(one.endswith(launcher_path("")) and not os.path.exists(one) for one in programs)
        return encoded(own_part.take(form, decoded(held) or "", None)) if gone else held
    except CannotEdit:
        return held


def undo(manifest: InstallRecord, entry: Entry, names: set[str]) -> Undo:
    """Undo one file for the targets called `names`. Raises BadConfig, CannotWrite, Busy."""
    manifest.served = [name for name in manifest.served if name not in names]
    left = [name for name in entry.targets if name not in names]
    if left:
        entry.targets = left
        manifest.save()
        return Undo(entry.path, None, None)
    clear_draft(entry.path)
    for _ in range(TRIES):
        step = plan(manifest, entry)
        if step.saved is not None:
            manifest.keep(entry.path, step.saved)
        if step.before == step.after or swap(entry.path, step.before, step.after):
            if step.before is not None and step.after is None:
                _leave_own(os.path.dirname(entry.path))
            manifest.entries.pop(entry.path, None)
            manifest.save()
            return step
    raise Busy(f"{entry.path} is being changed by another program; try again")


def leave_folders(manifest: InstallRecord) -> None:
    """Remove the folders that we made and nobody uses."""
    for folder in sorted(manifest.folders, key=len, reverse=True):
        try:
            os.rmdir(folder)
        except OSError:
            if os.path.isdir(folder) and manifest.entries:
                continue
        manifest.folders.remove(folder)
    manifest.save()


def _leave_own(folder: str) -> None:
    """Remove a folder that has our name, where nothing is left in it."""
    if os.path.basename(folder) in _OWN:
        with suppress(OSError):
            os.rmdir(folder)


def _files(target: Target, wiring: Wiring) -> list[File]:
    try:
        return target.files(wiring)
    except (MemmanError, CannotEdit, OSError):
        return []


def _works_for_another(file: File, wiring: Wiring) -> bool:
    """Whether a file calls a memman with another data folder."""
    try:
        return bool({*own_part.called(file.form, decoded(content(file.path)) or "")} - {wiring.launcher})
    except (CannotEdit, MemmanError):
        return False


def _is_ours(file: File, wiring: Wiring, *, alone: bool) -> bool:
    """Whether a file is our work: it names our launcher, or where no other memman is about could be of any."""
    try:
        text = decoded(content(file.path))
        if text is None:
            return False
        named = wiring.launcher in text or wiring.launcher in own_part.called(file.form, text)
        if file.form == LAID:
            return named or (alone and text == file.put(None))
        holds = named or (alone and own_part.anonymous(file.form, text))
        return holds and own_part.take(file.form, text, None, wiring.launcher) != text
    except (CannotEdit, MemmanError):
        return False
