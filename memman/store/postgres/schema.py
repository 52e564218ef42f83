"""The tables of a server, in its schema `memman`, and the steps to this one.

One table for each that hosts share (`memman.store.tables`), partitioned by store: a thousand stores are as many rows,
not as many tables. Row-level security shows nobody a store that they are no member of, nor what others keep to
themselves, and neither to the owner of the tables; a part of a table shows nobody anything, so that none is asked in
place of the whole. The store is named for one transaction (`memman.store`), so that a pooled session has none.
"""

import re

from memman.model.vocabulary import REPLACED, UNDONE

# The parts of a table: a store lies wholly in one of them.
PARTS = 8
# The tables that say who may do what, and which schema this is.
PEOPLE = ("version", "server", "store", "member")

_MEMBERS = """
CREATE SCHEMA memman;
CREATE TABLE memman.version(number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
CREATE TABLE memman.server(id text NOT NULL DEFAULT gen_random_uuid()::text);
INSERT INTO memman.server DEFAULT VALUES;
CREATE TABLE memman.store(
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    seq bigint NOT NULL DEFAULT 0,
    numbers jsonb NOT NULL DEFAULT '{}',
    made_by text NOT NULL
);
CREATE TABLE memman.member(
    store bigint NOT NULL REFERENCES memman.store(id),
    role text NOT NULL,
    may text NOT NULL CHECK (may IN ('read', 'write', 'own')),
    PRIMARY KEY (store, role)
);
"""

# Who asks is passed on by whoever calls a function: inside of it, its owner would be the one. Nobody can pass on a name
# that is not theirs to take.
_MEMBERSHIP = """
CREATE FUNCTION memman.is_member(asking text, which bigint, these text[]) RETURNS boolean LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM memman.member WHERE store = which AND role = asking AND may = ANY(these))
        AND pg_has_role(session_user, asking, 'MEMBER')
$$;
CREATE FUNCTION memman.chosen(asking text, these text[]) RETURNS bigint LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT store FROM memman.member
    WHERE store = nullif(current_setting('memman.store', true), '')::bigint AND role = asking AND may = ANY(these)
        AND pg_has_role(session_user, asking, 'MEMBER')
$$;
CREATE FUNCTION memman.make_store(asking text, called text) RETURNS bigint LANGUAGE sql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH made AS (
        INSERT INTO memman.store(name, made_by) SELECT called, asking WHERE pg_has_role(session_user, asking, 'MEMBER')
        RETURNING id
    )
    INSERT INTO memman.member SELECT id, asking, 'own' FROM made RETURNING store
$$;
CREATE FUNCTION memman.remove_store(asking text, which bigint) RETURNS void LANGUAGE sql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH mine AS (
        SELECT id FROM memman.store WHERE id = which AND memman.is_member(asking, which, '{own}')
    ), gone AS (DELETE FROM memman.member USING mine WHERE member.store = mine.id)
    DELETE FROM memman.store USING mine WHERE memman.store.id = mine.id
$$;
REVOKE EXECUTE ON FUNCTION memman.make_store, memman.remove_store FROM PUBLIC;
CREATE FUNCTION memman.keep_author() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.author := OLD.author;
    RETURN NEW;
END $$;
CREATE FUNCTION memman.keep_seen() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.visibility := OLD.visibility;
    RETURN NEW;
END $$;
CREATE FUNCTION memman.leave_line() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.visibility := OLD.visibility;
    IF NEW.visibility = 'private' THEN
        NEW.author := current_user;
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION memman.sign() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.author = '' OR NEW.author <> current_user AND NOT memman.is_member(current_user, NEW.store, '{own}') THEN
        NEW.author := current_user;
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION memman.keep_word() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.author := OLD.author;
    IF NEW.visibility <> OLD.visibility AND OLD.author <> current_user THEN
        RAISE insufficient_privilege USING MESSAGE = 'only who wrote a memory decides who sees it';
    END IF;
    IF NEW.retired_by NOT IN ('', OLD.retired_by) THEN
        NEW.retired_by := current_user;
    END IF;
    RETURN NEW;
END $$;
ALTER TABLE memman.store ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memman.store FOR SELECT USING (memman.is_member(current_user, id, '{read,write,own}'));
CREATE POLICY changed ON memman.store FOR UPDATE USING (memman.is_member(current_user, id, '{write,own}'));
ALTER TABLE memman.member ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memman.member FOR SELECT USING (memman.is_member(current_user, store, '{read,write,own}'));
CREATE POLICY added ON memman.member FOR INSERT WITH CHECK (memman.is_member(current_user, store, '{own}'));
CREATE POLICY changed ON memman.member FOR UPDATE USING (memman.is_member(current_user, store, '{own}'));
CREATE POLICY removed ON memman.member FOR DELETE
    USING (role = current_user OR memman.is_member(current_user, store, '{own}'));
"""

