"""Wires agents, says how they are wired, and undoes it: every file is planned, its original put aside, then written.

What was done stands in `install.json`, the original bytes beside it. Undone, a file gets these where nobody else wrote
since; from any other only our part is taken out.
"""

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, replace

from memman import __version__
from memman.config.command import launcher_path
from memman.config.launcher import target as launched
from memman.config.places import make_folder, read_file, write_file
from memman.integrations import claude_code, codex, edits, openclaw, parts, sources
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
from memman.integrations.target import LAID, File, Target, Wiring, look
from memman.locks import alone
from memman.model.errors import BadConfig, Busy, CannotWrite, MemmanError
from memman.model.objects import parsed

TRIES = 5  # times a file is read again because another program wrote it meanwhile
_DIGITS = 12  # of a fingerprint, in the name of a backup
# Folders that have our name.
_OWN = ("memman", "add-memman", *sources.COMMANDS)
# Form -> what takes our part out: (the text, that before us, None where it is not known) -> the rest
_TAKES: dict[str, Callable[[str, str | None], str]] = {
    claude_code.FORM: claude_code.take,
    parts.HOOKS: lambda text, original: parts.take_hooks(parts.take_server(text, original), original),
    parts.SERVERS: parts.take_server,
    parts.TOML: lambda text, _: parts.forbid(parts.unserve(text)),
    openclaw.FORM: openclaw.take,
    parts.RULES: lambda text, _: parts.take_rules(text),
}
# What reads a form that is not JSON.
_READERS: dict[str, Callable[[str], object]] = {parts.TOML: parts.read_toml, parts.RULES: str}
_ENABLE = "start `gemini`, type /hooks enable memman"
# Of each agent: where its settings say something of hooks, what there switches them off, and what a person does then.
_SWITCHES: dict[str, tuple[tuple[tuple[str, ...], object, str], ...]] = {
    "claude-code": ((("disableAllHooks",), True, ""),),
    "qwen": ((("disableAllHooks",), True, ""),),
    "copilot": ((("disableAllHooks",), True, ""),),
    "gemini": (
        (("hooksConfig", "enabled"), False, ""),
        (("hooksConfig", "disabled"), "memman", _ENABLE),
        (("hooks", "disabled"), "memman", _ENABLE),
    ),
    "codex": ((("features", "hooks"), False, ""), (("features", "codex_hooks"), False, "")),
    "openclaw": ((("plugins", "enabled"), False, ""), (("plugins", "entries", "memman", "enabled"), False, "")),
}


def manifest_path(data: str) -> str:
    """Return the path of the manifest."""
    return data + "/install.json"


@dataclass(slots=True)
class Entry:
    """One file: its fingerprint before us ('' for no file), where that is kept, and every state we gave it."""

    path: str
    form: str
    targets: list[str]
    original: str = ""
    backup: str = ""
    ours: list[str] = field(default_factory=list)

    def known(self, fingerprint: str) -> bool:
        """Whether the file is as we found it or as we left it."""
        return fingerprint == self.original or fingerprint in self.ours


class InstallRecord:
    """The entries by path, the folders that we made, and the agents that are told of our MCP server."""

    def __init__(self, data: str) -> None:
        self.data = data
        self.entries: dict[str, Entry] = {}
        self.folders: list[str] = []
        self.served: list[str] = []
        said = parsed(read_file(manifest_path(data))) or {}
        try:
            known = Entry.__slots__
            entries = [{name: held[name] for name in known if name in held} for held in said.get("files", [])]
            self.entries = {held["path"]: Entry(**held) for held in entries}
            self.folders = [str(folder) for folder in said.get("folders", [])]
            self.served = [str(name) for name in said.get("served", [])]
        except (TypeError, KeyError, AttributeError):
            self.entries = {}

    def save(self) -> None:
        """Write the manifest, or remove it when there is nothing left to undo. Raises CannotWrite."""
        path = manifest_path(self.data)
        if not self.entries and not self.folders:
            if os.path.exists(path):
                os.unlink(path)
            return
        record = {
            "version": __version__,
            "launcher": launcher_path(self.data),
            "folders": self.folders,
            "served": self.served,
            "files": [asdict(entry) for entry in self.entries.values()],
        }
        text = json.dumps(record, indent=2) + "\n"
        if read_file(path) != text:
            write_file(path, text)

    def keep(self, path: str, held: bytes) -> str:
        """Put bytes aside and return where. The name follows from them: the same bytes are kept once."""
        folder = self.data + "/backups/settings"
        backup = f"{folder}/{digest(held)[:_DIGITS]}-{os.path.basename(path)}"
        make_folder(folder)
        if content(backup) != held and not swap(backup, content(backup), held):
            raise CannotWrite(f"{backup} is being changed by another program")
        return backup

    def original(self, entry: Entry) -> tuple[bool, bytes | None]:
        """Return whether the original is known, and its bytes."""
        if not entry.original:
            return True, None
        held = content(entry.backup) if entry.backup else None
        return digest(held) == entry.original, held

    def text(self, entry: Entry | None) -> str | None:
        """Return the original as text, '' where there was no file, None where it is not known. Raises CannotEdit."""
        sound, held = self.original(entry) if entry else (False, None)
        return (decoded(held) or "") if sound else None


