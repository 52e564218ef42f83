"""What each paid stage of each note gave, so that a drain that resumes pays for nothing twice."""

import apsw

from memman.sqlite import Guard


class Journal:
    """The journal of one queue, over its open connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db

    def read(self, note: str, stage: str, version: str) -> str | None:
        """Return a stage's output for `note`, None where it has none of this version."""
        sql = "SELECT output FROM journal WHERE note = ? AND stage = ? AND version = ?"
        with Guard(self.db.filename):
            found: str | None = self.db.execute(sql, (note, stage, version)).get
        return found

    def write(self, note: str, stage: str, version: str, output: str) -> None:
        """Keep a stage's output for `note`. The note has got further, so its attempts count afresh."""
        with Guard(self.db.filename):
            self.db.execute("INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?)", (note, stage, version, output))
            self.db.execute("UPDATE note SET attempts = 1 WHERE uid = ? AND attempts > 1", (note,))