_TABLES = """
CREATE TABLE memman.change(
    store bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    part text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (store, name, part)
) PARTITION BY HASH (store);
CREATE INDEX change_seq ON memman.change(store, seq, name, part);
CREATE TABLE memman.memory(
    store bigint NOT NULL,
    id bigint NOT NULL,
    uid text NOT NULL,
    note text NOT NULL,
    text text NOT NULL,
    category text NOT NULL,
    importance bigint NOT NULL,
    entities text NOT NULL,
    keywords text NOT NULL,
    summary text NOT NULL,
    source text NOT NULL,
    origin text NOT NULL,
    valid_from bigint NOT NULL,
    valid_to bigint,
    recorded_at bigint NOT NULL,
    retired_at bigint,
    status text NOT NULL CHECK (status IN ('current', 'superseded', 'forgotten', 'review')),
    superseded_by bigint,
    uses bigint NOT NULL,
    digest bigint NOT NULL,
    screened bigint NOT NULL,
    PRIMARY KEY (store, id),
    UNIQUE (store, uid)
) PARTITION BY HASH (store);
CREATE TABLE memman.authorship(
    store bigint NOT NULL,
    memory bigint NOT NULL,
    author text NOT NULL,
    visibility text NOT NULL CHECK (visibility IN ('private', 'shared')),
    retired_by text NOT NULL,
    PRIMARY KEY (store, memory)
);
CREATE TABLE memman.receipt(
    store bigint NOT NULL,
    note text NOT NULL,
    at bigint NOT NULL,
    outcome text NOT NULL,
    facts bigint NOT NULL,
    agent text NOT NULL,
    session text NOT NULL,
    cwd text NOT NULL,
    repository text NOT NULL,
    revision text NOT NULL,
    host text NOT NULL,
    "user" text NOT NULL,
    drain text NOT NULL,
    models text NOT NULL,
    changed text NOT NULL,
    author text NOT NULL DEFAULT current_user,
    visibility text NOT NULL CHECK (visibility IN ('private', 'shared')),
    PRIMARY KEY (store, note)
) PARTITION BY HASH (store);
CREATE TABLE memman.scoped(
    store bigint NOT NULL,
    memory bigint NOT NULL,
    repository text NOT NULL,
    path text NOT NULL,
    PRIMARY KEY (store, memory)
) PARTITION BY HASH (store);
CREATE TABLE memman.mention(
    store bigint NOT NULL,
    memory bigint NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (store, memory, name)
) PARTITION BY HASH (store);
CREATE TABLE memman.alias(
    store bigint NOT NULL,
    name text NOT NULL,
    means text NOT NULL,
    memory bigint NOT NULL,
    PRIMARY KEY (store, memory, name, means)
) PARTITION BY HASH (store);
CREATE TABLE memman.freshness(
    store bigint NOT NULL,
    memory bigint NOT NULL,
    ends_at bigint,
    verified_at bigint,
    PRIMARY KEY (store, memory)
) PARTITION BY HASH (store);
CREATE TABLE memman.file(
    store bigint NOT NULL,
    memory bigint NOT NULL,
    path text NOT NULL,
    blob text NOT NULL,
    changed_at bigint,
    PRIMARY KEY (store, memory, path)
) PARTITION BY HASH (store);
CREATE TABLE memman.evidence(
    store bigint NOT NULL,
    memory bigint NOT NULL,
    kind text NOT NULL,
    session text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (store, memory, kind, session)
) PARTITION BY HASH (store);
CREATE TABLE memman.shown(
    store bigint NOT NULL,
    memory bigint NOT NULL,
    session text NOT NULL,
    way text NOT NULL,
    agent text NOT NULL,
    at bigint NOT NULL,
    times bigint NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (store, memory, session, way)
) PARTITION BY HASH (store);
CREATE TABLE memman.vector(
    store bigint NOT NULL,
    embedder bigint NOT NULL,
    memory bigint NOT NULL,
    cell bigint NOT NULL,
    planes bytea NOT NULL,
    squares bigint NOT NULL,
    PRIMARY KEY (store, memory, embedder)
) PARTITION BY HASH (store);
CREATE TABLE memman.link(
    store bigint NOT NULL,
    src bigint NOT NULL,
    kind bigint NOT NULL,
    dst bigint NOT NULL,
    weight bigint NOT NULL,
    detail text NOT NULL,
    PRIMARY KEY (store, src, kind, dst),
    FOREIGN KEY (store, src) REFERENCES memman.authorship(store, memory) ON DELETE CASCADE,
    FOREIGN KEY (store, dst) REFERENCES memman.authorship(store, memory) ON DELETE CASCADE
) PARTITION BY HASH (store);
CREATE INDEX link_back ON memman.link(store, dst);
CREATE TABLE memman.rule(
    store bigint NOT NULL,
    id bigint NOT NULL,
    uid text NOT NULL,
    text text NOT NULL,
    tool text NOT NULL,
    pattern text NOT NULL,
    action text NOT NULL,
    repository text NOT NULL,
    path text NOT NULL,
    memory text NOT NULL,
    made_at bigint NOT NULL,
    ends_at bigint,
    snoozed_until bigint,
    hits bigint NOT NULL,
    hit_at bigint,
    author text NOT NULL DEFAULT current_user,
    visibility text NOT NULL CHECK (visibility IN ('private', 'shared')),
    PRIMARY KEY (store, id),
    UNIQUE (store, uid)
) PARTITION BY HASH (store);
CREATE TABLE memman.meta(
    store bigint NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    about bigint,
    author text NOT NULL DEFAULT current_user,
    visibility text NOT NULL CHECK (visibility IN ('private', 'shared')),
    PRIMARY KEY (store, key)
) PARTITION BY HASH (store);
CREATE TABLE memman.log(
    store bigint NOT NULL,
    id bigint NOT NULL,
    at bigint NOT NULL,
    verb text NOT NULL,
    memory text NOT NULL,
    note text NOT NULL,
    before text,
    after text,
    about bigint,
    author text NOT NULL DEFAULT current_user,
    visibility text NOT NULL CHECK (visibility IN ('private', 'shared')),
    PRIMARY KEY (store, id)
) PARTITION BY HASH (store);
CREATE TABLE memman.embedder(
    store bigint NOT NULL,
    id bigint NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    dimension bigint NOT NULL,
    PRIMARY KEY (store, id)
) PARTITION BY HASH (store);
CREATE TABLE memman.cell(
    store bigint NOT NULL,
    embedder bigint NOT NULL,
    id bigint NOT NULL,
    centroid bytea NOT NULL,
    PRIMARY KEY (store, embedder, id)
) PARTITION BY HASH (store);
CREATE TABLE memman.beacon(
    store bigint NOT NULL,
    embedder bigint NOT NULL,
    cell bigint NOT NULL,
    code bytea NOT NULL,
    PRIMARY KEY (store, embedder, cell)
) PARTITION BY HASH (store);
CREATE TABLE memman.rejected(
    store bigint NOT NULL,
    digest text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (store, digest)
) PARTITION BY HASH (store);
"""

