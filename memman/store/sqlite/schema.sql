-- The tables of a store: the log of records, and the index that recall reads, made of them.
-- `screened` tells by which rules for secrets a memory was screened.
-- Scope 0 is everywhere. A rejected text is kept as a digest. `receipt.models` is JSON: stage -> model.
-- `mark` tells since when a person protects a memory and since when it is held back, and what maybe replaces it; `claim`
-- what a memory that only an agent has said is against. Memories that a record names and that are not there yet are
-- `awaited`; `ignored` are those of acts that another machine did first. Host 1 is this machine; others that are `ours`
-- it was before. The log leaves out verbs whose lines stand in another's, or that concern no reader.
CREATE TABLE host(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    n INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL DEFAULT 0,
    ours INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE record(
    id INTEGER PRIMARY KEY,
    host INTEGER NOT NULL REFERENCES host(id),
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    act TEXT NOT NULL,
    memory TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    author TEXT NOT NULL DEFAULT '',
    visibility TEXT NOT NULL DEFAULT '',
    sum INTEGER NOT NULL,
    UNIQUE (host, n)
);
CREATE INDEX record_memory ON record(memory);
CREATE INDEX record_act ON record(act);
CREATE INDEX record_at ON record(at);
CREATE INDEX record_purged ON record(memory) WHERE kind = 'purged';
CREATE INDEX record_undone ON record(id) WHERE kind = 'undone' AND memory = act;
CREATE TABLE ignored(record INTEGER PRIMARY KEY);
CREATE VIEW log AS SELECT
    id,
    at,
    act,
    body ->> 'how' AS verb,
    memory,
    iif(EXISTS (SELECT 1 FROM receipt WHERE note = act), act, '') AS note,
    body -> 'was' AS before,
    iif(kind = 'learned', json_patch(json_object('text', body ->> '$.set.text.text', 'category', body ->> '$.set.text.category'), coalesce(body -> 'now', '{}')), body -> 'now') AS after
FROM record WHERE body <> '' AND id NOT IN (SELECT record FROM ignored) AND verb NOT IN ('settle', 'cause', 'support', 'name', 'note', 'refuse', 'take over');
CREATE TABLE awaited(uid TEXT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY (uid, memory)) WITHOUT ROWID;
CREATE TABLE memory(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    note TEXT NOT NULL,
    text TEXT NOT NULL,
    category TEXT NOT NULL,
    importance INTEGER NOT NULL,
    entities TEXT NOT NULL DEFAULT '[]',
    keywords TEXT NOT NULL DEFAULT '[]',
    summary TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL,
    origin TEXT NOT NULL DEFAULT '',
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    recorded_at INTEGER NOT NULL,
    retired_at INTEGER,
    status TEXT NOT NULL DEFAULT 'current' CHECK (status IN ('current', 'superseded', 'forgotten', 'review')),
    superseded_by INTEGER REFERENCES memory(id),
    uses INTEGER NOT NULL DEFAULT 0,
    screened INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX memory_origin ON memory(origin, id);
CREATE INDEX memory_note ON memory(substr(note, -8));
CREATE INDEX memory_successor ON memory(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_screened ON memory(screened);
CREATE INDEX memory_began ON memory(valid_from);
CREATE TABLE mark(memory INTEGER PRIMARY KEY, protected INTEGER, held INTEGER, maybe INTEGER REFERENCES memory(id));
CREATE INDEX mark_protected ON mark(protected) WHERE protected IS NOT NULL;
CREATE INDEX mark_maybe ON mark(maybe) WHERE maybe IS NOT NULL;
CREATE TABLE claim(
    memory INTEGER NOT NULL REFERENCES memory(id),
    against INTEGER NOT NULL REFERENCES memory(id),
    sure INTEGER NOT NULL,
    PRIMARY KEY (memory, against)
) WITHOUT ROWID;
CREATE INDEX claim_against ON claim(against);
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
    user TEXT NOT NULL DEFAULT '',
    drain TEXT NOT NULL DEFAULT '',
    models TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE edge_kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE link(
    src INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    dst INTEGER NOT NULL,
    weight INTEGER NOT NULL CHECK (weight BETWEEN 0 AND 10000),
    detail TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (src, kind, dst)
) WITHOUT ROWID;
CREATE INDEX link_back ON link(dst, kind);
CREATE VIEW edge AS SELECT
    src,
    edge_kind.name AS kind,
    dst,
    weight / 10000.0 AS weight,
    CASE WHEN kind = 0 AND detail = '' THEN iif(weight = 10000, 'next', 'near') ELSE detail END AS detail
FROM link JOIN edge_kind ON edge_kind.id = link.kind;
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
CREATE TABLE scope(
    id INTEGER PRIMARY KEY,
    repository TEXT NOT NULL,
    path TEXT NOT NULL DEFAULT '',
    UNIQUE (repository, path)
);
INSERT INTO scope(id, repository) VALUES (0, '');
CREATE TABLE scoped(memory INTEGER PRIMARY KEY REFERENCES memory(id), scope INTEGER NOT NULL REFERENCES scope(id));
CREATE INDEX scoped_scope ON scoped(scope);
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
CREATE TABLE authorship(
    memory INTEGER PRIMARY KEY REFERENCES memory(id),
    author TEXT NOT NULL DEFAULT '',
    visibility TEXT NOT NULL CHECK (visibility IN ('private', 'shared')),
    retired_by TEXT NOT NULL DEFAULT ''
);
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
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE turn(note TEXT PRIMARY KEY, typed TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE outdated(memory INTEGER PRIMARY KEY);
CREATE TABLE unlinked(memory INTEGER PRIMARY KEY);
