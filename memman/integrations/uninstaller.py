"""Undoes what install did: the original bytes where nobody else wrote since, else only our part is taken out."""

import os
from dataclasses import dataclass

from memman.integrations import forms
from memman.integrations.files import clear_draft, content, decoded, digest, encoded, swap
from memman.integrations.installer import TRIES
from memman.integrations.json5 import CannotEdit
from memman.integrations.manifest import Entry, Manifest
from memman.integrations.target import LAID, File, Target, Wiring
from memman.model.errors import BadConfig, Busy, MemmanError


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
            return ""
        return "remove" if self.after is None else "restore" if not self.said else "change"


def entries(manifest: Manifest, targets: list[Target], wiring: Wiring) -> list[Entry]:
    """Return what there is to undo for `targets`, the last made first; what the manifest lost is looked for."""
    names = {target.name for target in targets}
    known = [entry for entry in manifest.entries.values() if names & set(entry.targets)]
    lost = [
        Entry(file.path, file.form, [target.name])
        for target in targets
        for file in _files(target, wiring)
        if file.path not in manifest.entries and _is_ours(file, wiring)
    ]
    return known[::-1] + lost[::-1]


def plan(manifest: Manifest, entry: Entry) -> Undo:
    """Work out how one file is undone. Raises BadConfig where it cannot be."""
    before = content(entry.path)
    recorded = manifest.entries.get(entry.path)
    sound, original = manifest.original(recorded) if recorded else (False, None)
    if before is None or (sound and entry.known(digest(before))):
        return Undo(entry.path, before, None if before is None else original)
    if entry.form == LAID:
        said = "it was changed since it was laid down; that version is kept among the backups" if recorded else ""
        return Undo(entry.path, before, original, saved=before, said=said)
    try:
        left = encoded(forms.take(entry.form, decoded(before) or "", manifest.text(recorded)))
    except CannotEdit as error:
        raise BadConfig(f"{entry.path}: {error}; it was left as it is, take memman's entries out by hand") from error
    kept = f"; the original is in {entry.backup}" if entry.backup else ""
    return Undo(entry.path, before, left, said=f"changed since: only memman's entries are taken out{kept}")


def undo(manifest: Manifest, entry: Entry, names: set[str]) -> Undo:
    """Undo one file for the targets called `names`. Raises BadConfig, CannotWrite, Busy."""
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
            manifest.entries.pop(entry.path, None)
            manifest.save()
            return step
    raise Busy(f"{entry.path} is being changed by another program; try again")


def leave_folders(manifest: Manifest) -> None:
    """Remove the folders that we made and nobody uses."""
    for folder in sorted(manifest.folders, key=len, reverse=True):
        try:
            os.rmdir(folder)
        except OSError:
            if os.path.isdir(folder) and manifest.entries:
                continue
        manifest.folders.remove(folder)
    manifest.save()


def _files(target: Target, wiring: Wiring) -> list[File]:
    try:
        return target.files(wiring)
    except (MemmanError, CannotEdit, OSError):
        return []


def _is_ours(file: File, wiring: Wiring) -> bool:
    try:
        text = decoded(content(file.path))
        if text is None:
            return False
        if file.form == LAID:
            return text == file.put(None) or wiring.launcher in text
        return forms.holds(file.form, text, wiring.launcher) and forms.take(file.form, text, None) != text
    except (CannotEdit, MemmanError):
        return False
