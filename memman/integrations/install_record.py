"""What install changed, so that uninstall can undo it: `install.json`, and the original bytes beside it."""

import json
import os
from dataclasses import asdict, dataclass, field

from memman import __version__
from memman.config.launcher import launcher_path
from memman.config.places import make_folder, read_file, write_file
from memman.integrations.files import content, decoded, digest, swap
from memman.model.errors import CannotWrite
from memman.model.objects import parsed

_DIGITS = 12  # of a fingerprint, in the name of a backup


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
