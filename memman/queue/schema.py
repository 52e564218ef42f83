"""The tables of queue.db. Safe on the hot path."""

from memman.sqlite import open_reader, open_writer, schema_version, there, upgrade

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

_V1 = """
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
    error TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX note_once ON note(store, text, replaces) WHERE state IN ('pending', 'running');
CREATE INDEX note_state ON note(state, id);
CREATE TABLE journal(
    note TEXT NOT NULL,
    stage TEXT NOT NULL,
    version TEXT NOT NULL,
    output TEXT NOT NULL,
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
    PRIMARY KEY (day, stage, provider, model)
) WITHOUT ROWID;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

# A note of channel `turn` is what one turn of an agent left: `text` is the user's words, `reply` the agent's,
# `shown` the memories that the session had been shown.
_V2 = """
ALTER TABLE note ADD COLUMN channel TEXT NOT NULL DEFAULT 'note';
ALTER TABLE note ADD COLUMN reply TEXT NOT NULL DEFAULT '';
ALTER TABLE note ADD COLUMN shown TEXT NOT NULL DEFAULT '';
DROP INDEX note_once;
CREATE UNIQUE INDEX note_once ON note(store, text, reply, replaces) WHERE state IN ('pending', 'running');
"""

# A text waits once more where another came after it: from A to B, back to A, and to B again.
_V3 = """
DROP INDEX note_once;
CREATE INDEX note_newest ON note(store, id) WHERE state IN ('pending', 'running');
"""

# What tells a row that the disk has changed; no digest means that there was none yet.
_V4 = """
ALTER TABLE note ADD COLUMN digest INTEGER;
ALTER TABLE journal ADD COLUMN digest INTEGER;
"""

# Whether the judge decided about a note in place of a model that could not be asked; and of a note that is asked about
# again the uid that it had then.
_V5 = """
ALTER TABLE note ADD COLUMN instead INTEGER NOT NULL DEFAULT 0;
ALTER TABLE note ADD COLUMN again TEXT NOT NULL DEFAULT '';
"""

# Whose the note's memories are to be, where somebody says it: see `memman.config.scope`.
_V6 = """
ALTER TABLE note ADD COLUMN scope TEXT NOT NULL DEFAULT '';
"""

# Until when the note's memories are to hold, where somebody says it, in Unix milliseconds; and in which repository the
# notes were made that a provider was asked about.
_V7 = """
ALTER TABLE note ADD COLUMN ends_at INTEGER;
CREATE TABLE account(
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
INSERT INTO account SELECT *, '' FROM ledger;
DROP TABLE ledger;
ALTER TABLE account RENAME TO ledger;
"""

# Who may see what the note makes, of those who share its store, where somebody says it.
_V8 = """
ALTER TABLE note ADD COLUMN visibility TEXT NOT NULL DEFAULT '';
"""

# Released steps are never edited; each changes a table.
STEPS = (_V1, _V2, _V3, _V4, _V5, _V6, _V7, _V8)
VERSION = len(STEPS)


def open_queue(path: str, *, synchronous: str = "FULL") -> "apsw.Connection":
    """Open queue.db for writing, made on first use. Raises NewerSchema and driver errors.

    Its pages have no checksums: any program that looks into it while notes wait in its log would leave them untrue.
    """
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