# What PostgreSQL calls the values of each column.
TYPES = {
    (name, column.strip('"')): kind
    for name, columns in re.findall(r"CREATE TABLE memman\.(\w+)\(\n(.*?)\n\)", _TABLES, re.DOTALL)
    for column, kind in re.findall(r'^    ([a-z_"]+) (bigint|text|bytea)', columns, re.MULTILINE)
}

_MINE = "visibility = 'shared' OR author = current_user"
# A look into the index for each row: without OFFSET the planner may read the authorship of the whole store instead, for
# each page of rows again.
_VISIBLE = "EXISTS (SELECT FROM memman.authorship a WHERE a.store = {0}.store AND a.memory = {0}.{1} OFFSET 0)"
# What is about a memory goes with it, whoever wrote the row.
_ABOUT = "CASE WHEN about IS NULL THEN {mine} ELSE {visible} END"
# Which rows of its own store a member sees; '' for all.
_SEEN = {
    **dict.fromkeys(("authorship", "receipt", "rule"), _MINE),
    **{name: _ABOUT.format(mine=_MINE, visible=_VISIBLE.format(name, "about")) for name in ("meta", "log")},
    "memory": _VISIBLE.format("memory", "id"),
    **{
        name: _VISIBLE.format(name, "memory")
        for name in ("scoped", "mention", "alias", "freshness", "file", "evidence", "shown", "vector")
    },
    "link": f"{_VISIBLE.format('link', 'src')} AND {_VISIBLE.format('link', 'dst')}",
    **dict.fromkeys(("change", "embedder", "cell", "beacon", "rejected"), ""),
}
# The tables with rows of a store.
ROWS = tuple(_SEEN)
_READING, _WRITING = (
    f"(SELECT memman.chosen(current_user, '{these}'))" for these in ("{read,write,own}", "{write,own}")
)
# Who wrote a row nobody changes; of a memory whoever owns the store says it, which may move here with its authors.
# Purging what others wrote changes for nobody whether they see what is left of it.
_SIGNED = """
CREATE TRIGGER signed BEFORE INSERT ON memman.authorship FOR EACH ROW EXECUTE FUNCTION memman.sign();
CREATE TRIGGER kept BEFORE UPDATE ON memman.authorship FOR EACH ROW EXECUTE FUNCTION memman.keep_word();
CREATE TRIGGER left_seen BEFORE UPDATE ON memman.receipt FOR EACH ROW WHEN (OLD.author <> current_user)
    EXECUTE FUNCTION memman.keep_seen();
CREATE TRIGGER left_seen BEFORE UPDATE ON memman.log FOR EACH ROW WHEN (OLD.about IS NOT NULL AND NEW.about IS NULL)
    EXECUTE FUNCTION memman.leave_line();
""" + "".join(
    f"CREATE TRIGGER kept BEFORE UPDATE OF author ON memman.{name} FOR EACH ROW"
    " EXECUTE FUNCTION memman.keep_author();\n"
    for name in ("receipt", "rule", "meta", "log")
)

