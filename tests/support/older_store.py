"""A store as an earlier schema had it: what later steps added is taken away again."""

import apsw

# Schema -> what takes a store of it to the one before. Version 2's digests stay: nobody minds a column.
_BACK = {
    6: "DROP TABLE authorship; DROP INDEX mention_memory; DROP INDEX alias_memory;",
    5: """
        DROP VIEW edge;
        ALTER TABLE receipt DROP COLUMN drain;
        ALTER TABLE receipt DROP COLUMN models;
        ALTER TABLE receipt DROP COLUMN changed;
        DROP TABLE freshness; DROP TABLE file; DROP TABLE evidence; DROP TABLE shown; DROP TABLE rejected;
        DROP TABLE rule; DROP TABLE edge_kind;
        CREATE VIEW edge AS SELECT
            src,
            CASE kind WHEN 0 THEN 'temporal' WHEN 1 THEN 'entity' WHEN 2 THEN 'causal' ELSE 'semantic' END AS kind,
            dst,
            weight / 10000.0 AS weight,
            CASE WHEN kind = 0 AND detail = '' THEN iif(weight = 10000, 'next', 'near') ELSE detail END AS detail
        FROM link;
    """,
    4: "DROP TABLE scoped; DROP TABLE scope;",
    3: "DROP INDEX memory_screened; ALTER TABLE memory DROP COLUMN screened;",
}


def take_back(path, version):
    """Take a closed store's file back to an earlier schema."""
    db = apsw.Connection(str(path))
    for later in range(db.execute("PRAGMA user_version").get, version, -1):
        db.execute(_BACK[later])
    db.execute(f"PRAGMA user_version = {version}")
    db.close()