@dataclass(frozen=True, slots=True)
class Step:
    """What is to happen to one file: `before` and `after` are its bytes, `base` those that uninstall brings back."""

    file: File
    before: bytes | None
    after: bytes | None
    base: bytes | None

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
        if text is not None and file.form in _TAKES:
            _READERS.get(file.form, edits.read)(text)
        after = encoded(text)
    except CannotEdit as error:
        raise BadConfig(f"{file.path}: {error}; the file was not changed") from error
    if before != after:
        check_writable(file.path)
    return Step(file, before, after, base)


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
    return encoded(_take(file.form, text, manifest.text(entry))), before


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
    lost = [
        Entry(file.path, file.form, [target.name])
        for target in targets
        for file in _lost(target, wiring)
        if file.path not in manifest.entries
    ]
    return known[::-1] + lost[::-1]


def plan_undo(manifest: InstallRecord, entry: Entry) -> Undo:
    """Work out how one file is undone. Raises BadConfig where it cannot be."""
    before = content(entry.path)
    recorded = manifest.entries.get(entry.path)
    sound, original = manifest.original(recorded) if recorded else (False, None)
    if before is None or (sound and entry.known(digest(before))):
        return Undo(entry.path, before, None if before is None else original)
    if entry.form == LAID:
        said = "it was changed since it was installed; that version is kept among the backups" if recorded else ""
        return Undo(entry.path, before, original, saved=before, said=said)
    try:
        first = (decoded(original) or "") if sound else None
        left = encoded(_take(entry.form, decoded(before) or "", first))
    except CannotEdit as error:
        why = "the file was not changed, remove memman's entries by hand"
        raise BadConfig(f"{entry.path}: {error}; {why}") from error
    kept = f"; the original is in {entry.backup}" if entry.backup else ""
    return Undo(entry.path, before, left, said=f"changed since: only memman's entries are removed{kept}")


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
        step = plan_undo(manifest, entry)
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


def _text(path: str) -> str | None:
    try:
        return decoded(content(path))
    except (CannotEdit, MemmanError):
        return None


def _lost(target: Target, wiring: Wiring) -> list[File]:
    """Return the files with our part in them, of an agent one of whose files names our launcher."""
    texts = [(file, text) for file in _files(target, wiring) if (text := _text(file.path)) is not None]
    found = [file for file, text in texts if _is_ours(file, text, wiring.launcher)]
    return found if any(wiring.launcher in text for _, text in texts) else []


def _is_ours(file: File, text: str, launcher: str) -> bool:
    try:
        if file.form == LAID:
            return launcher in text or text == file.put(None)
        return _take(file.form, text, None) != text
    except CannotEdit:
        return False


def _take(form: str, text: str, original: str | None) -> str | None:
    """Return a text without our part, None where nothing else is left; `original` is None where not known.

    Raises CannotEdit.
    """
    if form == LAID or form not in _TAKES:
        return None
    left = _TAKES[form](text, original)
    return None if not original and left != text and _bare(form, left) else left


def _bare(form: str, text: str) -> bool:
    if form in _READERS:
        return not text.strip()
    root = edits.read(text)
    return root is None or (text.strip("\ufeff \t\r\n") == "{}" and edits.at(text, ()) == {})


def wiring(data: str) -> Wiring:
    """Return what the files of a target depend on, for a look at what is there."""
    return Wiring(data, sandbox=codex.sandboxed(data))


def expected(target: Target, data: str) -> list[File]:
    """Return the files of a target, each with the text it should have. Raises MemmanError."""
    return target.files(replace(wiring(data), mcp=target.name in InstallRecord(data).served))


def installed(target: Target, data: str) -> bool:
    """Whether anything of ours stands in the agent's files."""
    return bool(entries(InstallRecord(data), [target], wiring(data)))


def drift(target: Target, data: str) -> list[str]:
    """Say how an installed target differs from what this version ships, one line per difference."""
    wrong = [] if launched(data) else [f"the launcher is missing: {wiring(data).launcher}"]
    try:
        files = expected(target, data)
    except (MemmanError, CannotEdit) as error:
        return [*wrong, str(error)]
    manifest = InstallRecord(data)
    for file in files:
        try:
            if plan(manifest, file).verb:
                wrong.append(f"{file.path} was changed or is from another version ({file.what})")
        except MemmanError as error:
            wrong.append(str(error))
    return wrong


def switched_off(target: Target) -> list[tuple[str, str]]:
    """Return what in an agent's settings switches hooks off, each with what a person does then."""
    return [
        (f"{'.'.join(keys)} in {path} switches hooks off", step or f"set it to {str(not off).lower()}")
        for path in target.settings()
        for keys, off, step in _SWITCHES.get(target.name, ())
        if (found := look(path, keys)) is off or (isinstance(found, list) and off in found)
    ]


def unreadable(target: Target) -> list[str]:
    """Return one line for each settings file of the agent that cannot be parsed."""
    wrong = []
    for path in target.settings():
        try:
            text = decoded(content(path)) or ""
            parts.read_toml(text) if path.endswith(".toml") else edits.at(text, ())
        except (CannotEdit, MemmanError) as error:
            wrong.append(f"{path}: {error}")
    return wrong
