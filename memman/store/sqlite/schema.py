"""The tables of a store, and the steps from every released schema to this one. Safe on the hot path."""

from memman.model.vocabulary import EDGE_KINDS
from memman.sqlite import upgrade
from memman.store.sqlite.seal import register_functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

V1 = """
CREATE TABLE memory(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    note TEXT NOT NULL,
    text TEXT NOT NULL,
    category TEXT NOT NULL,
    importance INTEGER NOT NULL,
    entities TEXT NOT NULL,
    keywords TEXT NOT NULL,
    summary TEXT NOT NULL,
    source TEXT NOT NULL,
    origin TEXT NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    recorded_at INTEGER NOT NULL,
    retired_at INTEGER,
    status TEXT NOT NULL DEFAULT 'current' CHECK (status IN ('current', 'superseded', 'forgotten')),
    superseded_by INTEGER REFERENCES memory(id),
    uses INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX memory_origin ON memory(origin, id);
CREATE INDEX memory_note ON memory(substr(note, -8));
CREATE INDEX memory_successor ON memory(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE TABLE receipt(
    note TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    facts INTEGER NOT NULL DEFAULT 0,
    agent TEXT NOT NULL DEFAULT '',
    session TEXT NOT NULL DEFAULT '',
    cwd TEXT NOT NULL DEFAULT '',
    repository TEXT NOT NULL DEFAULT '',
    revision TEXT NOT NULL DEFAULT '',
    host TEXT NOT NULL DEFAULT '',
    user TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE entity(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, count INTEGER NOT NULL DEFAULT 0);
CREATE TABLE mention(
    entity INTEGER NOT NULL REFERENCES entity(id),
    memory INTEGER NOT NULL REFERENCES memory(id),
    PRIMARY KEY (entity, memory)
) WITHOUT ROWID;
CREATE TABLE link(
    src INTEGER NOT NULL,
    kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3),
    dst INTEGER NOT NULL,
    weight INTEGER NOT NULL CHECK (weight BETWEEN 0 AND 10000),
    detail TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (src, kind, dst)
) WITHOUT ROWID;
CREATE INDEX link_back ON link(dst, kind);
CREATE VIEW edge AS SELECT
    src,
    CASE kind WHEN 0 THEN 'temporal' WHEN 1 THEN 'entity' WHEN 2 THEN 'causal' ELSE 'semantic' END AS kind,
    dst,
    weight / 10000.0 AS weight,
    CASE WHEN kind = 0 AND detail = '' THEN iif(weight = 10000, 'next', 'near') ELSE detail END AS detail
FROM link;
CREATE VIRTUAL TABLE fts USING fts5(
    text, terms, context, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'
);
CREATE TABLE embedder(
    id INTEGER PRIMARY KEY,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    UNIQUE (provider, model, dimension)
);
CREATE TABLE code(
    embedder INTEGER NOT NULL,
    cell INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    code BLOB NOT NULL,
    PRIMARY KEY (embedder, cell, memory)
) WITHOUT ROWID;
CREATE TABLE vector(
    embedder INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    cell INTEGER NOT NULL,
    planes BLOB NOT NULL,
    squares INTEGER NOT NULL,
    PRIMARY KEY (embedder, memory)
) WITHOUT ROWID;
CREATE TABLE cell(
    embedder INTEGER NOT NULL,
    id INTEGER NOT NULL,
    centroid BLOB NOT NULL,
    PRIMARY KEY (embedder, id)
) WITHOUT ROWID;
CREATE TABLE beacon(
    embedder INTEGER NOT NULL,
    cell INTEGER NOT NULL,
    code BLOB NOT NULL,
    PRIMARY KEY (embedder, cell)
) WITHOUT ROWID;
CREATE TABLE alias(
    name TEXT NOT NULL,
    means TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memory(id),
    PRIMARY KEY (name, means, memory)
) WITHOUT ROWID;
CREATE TABLE log(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    verb TEXT NOT NULL,
    memory TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    before TEXT,
    after TEXT
);
CREATE INDEX log_memory ON log(memory);
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

# A memory may be held back for review, and each row carries the digest of what it says (see `seal`). The table is made
# anew, as SQLite wants it where a constraint changes; its sequence goes on where it was.
V2 = """
CREATE TABLE sealed(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    note TEXT NOT NULL,
    text TEXT NOT NULL,
    category TEXT NOT NULL,
    importance INTEGER NOT NULL,
    entities TEXT NOT NULL,
    keywords TEXT NOT NULL,
    summary TEXT NOT NULL,
    source TEXT NOT NULL,
    origin TEXT NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    recorded_at INTEGER NOT NULL,
    retired_at INTEGER,
    status TEXT NOT NULL DEFAULT 'current' CHECK (status IN ('current', 'superseded', 'forgotten', 'review')),
    superseded_by INTEGER REFERENCES memory(id),
    uses INTEGER NOT NULL DEFAULT 0,
    digest INTEGER NOT NULL DEFAULT 0
);
INSERT INTO sealed SELECT
    id, uid, note, text, category, importance, entities, keywords, summary, source, origin,
    valid_from, valid_to, recorded_at, retired_at, status, superseded_by, uses, row_digest(
        id, uid, note, text, category, importance, entities, keywords, summary, source, origin,
        valid_from, valid_to, recorded_at, retired_at, status, superseded_by
    )