# What a writer may not do by SQL either: change what another says, or leave rows after which nobody can go on. By name
# of the guard: the table, which rows are refused, and why. Who passes by row-level security administers the server.
_SAID = """
    store id uid note text category importance entities keywords summary source origin valid_from recorded_at
""".split()
_RULE_SAID = "uid text tool pattern action memory made_at".split()
_OTHER, _OTHER_RULE = (" OR ".join(f"OLD.{name} <> NEW.{name}" for name in names) for names in (_SAID, _RULE_SAID))
_OWNED = "memman.is_member(current_user, NEW.store, '{own}')"
_AT_ONCE = 1_000_000_000
_LATER = (
    "NEW.{} NOT BETWEEN 1 AND coalesce((SELECT (numbers ->> '{}')::bigint FROM memman.store WHERE id = NEW.store), 0)"
)
_ROWS = (("memory", "id", "memory"), ("rule", "id", "rule"), ("log", "id", "log"), ("authorship", "memory", "memory"))
_BARRED = {
    "text": (
        "memory",
        f"""CASE TG_OP WHEN 'UPDATE' THEN {_OTHER}
            ELSE NOT EXISTS (SELECT FROM memman.memory m WHERE m.store = NEW.store AND m.id = NEW.id) END
        AND NOT EXISTS (SELECT FROM memman.authorship a
            WHERE a.store = NEW.store AND a.memory = NEW.id AND a.author = current_user) AND NOT {_OWNED}""",
        "only who wrote a memory changes what it says",
    ),
    "rule": (
        "rule",
        f"OLD.author <> current_user AND ({_OTHER_RULE}) AND NOT {_OWNED}",
        "only who made a rule changes what it says",
    ),
    "turn": (
        "store",
        f"""NEW.seq NOT IN (OLD.seq, OLD.seq + 1) OR EXISTS (
        SELECT FROM jsonb_each(OLD.numbers) was FULL JOIN jsonb_each(NEW.numbers) now USING (key)
        WHERE 'number' IN (jsonb_typeof(was.value), jsonb_typeof(now.value)) AND coalesce(
            CASE jsonb_typeof(now.value) WHEN 'number' THEN (now.value #>> '{{}}')::bigint END
            - CASE jsonb_typeof(was.value) WHEN 'number' THEN was.value::numeric ELSE 0 END
            NOT BETWEEN 0 AND {_AT_ONCE}, true))""",
        "turns and rows are numbered one after the other",
    ),
    "feed": (
        "change",
        "NEW.seq <> (SELECT seq + 1 FROM memman.store WHERE id = NEW.store)",
        "a change is of the turn that is under way",
    ),
    "key": (
        "meta",
        f"""NEW.key NOT LIKE '{REPLACED}%' AND NOT CASE
        WHEN NEW.about IS NULL THEN NEW.visibility = 'shared' OR NEW.key LIKE '{UNDONE}%'
        ELSE EXISTS (SELECT FROM memman.memory m WHERE m.store = NEW.store AND m.id = NEW.about
            AND m.uid = substr(NEW.key, strpos(NEW.key, ':') + 1)) END""",
        "a setting is for all, or for whom its memory is",
    ),
    **{
        f"{table}_number": (table, _LATER.format(column, name), "rows are numbered one after the other")
        for table, column, name in _ROWS
    },
}
_GUARDS = """
DROP FUNCTION IF EXISTS memman.redacted, memman.keep_text, memman.keep_rule, memman.keep_turn, memman.keep_feed,
    memman.keep_number CASCADE;
""" + "".join(
    f"""
CREATE FUNCTION memman.keep_{name}() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF row_security_active(TG_RELID) AND ({refused})
    THEN RAISE insufficient_privilege USING MESSAGE = '{why}'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER kept_{name} BEFORE INSERT OR UPDATE ON memman.{table} FOR EACH ROW
    EXECUTE FUNCTION memman.keep_{name}();
"""
    for name, (table, refused, why) in _BARRED.items()
)


