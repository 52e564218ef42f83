"""Wires agents: every file is planned first, then its original put aside, then written."""

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass

from memman.config.launcher import launcher_path
from memman.integrations import own_part
from memman.integrations.edits import CannotEdit
from memman.integrations.files import (
    check_writable,
    clear_draft,
    content,
    decoded,
    digest,
    encoded,
    missing_folders,
    swap,
)
from memman.integrations.install_record import Entry, InstallRecord
from memman.integrations.target import LAID, File, Target
from memman.locks import alone
from memman.model.errors import BadConfig, Busy

TRIES = 5  # times a file is read again because another program wrote it meanwhile


@dataclass(frozen=True, slots=True)
class Step:
    """What is to happen to one file: `before` and `after` are its bytes, `base` those that uninstall brings back.

    `replaced` are other memmans that the file calls now, and will not call then.
    """

    file: File
    before: bytes | None
    after: bytes | None
    base: bytes | None
    replaced: tuple[str, ...] = ()

    @property
    def verb(self) -> str:
        """Return the word for it, '' where the file is as it should be."""
        if self.before == self.after:
            return ""
        return "create" if self.before is None else "remove" if self.after is None else "change"


def plan(manifest: InstallRecord, file: File) -> Step:
    """Work out one file. Raises BadConfig where it cannot be edited, CannotWrite where not written."""
    before = content(file.path)
    entry = manifest.entries.get(file.path)
    try:
        base, source = _base(manifest, entry, file, before)
        text = file.put(decoded(before))
        if before not in {encoded(text), source}:
            text = file.put(decoded(source))
        own_part.check(file.form, text)
        after = encoded(text)
        called = own_part.called(file.form, decoded(before) or "")
    except CannotEdit as error:
        raise BadConfig(f"{file.path}: {error}; the file was not changed") from error
    if before == after:
        return Step(file, before, after, base)
    check_writable(file.path)
    own = os.path.realpath(launcher_path(manifest.data))
    return Step(file, before, after, base, tuple(one for one in called if os.path.realpath(one) != own))


def wire(manifest: InstallRecord, target: Target, file: File) -> Step:
    """Bring one file to what it should be. Raises BadConfig, CannotWrite, Busy."""
    clear_draft(file.path)
    for _ in range(TRIES):
        step = plan(manifest, file)
        if step.before == step.after == step.base and file.path not in manifest.entries:
            return step
        _record(manifest, target, step)
        if step.before == step.after or swap(file.path, step.before, step.after, program=file.program):
            return step
    raise Busy(f"{file.path} is being changed by another program; try again")


def _base(
    manifest: InstallRecord, entry: Entry | None, file: File, before: bytes | None
) -> tuple[bytes | None, bytes | None]:
    """Return the bytes to go back to, and those to start from: as we left it, a file is made anew from its original."""
    if entry and (entry.known(digest(before)) or file.form == LAID):
        sound, original = manifest.original(entry)
        if sound:
            return original, original
    if before is None:
        return None, None
    if file.form == LAID:
        return (before if encoded(file.put(None)) != before else None), before
    text = decoded(before) or ""
    if entry is None and launcher_path(manifest.data) not in text:
        return before, before
    return encoded(own_part.take(file.form, text, manifest.text(entry), launcher_path(manifest.data))), before


def _record(manifest: InstallRecord, target: Target, step: Step) -> None:
    """Put aside what goes, and write down what is about to happen, before it does."""
    file, before = step.file, digest(step.before)
    entry = manifest.entries.get(file.path) or Entry(file.path, file.form, [], digest(step.base))
    entry.backup = "" if step.base is None else manifest.keep(file.path, step.base)
    if step.before is not None and not entry.known(before):
        manifest.keep(file.path, step.before)
    same = entry.original == digest(step.base)
    entry.original, entry.form = digest(step.base), file.form
    entry.ours = list(dict.fromkeys([*(entry.ours if same else [before]), digest(step.after)]))
    if target.name not in entry.targets:
        entry.targets.append(target.name)
    manifest.entries[file.path] = entry
    if file.serves is not None:
        others = [name for name in manifest.served if name != target.name]
        manifest.served = [*others, target.name] if file.serves else others
    manifest.folders += [folder for folder in missing_folders(file.path) if folder not in manifest.folders]
    manifest.save()


def locked(data: str) -> AbstractContextManager[None]:
    """Hold the lock of installing and uninstalling, or raise Busy at once."""
    return alone(data, "install.lock", "another install or uninstall is running")