FROM memory ORDER BY id;
DELETE FROM sqlite_sequence WHERE name = 'sealed';
UPDATE sqlite_sequence SET name = 'sealed' WHERE name = 'memory';
DROP TABLE memory;
ALTER TABLE sealed RENAME TO memory;
CREATE INDEX memory_origin ON memory(origin, id);
CREATE INDEX memory_note ON memory(substr(note, -8));
CREATE INDEX memory_successor ON memory(superseded_by) WHERE superseded_by IS NOT NULL;
"""

# By which rules for secrets each memory was screened (see `screened`), in place of a mark of the whole store.
V3 = """
ALTER TABLE memory ADD COLUMN screened INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memory_screened ON memory(screened);
DELETE FROM meta WHERE key = 'screened' OR key GLOB 'leak:*';
"""

# What each memory holds for: everywhere (scope 0), a repository, or a folder of it. Up to now nobody said, so it is the
# repository that a memory was made in.
V4 = """
CREATE TABLE scope(
    id INTEGER PRIMARY KEY,
    repository TEXT NOT NULL,
    path TEXT NOT NULL DEFAULT '',
    UNIQUE (repository, path)
);
CREATE TABLE scoped(memory INTEGER PRIMARY KEY REFERENCES memory(id), scope INTEGER NOT NULL REFERENCES scope(id));
CREATE INDEX scoped_scope ON scoped(scope);
INSERT INTO scope(id, repository) VALUES (0, '');
"""
# And again where a recovered store has lost that of some memories.
BY_RECEIPT = """
INSERT INTO scope(repository) SELECT DISTINCT r.repository FROM memory m JOIN receipt r ON r.note = m.note
    WHERE r.repository <> '' ORDER BY m.id ON CONFLICT DO NOTHING;
INSERT INTO scoped SELECT m.id, coalesce(s.id, 0) FROM memory m LEFT JOIN receipt r ON r.note = m.note
    LEFT JOIN scope s ON s.repository = r.repository AND s.path = ''
    WHERE m.id NOT IN (SELECT memory FROM scoped);
