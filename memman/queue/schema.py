"""The tables of queue.db. Safe on the hot path."""

import os

from memman.config.places import queue_path, store_path
from memman.sqlite import TranslatedErrors, damaged, open_reader, open_writer, schema_version, there, upgrade

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

# `text` is the user's words and `reply` the agent's where the channel is `turn`; where it is `noted`, `text` is the
# agent's line and `reply` what was said before it, as JSON of [who, text]. `shown` is what the session had been
# shown. `scope`, `ends_at` and `visibility` are what somebody said of the note's memories. Nothing uses `digest`,
# `instead` and `again` any more.
_TABLES = """
CREATE TABLE note(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    store TEXT NOT NULL,
    text TEXT NOT NULL,
    category TEXT,
    importance INTEGER,
    entities TEXT NOT NULL DEFAULT '',
    replaces TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL,
    agent TEXT NOT NULL DEFAULT '',
    session TEXT NOT NULL DEFAULT '',
    cwd TEXT NOT NULL DEFAULT '',
    repository TEXT NOT NULL DEFAULT '',
    revision TEXT NOT NULL DEFAULT '',
    host TEXT NOT NULL DEFAULT '',
    user TEXT NOT NULL DEFAULT '',
    queued_at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done', 'parked')),
    attempts INTEGER NOT NULL DEFAULT 0,
    deferrals INTEGER NOT NULL DEFAULT 0,
    retry_at INTEGER NOT NULL DEFAULT 0,
    changed_at INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    channel TEXT NOT NULL DEFAULT 'note',
    reply TEXT NOT NULL DEFAULT '',
    shown TEXT NOT NULL DEFAULT '',
    digest INTEGER,
    instead INTEGER NOT NULL DEFAULT 0,
    again TEXT NOT NULL DEFAULT '',
    scope TEXT NOT NULL DEFAULT '',
    ends_at INTEGER,
    visibility TEXT NOT NULL DEFAULT ''
);
CREATE INDEX note_state ON note(state, id);
CREATE INDEX note_newest ON note(store, id) WHERE state IN ('pending', 'running');
CREATE TABLE journal(
    note TEXT NOT NULL,
    stage TEXT NOT NULL,
    version TEXT NOT NULL,
    output TEXT NOT NULL,
    digest INTEGER,
    PRIMARY KEY (note, stage)
) WITHOUT ROWID;
CREATE TABLE ledger(
    day TEXT NOT NULL,
    stage TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    tokens_in INTEGER NOT NULL DEFAULT 0,
    tokens_out INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    repository TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (day, stage, provider, model, repository)
) WITHOUT ROWID;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

# By the schema that a step leads to. A step that was released is never edited.
STEPS = {8: _TABLES}
VERSION = max(STEPS)


def open_queue(path: str, *, synchronous: str = "FULL") -> "apsw.Connection":
    """Open queue.db for writing, made on first use, without page checksums. Raises NewerSchema, driver errors."""
    db = open_writer(path, synchronous=synchronous, checked=False)
    upgrade(db, path, STEPS, checked=False)
    return db


def look(path: str) -> "apsw.Connection":
    """Open queue.db only to read; where there is none yet, an empty one in memory. Raises NewerSchema."""
    if there(path):
        db = open_reader(path)
        if schema_version(db, VERSION, path):
            return db
    import apsw

    db = apsw.Connection(":memory:")
    upgrade(db, ":memory:", STEPS, checked=False)
    return db


def refuse_emptied(data: str, store: str) -> None:
    """Raise DamagedFile where a store's file is empty, but the queue has notes that are done with it."""
    path, queue = store_path(data, store), queue_path(data)
    if not os.path.isfile(path) or os.path.getsize(path):
        return
    with TranslatedErrors(queue):
        db = look(queue)
        stored = db.execute("SELECT EXISTS (SELECT 1 FROM note WHERE store = ? AND state = 'done')", (store,)).get
        db.close()
    if stored:
        raise damaged(path, "it is empty: 0 bytes")
