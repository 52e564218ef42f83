"""Append notes: the whole write side of the agent's turn. Safe on the hot path."""

from memman.config.drain_by_write import ask
from memman.config.places import ensure_safe_folder, queue_path
from memman.queue.entry import entry
from memman.queue.schema import open_queue
from memman.sqlite import Transaction, TranslatedErrors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

MAX_BYTES = 65_536

# The newest note of the store that still waits.
_NEWEST = "FROM note WHERE store = :store AND state IN ('pending', 'running') ORDER BY id DESC LIMIT 1"
# What is queued of a note.
COLUMNS = (
    *("uid", "store", "text", "category", "importance", "entities", "replaces", "source", "agent", "session", "cwd"),
    *("repository", "revision", "host", "user", "queued_at", "channel", "reply", "shown", "scope", "ends_at"),
    "visibility",
)
_INSERT = f"""
INSERT INTO note({", ".join(COLUMNS)}, changed_at) SELECT :{", :".join(COLUMNS)}, :queued_at
WHERE (:text, :reply, :replaces) IS NOT (SELECT text, reply, replaces {_NEWEST})
  AND NOT EXISTS (SELECT 1 FROM note WHERE uid = :uid)
"""


def append(data: str, note: "dict[str, str | int | None]") -> tuple[str, bool]:
    """Queue `note`, as `entry` takes it, and return (uid, whether it is new) once it is on disk; ask for a drain."""
    return append_all(data, (note,))[0]


def append_all(data: str, notes: "Iterable[dict[str, str | int | None]]") -> list[tuple[str, bool]]:
    """Queue all of `notes` or none, in one write and as said at one moment, as `append` does."""
    rows = [entry(note) for note in notes]
    told = insert_all(data, [row | {"queued_at": rows[0]["queued_at"]} for row in rows])
    ask(data)
    return told


def insert(data: str, row: "dict[str, str | int | None]") -> tuple[str, bool]:
    """Queue a row of `entry` and return (uid, whether it is new) once it is on disk.

    Where the newest note of the store still waits and says the same, its uid is returned; what was said before
    another note is said again. A row that is queued already, or was, is left as it is.
    """
    return insert_all(data, [row])[0]


def insert_all(data: str, rows: "list[dict[str, str | int | None]]") -> list[tuple[str, bool]]:
    """Queue rows as `insert` does, all of them or none."""
    ensure_safe_folder(data)
    path = queue_path(data)
    with TranslatedErrors(path):
        db = open_queue(path)
        with Transaction(db):
            told = [_inserted(db, row) for row in rows]
        db.close()
    return told


def _inserted(db: "apsw.Connection", row: "dict[str, str | int | None]") -> tuple[str, bool]:
    db.execute(_INSERT, {"ends_at": None, **row})
    fresh = db.changes() == 1
    uid = row["uid"] if fresh else db.execute(f"SELECT uid {_NEWEST}", {"store": row["store"]}).get
    return str(uid), fresh
