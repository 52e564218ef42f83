"""A store of an earlier schema taken over: it stands as before."""

import lzma
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memman.sqlite import open_writer
from memman.store.sqlite import index, record_log
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore

FIRST = Path(__file__).parents[2] / "data/first_schema/memman.db.xz"
AT = 1795916140000
HELD, FORGOTTEN, UNDONE, PURGED, BACK, PORT = (letter * 20 for letter in "abcdef")
# What n3 said is undone; the undo of n6, by which PORT is superseded by BACK, was itself undone.
UNDO, FIRST_UNDO, SECOND_UNDO = (f"01a224f1ffff7e5ba5447f77a2d2fff{digit}" for digit in "f12")
# More of everything than the first store has: its memory 2 is superseded by 5, 1 is protected, 3 has an end.
HOLDS, REPLACED = '["current",null,null,null]', f'["superseded",{AT + 1},{AT + 1},9]'
IMAGE = f'["memory",[10],{HOLDS},{REPLACED}]'
TAKEN_BACK = f'["memory",[10],{REPLACED},{HOLDS}],["memory",[9],{HOLDS},["forgotten",null,{AT + 6},null]]'
BROUGHT_BACK = f'{IMAGE},["memory",[9],["forgotten",null,{AT + 6},null],{HOLDS}]'
REST = '"notes":[],"put":[],"moved":[],"named":[]'
ADDED = f"""
CREATE TEMP TABLE more(uid, note, status, retired_at);
INSERT INTO more VALUES ('{HELD}', 'n1', 'review', NULL), ('{FORGOTTEN}', 'n2', 'forgotten', {AT + 2}),
    ('{UNDONE}', 'n3', 'forgotten', {AT + 3}), ('{BACK}', 'n6', 'current', NULL),
    ('{PORT}', 'n7', 'superseded', {AT + 1});
INSERT INTO memory(uid, note, text, category, importance, entities, keywords, summary, source, origin, valid_from,
    recorded_at, retired_at, status)
    SELECT uid, note, 'The text of ' || uid, 'fact', 3, '["X"]', '[]', '', 'agent', 'claude-code:s1', {AT}, {AT},
    retired_at, status FROM more;
DROP TABLE more;
UPDATE memory SET valid_to = {AT + 1}, superseded_by = 9 WHERE id = 10;
INSERT INTO receipt(note, at, outcome, facts, agent, session, changed)
    SELECT note, {AT}, 'stored', 1, 'claude-code', 's1', '' FROM memory WHERE id > 5;
INSERT INTO receipt(note, at, outcome, agent, session, changed) VALUES ('n4', {AT + 4}, 'known', 'claude-code', 's2',
    '[["evidence",[4,"said","s2"],null,[{AT + 4}]],["file",[4,"docs/conf.py"],null,["blob",null]],'
    || '["link",[4,2,2],null,[9000,""]],["freshness",[4],null,[{AT * 2},null]],["memory",[-1],null,null],'
    || '["meta",["maybe:db9bbb87c47fa7c0edb7"],null,["2cf6133c4494e91230ef"]],["meta",["spread:x"],null,["[]"]]]');
UPDATE receipt SET at = {AT + 1}, changed = '[{IMAGE}]' WHERE note = 'n6';
INSERT INTO receipt(note, at, outcome) VALUES ('n5', {AT}, 'purged');
INSERT INTO evidence VALUES (4, 'said', 's2', {AT + 4}), (1, 'helpful', 's3', {AT + 5});
INSERT INTO file VALUES (4, 'docs/conf.py', 'blob', {AT});
INSERT INTO link VALUES (4, 2, 2, 9000, ''), (1, 1, 4, 10000, 'manual: by hand');
INSERT INTO freshness VALUES (4, {AT * 2}, NULL);
INSERT INTO scope VALUES (9, 'example.org/quill', 'docs');
INSERT INTO scoped VALUES (6, 9), (7, 9), (8, 0), (9, 0), (10, 0);
UPDATE scoped SET scope = 9 WHERE memory = 4;
INSERT INTO rejected VALUES (x'00ff', {AT});
INSERT INTO meta VALUES ('maybe:db9bbb87c47fa7c0edb7', '2cf6133c4494e91230ef'), ('held:{HELD}', '{AT}'),
    ('claims:1dd5458251faaaac3b99', '{{"db9bbb87c47fa7c0edb7":"surely"}}'), ('replaced:n9', '3 {AT}'),
    ('undo:{UNDO}', '{{"at":{AT + 3},"what":"note n3","did":"1 undone","undone":"","images":[["memory",[8],'
    || '{HOLDS},["forgotten",null,{AT + 3},null]]],{REST}}}'),
    ('undo:{FIRST_UNDO}', '{{"at":{AT + 6},"what":"note n6","did":"1 undone","undone":"{SECOND_UNDO}",'
    || '"images":[{TAKEN_BACK}],{REST}}}'),
    ('undo:{SECOND_UNDO}', '{{"at":{AT + 7},"what":"undo a2d2fff1","did":"1 restored","undone":"",'
    || '"images":[{BROUGHT_BACK}],{REST}}}');
INSERT INTO log(at, verb, memory, note, before, after) VALUES
    ({AT}, 'hold', '{HELD}', 'n1', NULL, '{{"text":"The text of {HELD}","category":"fact","why":"orders"}}'),
    ({AT}, 'add', '{FORGOTTEN}', 'n2', NULL, '{{"text":"The text of {FORGOTTEN}","category":"fact"}}'),
    ({AT}, 'add', '{UNDONE}', 'n3', NULL, '{{"text":"The text of {UNDONE}","category":"fact"}}'),
    ({AT + 2}, 'forget', '{FORGOTTEN}', '', '{{"status":"current"}}', '{{"status":"forgotten","session":"s9"}}'),
    ({AT + 3}, 'undo', '{UNDO}', '', NULL, '{{"why":"note n3: 1 undone"}}'),
    ({AT + 4}, 'confirm', '2cf6133c4494e91230ef', 'n4', NULL, NULL),
    ({AT + 5}, 'feedback', 'b05656c87a1ba572cedf', '', NULL, '{{"why":"helpful","session":"s3"}}'),
    ({AT + 6}, 'purge', '{PURGED}', 'n5', NULL, NULL),
    ({AT}, 'add', '{BACK}', 'n6', NULL, '{{"text":"The text of {BACK}","category":"fact"}}'),
    ({AT}, 'add', '{PORT}', 'n7', NULL, '{{"text":"The text of {PORT}","category":"fact"}}'),
    ({AT + 1}, 'supersede', '{PORT}', 'n6', '{{"status":"current"}}',
        '{{"status":"superseded","superseded_by":9,"valid_to":{AT + 1}}}'),
    ({AT + 6}, 'undo', '{FIRST_UNDO}', '', NULL, '{{"why":"note n6: 1 undone"}}'),
    ({AT + 7}, 'undo', '{SECOND_UNDO}', '', NULL, '{{"why":"undo a2d2fff1: 1 restored"}}');
"""
# What a store says, without what is local to a schema.
# How the settings began that an earlier schema named after a memory, and what is in their place.
MARKS = "'protected:', 'held:', 'maybe:', 'claims:'"
MARKED = (
    "SELECT m.uid, protected, held, n.uid FROM mark JOIN memory m ON m.id = memory LEFT JOIN memory n ON n.id = maybe"
)
SAID = {
    "memory": "SELECT id, uid, note, text, category, importance, entities, keywords, summary, source, origin,"
    " valid_from, valid_to, recorded_at, retired_at, status, superseded_by, uses, screened FROM memory",
    "receipt": "SELECT note, at, outcome, facts, agent, session, cwd, repository, revision, host, user, drain, models"
    " FROM receipt",
    **{
        table: f"SELECT * FROM {table}"
        for table in "link scope scoped evidence freshness file rule rejected vector code".split()
    },
    "meta": f"SELECT * FROM meta WHERE substr(key, 1, instr(key, ':')) NOT IN ('undo:', 'replaced:', {MARKS})",
}


