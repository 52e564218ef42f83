"""What each paid stage of each note gave, so that a drain that resumes pays for nothing twice."""

import apsw

from memman.queue.seal import number
from memman.sqlite import TranslatedErrors


class Journal:
    """The journal of one queue, over its open connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db

    def read(self, note: str, stage: str, version: str) -> str | None:
        """Return a stage's output for `note`, None where it has none of this version, or a damaged one."""
        sql = "SELECT CAST(output AS BLOB), digest FROM journal WHERE note = ? AND stage = ? AND version = ?"
        with TranslatedErrors(self.db.filename):
            raw, digest = self.db.execute(sql, (note, stage, version)).fetchone() or (b"", 0)
        return None if digest not in {None, _digest(note, stage, version, raw)} else str(raw, "utf-8")

    def write(self, note: str, stage: str, version: str, output: str) -> None:
        """Keep a stage's output for `note`. The note has got further, so its attempts count afresh."""
        with TranslatedErrors(self.db.filename):
            row = (note, stage, version, output, _digest(note, stage, version, output.encode()))
            self.db.execute("INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?, ?)", row)
            self.db.execute("UPDATE note SET attempts = 1 WHERE uid = ? AND attempts > 1", (note,))


def _digest(note: str, stage: str, version: str, output: bytes) -> int:
    return number(f"{note}\x1f{stage}\x1f{version}\x1f".encode() + output)