def _parts(name: str) -> str:
    """Write the parts of a table, and who sees and changes which of its rows."""
    seen = f" AND ({_SEEN[name]})" if _SEEN[name] else ""
    signed = " AND author = current_user" if name in {"receipt", "rule", "meta", "log"} else ""
    whole = name == "authorship"  # asked by the policies of the others: its parts would be planned with each statement
    parts = "".join(
        f"CREATE TABLE memman.{name}_{n} PARTITION OF memman.{name} FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {n});\n"
        f"ALTER TABLE memman.{name}_{n} ENABLE ROW LEVEL SECURITY;\n"
        f"ALTER TABLE memman.{name}_{n} FORCE ROW LEVEL SECURITY;\n"
        for n in range(0 if whole else PARTS)
    )
    return f"""{parts}
ALTER TABLE memman.{name} ENABLE ROW LEVEL SECURITY;
ALTER TABLE memman.{name} FORCE ROW LEVEL SECURITY;
CREATE POLICY seen ON memman.{name} FOR SELECT USING (store = {_READING}{seen});
CREATE POLICY added ON memman.{name} FOR INSERT WITH CHECK (store = {_WRITING}{seen}{signed});
CREATE POLICY changed ON memman.{name} FOR UPDATE USING (store = {_WRITING}{seen});
CREATE POLICY removed ON memman.{name} FOR DELETE USING (store = {_WRITING}{seen});
"""


V6 = _MEMBERS + _MEMBERSHIP + _TABLES + "".join(map(_parts, _SEEN)) + _SIGNED

# The first has the rows of SQLite's schema 6; 7 had less of the guards. What was released is not changed: more follows.
STEPS = {6: V6, 8: _GUARDS}
VERSION = max(STEPS)