@pytest.fixture(name="path")
def _path(tmp_path):
    """Return a store of an earlier schema."""
    path = tmp_path / "data/one/memman.db"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(lzma.decompress(FIRST.read_bytes()))
    path.chmod(0o600)
    db = open_writer(str(path))
    db.execute(ADDED)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return str(path)


def said(path):
    """Return all that a store says."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    told = {table: sorted(map(repr, db.execute(sql))) for table, sql in SAID.items()}
    told["marks"] = sorted(marks(db))
    db.close()
    return told


def marks(db):
    """Return since when each memory is protected or held back, what maybe replaces it, and what it contradicts."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'mark'").get is None:
        sql = f"SELECT key, value FROM meta WHERE substr(key, 1, instr(key, ':')) IN ({MARKS})"
        return [(key, str(value)) for key, value in db.execute(sql)]
    found = []
    for uid, *values in db.execute(MARKED):
        told = zip(("protected", "held", "maybe"), values, strict=True)
        found += [(f"{mark}:{uid}", str(value)) for mark, value in told if value is not None]
    sql = (
        "SELECT 'claims:' || n.uid, json_group_object(o.uid, iif(sure, 'surely', 'maybe')) FROM claim"
        " JOIN memory n ON n.id = claim.memory JOIN memory o ON o.id = against GROUP BY n.uid"
    )
    return found + list(db.execute(sql))


def test_a_store_stands_as_it_stood(path):
    """Rows are the same before and after, and the same again when they are made of the records alone."""
    before = said(path)
    store = SqliteStore(path)
    assert said(path) == before
    assert store.reader.meta("replaced:n9") == f"db9bbb87c47fa7c0edb7 {AT}"
    assert record_log.damaged(store.db) == []
    with store.unit() as unit:
        index.rewrite(unit.db, list(record_log.memories(unit.db)))
    store.db.execute(f"UPDATE file SET changed_at = {AT}")  # found out by drains
    assert said(path) == before
    store.close()


def test_who_only_reads_a_store_takes_it_over_too(path):
    """Before any drain has come: verbs and hooks answer from it, and none takes it for damaged."""
    for _ in range(2):
        with closing(SqliteReader.open(path)) as reader:
            assert reader.located([BACK])
