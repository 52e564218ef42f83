"""queue.db opened only to be looked at: nothing is created, nothing is written."""

from memman.config.places import queue_path
from memman.queue.damage import register_reading_functions
from memman.queue.notes import Queue
from memman.queue.schema import look
from memman.sqlite import TranslatedErrors

WAITING = ("pending", "running", "parked")


class QueueView(Queue):
    """The reading half of the queue; where there is no file yet, an empty one."""

    def __init__(self, data: str) -> None:
        self.path = queue_path(data)
        with TranslatedErrors(self.path):
            self.db = look(self.path)
            register_reading_functions(self.db)

    def hold(self) -> None:
        """Show, until it is closed, what waits at this moment, whatever others do."""
        with TranslatedErrors(self.path):
            self.db.execute("BEGIN")
            self.db.execute("SELECT 1 FROM note LIMIT 1").get  # noqa: B018 - the first read is what holds it

    def close(self) -> None:
        """Close."""
        self.db.close()

    def named(self, store: str, part: str) -> list[str]:
        """Return the notes of `store` that wait and whose uid ends with `part`."""
        sql = "SELECT uid FROM note WHERE store = ? AND state <> 'done' AND uid LIKE '%' || ? ORDER BY id LIMIT 10"
        with TranslatedErrors(self.path):
            return [str(uid) for (uid,) in self.db.execute(sql, (store, part))]

    def of(self, store: str) -> list[str]:
        """Return the notes of `store` that wait, parked ones too, oldest first."""
        sql = "SELECT uid FROM note WHERE store = ? AND state <> 'done' ORDER BY id"
        with TranslatedErrors(self.path):
            return [str(uid) for (uid,) in self.db.execute(sql, (store,))]

    def stored(self) -> list[str]:
        """Return the stores that notes are done with."""
        with TranslatedErrors(self.path):
            return [str(store) for (store,) in self.db.execute("SELECT DISTINCT store FROM note WHERE state = 'done'")]
