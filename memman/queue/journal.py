"""What each paid stage of each note gave, so that a drain that resumes pays for nothing twice."""

import apsw

from memman.model.objects import parsed
from memman.sqlite import TranslatedErrors


class Journal:
    """The journal of one queue, over its open connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db

    def read(self, note: str, stage: str, version: str) -> str | None:
        """Return a stage's output for `note`, None where it has none of this version, or what is no JSON."""
        sql = "SELECT CAST(output AS BLOB) FROM journal WHERE note = ? AND stage = ? AND version = ?"
        with TranslatedErrors(self.db.filename):
            text = str(self.db.execute(sql, (note, stage, version)).get or b"", "utf-8", "replace")
        return None if parsed(text) is None else text

    def write(self, note: str, stage: str, version: str, output: str) -> None:
        """Keep a stage's output for `note`. The note has got further, so its attempts count afresh."""
        with TranslatedErrors(self.db.filename):
            sql = "INSERT OR REPLACE INTO journal(note, stage, version, output) VALUES (?, ?, ?, ?)"
            self.db.execute(sql, (note, stage, version, output))
            self.db.execute("UPDATE note SET attempts = 1 WHERE uid = ? AND attempts > 1", (note,))