"""

# What a person wants to know of a memory beside what it says: how long it holds, of which files it speaks, who bore it
# out or spoke against it, and where it was shown; of a note which drain stored it, by which models (JSON: stage ->
# model), and what it changed of older memories (see `images`). What was rejected is kept as a digest, so that nobody
# asks again. Kinds of edges have their names in a table.
V5 = """
ALTER TABLE receipt ADD COLUMN drain TEXT NOT NULL DEFAULT '';
ALTER TABLE receipt ADD COLUMN models TEXT NOT NULL DEFAULT '';
ALTER TABLE receipt ADD COLUMN changed TEXT NOT NULL DEFAULT '';
CREATE TABLE freshness(
    memory INTEGER PRIMARY KEY REFERENCES memory(id),
    ends_at INTEGER,
    verified_at INTEGER
);
CREATE TABLE file(
    memory INTEGER NOT NULL REFERENCES memory(id),
    path TEXT NOT NULL,
    blob TEXT NOT NULL,
    changed_at INTEGER,
    PRIMARY KEY (memory, path)
) WITHOUT ROWID;
CREATE TABLE evidence(
    memory INTEGER NOT NULL REFERENCES memory(id),
    kind TEXT NOT NULL,
    session TEXT NOT NULL DEFAULT '',
    at INTEGER NOT NULL,
    PRIMARY KEY (memory, kind, session)
) WITHOUT ROWID;
CREATE TABLE shown(
    memory INTEGER NOT NULL REFERENCES memory(id),
    session TEXT NOT NULL DEFAULT '',
    way TEXT NOT NULL,
    agent TEXT NOT NULL DEFAULT '',
    at INTEGER NOT NULL,
    times INTEGER NOT NULL DEFAULT 1,
    tokens INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (memory, session, way)
) WITHOUT ROWID;
CREATE TABLE rejected(digest BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE rule(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    tool TEXT NOT NULL DEFAULT '',
    pattern TEXT NOT NULL DEFAULT '',
    action TEXT NOT NULL DEFAULT 'inform' CHECK (action IN ('inform', 'ask', 'deny')),
    scope INTEGER NOT NULL DEFAULT 0 REFERENCES scope(id),
    memory TEXT NOT NULL DEFAULT '',
    made_at INTEGER NOT NULL,
    ends_at INTEGER,
    snoozed_until INTEGER,
    hits INTEGER NOT NULL DEFAULT 0,
    hit_at INTEGER
);
DROP VIEW edge;
CREATE TABLE edge_kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
INSERT INTO edge_kind VALUES (0, 'temporal'), (1, 'entity'), (2, 'causal'), (3, 'semantic');
CREATE TABLE linked(
    src INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    dst INTEGER NOT NULL,
    weight INTEGER NOT NULL CHECK (weight BETWEEN 0 AND 10000),
    detail TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (src, kind, dst)
) WITHOUT ROWID;
INSERT INTO linked SELECT * FROM link ORDER BY src, kind, dst;
DROP TABLE link;
ALTER TABLE linked RENAME TO link;
CREATE INDEX link_back ON link(dst, kind);
CREATE VIEW edge AS SELECT
    src,
    edge_kind.name AS kind,
    dst,
    weight / 10000.0 AS weight,
    CASE WHEN kind = 0 AND detail = '' THEN iif(weight = 10000, 'next', 'near') ELSE detail END AS detail
FROM link JOIN edge_kind ON edge_kind.id = link.kind;
"""

# Of a store that several people share: who wrote each memory, who may see it, and who retired it. And what is said of a
# memory is found by it, for it is sent with it.
V6 = """
CREATE INDEX mention_memory ON mention(memory);
CREATE INDEX alias_memory ON alias(memory);
CREATE TABLE authorship(
    memory INTEGER PRIMARY KEY REFERENCES memory(id),
    author TEXT NOT NULL DEFAULT '',
    visibility TEXT NOT NULL CHECK (visibility IN ('private', 'shared')),
    retired_by TEXT NOT NULL DEFAULT ''
);
"""

# Step n takes a file from schema n to schema n + 1, and changes a table. Released steps are never edited.
STEPS = (V1, V2, V3, V4 + BY_RECEIPT, V5, V6)
VERSION = len(STEPS)


def migrate(db: "apsw.Connection", path: str, steps: "Sequence[str]" = STEPS) -> None:
    """Bring a store to the newest schema. Raises NewerSchema."""
    upgrade(db, path, steps, register_functions=register_functions)
    if len(steps) >= len(STEPS) and db.execute("SELECT count(*) FROM edge_kind").get < len(EDGE_KINDS):
        db.executemany("INSERT OR IGNORE INTO edge_kind VALUES (?, ?)", list(enumerate(EDGE_KINDS)))


# How edges are stored: kinds by number, weights in ten-thousandths, and no detail that the weight tells.
UNIT_WEIGHT = 10_000

# The sign codes of hidden memories wait here to be brought back: a cell that no scan enters.
HIDDEN_CELL = -1
