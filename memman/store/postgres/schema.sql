-- The tables of a server, in its schema `memman`. One table has the records of all stores, with row-level security: who
-- asks is the role that logged in (session_user), what they may do says `member`. Nobody may write to a table: rows come
-- by the functions below, which run as the tables' owner and see to it that a member says only what is theirs to say.
-- `subject` says of each memory, rule and note whose it is and who sees it, and so who sees the records about it: none
-- but its owner's where it is private. A record names in `about` what it is about, and whatever else it names.
CREATE SCHEMA memman;
CREATE TABLE memman.version(number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
CREATE TABLE memman.server(id text NOT NULL DEFAULT gen_random_uuid()::text);
INSERT INTO memman.server DEFAULT VALUES;
CREATE TABLE memman.store(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE memman.member(
    store bigint NOT NULL REFERENCES memman.store(id) ON DELETE CASCADE,
    role text NOT NULL,
    may text NOT NULL CHECK (may IN ('read', 'write', 'own')),
    PRIMARY KEY (store, role)
);
CREATE TABLE memman.host(
    store bigint NOT NULL REFERENCES memman.store(id) ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    role text NOT NULL,
    n bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (store, name)
);
CREATE TABLE memman.subject(
    store bigint NOT NULL REFERENCES memman.store(id) ON DELETE CASCADE,
    uid text COLLATE "C" NOT NULL,
    owner text NOT NULL,
    visibility text NOT NULL CHECK (visibility IN ('private', 'shared')),
    PRIMARY KEY (store, uid)
);
CREATE TABLE memman.record(
    store bigint NOT NULL REFERENCES memman.store(id) ON DELETE CASCADE,
    host text COLLATE "C" NOT NULL,
    n bigint NOT NULL CHECK (n > 0),
    at bigint NOT NULL CHECK (at >= 0),
    act text NOT NULL,
    memory text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    body text NOT NULL CHECK (octet_length(body) <= 4194304),
    author text NOT NULL,
    about text[] COLLATE "C" NOT NULL,
    void boolean NOT NULL,
    PRIMARY KEY (store, host, n)
);
CREATE INDEX record_memory ON memman.record(store, memory);
CREATE INDEX record_about ON memman.record USING gin(about) WITH (fastupdate = off);
CREATE INDEX record_act ON memman.record(store, act);

-- Whether who asks may do one of these things in a store.
CREATE FUNCTION memman.may(which bigint, these text[]) RETURNS boolean LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM memman.member WHERE store = which AND role = session_user AND may = ANY(these))
$$;
-- Whether who asks sees a record: what it names is shared or theirs. What was not for its author to say nobody else sees.
CREATE FUNCTION memman.seen(one memman.record) RETURNS boolean LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN one.void OR NOT EXISTS (SELECT FROM memman.subject WHERE store = one.store AND uid = one.memory)
        THEN one.author = session_user ELSE true END
    AND NOT EXISTS (
        SELECT FROM memman.subject s
        WHERE s.store = one.store AND s.uid = ANY(one.about) AND s.visibility = 'private' AND s.owner <> session_user
    )
$$;
ALTER TABLE memman.store ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memman.store FOR SELECT USING (memman.may(id, '{read,write,own}'));
ALTER TABLE memman.member ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memman.member FOR SELECT USING (memman.may(store, '{read,write,own}'));
ALTER TABLE memman.host ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memman.host FOR SELECT USING (memman.may(store, '{read,write,own}'));
ALTER TABLE memman.subject ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memman.subject FOR SELECT
    USING (memman.may(store, '{read,write,own}') AND (visibility = 'shared' OR owner = session_user));
ALTER TABLE memman.record ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memman.record FOR SELECT USING (memman.may(store, '{read,write,own}') AND memman.seen(record.*));

CREATE FUNCTION memman.refuse(why text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE insufficient_privilege USING MESSAGE = why;
END $$;

-- Whether a record is not for `by`, its author, to make: of what another owns nobody but an owner of the store changes
-- what it says, and nobody at all who sees it; no act of another is done again.
CREATE FUNCTION memman.foreign_word(one memman.record, by text) RETURNS boolean LANGUAGE plpgsql STABLE
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    whose memman.subject;
    owns boolean := EXISTS (SELECT FROM memman.member WHERE store = one.store AND role = by AND may = 'own');
    sets json := CASE WHEN one.body <> '' THEN one.body::json -> 'set' END;
BEGIN
    IF EXISTS (SELECT FROM memman.record r WHERE r.store = one.store AND r.act = one.act AND r.author <> by) THEN
        RETURN true;
    END IF;
    SELECT * INTO whose FROM memman.subject WHERE store = one.store AND uid = one.memory;
    IF whose.owner IS NULL OR whose.owner = by THEN
        RETURN false;
    END IF;
    IF one.kind = 'shared' OR coalesce(sets ->> 'visibility', whose.visibility) <> whose.visibility THEN
        RETURN true;
    END IF;
    IF owns THEN
        RETURN false;
    END IF;
    RETURN one.kind IN ('purged', 'redacted') OR sets -> 'text' IS NOT NULL OR sets -> 'author' IS NOT NULL
        OR sets -> 'receipt' IS NOT NULL OR (sets ->> 'rule' IS NOT NULL AND NOT EXISTS (
            SELECT FROM memman.record r WHERE r.store = one.store AND r.memory = one.memory AND r.body <> '' AND NOT r.void AND NOT EXISTS (
                SELECT FROM unnest('{text,tool,pattern,action,memory}'::text[]) said
                WHERE r.body::json -> 'set' -> 'rule' ->> said IS DISTINCT FROM sets -> 'rule' ->> said
            )
        ));
END $$;

-- Write what a record says without why, and without the parts that are about a memory.
CREATE FUNCTION memman.without(said text, uid text) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT (((body - 'why') #- '{now,why}') || jsonb_build_object('set', (
        SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(coalesce(body -> 'set', '{}'))
        WHERE strpos(key, uid) = 0
    )))::text FROM (SELECT said::jsonb AS body) AS written
$$;

-- Take the records of a host that are new, in order; return the number of its last one. Each is an object with the
-- columns of `record`, and `visibility` where it says who sees what it is about.
CREATE FUNCTION memman.push(which bigint, called text, said json) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours memman.host;
    given json;
    one memman.record;
    visible text;
    latest bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000;
BEGIN
    IF NOT memman.may(which, '{write,own}') THEN
        PERFORM memman.refuse('only who may write to a store adds to it');
    END IF;
    INSERT INTO memman.host VALUES (which, called, session_user) ON CONFLICT DO NOTHING;
    SELECT * INTO ours FROM memman.host WHERE store = which AND name = called FOR UPDATE;
    IF ours.role <> session_user THEN
        PERFORM memman.refuse('these are the numbers of another member''s machine');
    END IF;
    FOR given IN SELECT * FROM json_array_elements(said) LOOP
        one := json_populate_record(NULL::memman.record, given);
        CONTINUE WHEN one.n <= ours.n;
        IF one.n <> ours.n + 1 THEN
            PERFORM memman.refuse('records are numbered one after the other');
        END IF;
        IF one.at > latest THEN
            PERFORM memman.refuse('the clock of this machine is ahead of the server''s');
        END IF;
        one.store := which;
        one.host := called;
        one.void := false;
        IF coalesce(one.author, '') = '' OR NOT memman.may(which, '{own}') THEN
            one.author := session_user;
        END IF;
        one.about := array_prepend(one.memory, ARRAY(
            SELECT DISTINCT word[1] FROM regexp_matches(one.body, '\m[0-9a-f]{20}\M', 'g') word WHERE word[1] <> one.memory
        ));
        IF EXISTS (SELECT FROM memman.record r WHERE r.store = which AND r.memory = one.memory AND r.kind = 'purged' AND NOT r.void) AND one.kind <> 'purged' THEN
            one.body := '';
        END IF;
        one.void := memman.foreign_word(one, one.author);
        visible := given ->> 'visibility';
        IF visible <> '' AND NOT one.void THEN
            INSERT INTO memman.subject VALUES (which, one.memory, one.author, visible)
            ON CONFLICT (store, uid) DO UPDATE SET visibility = excluded.visibility
            WHERE subject.owner = excluded.owner;
        END IF;
        IF one.kind = 'purged' AND NOT one.void THEN
            UPDATE memman.record r SET body = '' WHERE r.store = which AND r.memory = one.memory AND r.kind <> 'purged';
            UPDATE memman.record r SET body = CASE WHEN strpos(r.body, '\u0000') > 0 THEN ''
                ELSE memman.without(r.body, one.memory) END
            WHERE r.store = which AND r.about @> ARRAY[one.memory] AND r.body <> '' AND r.kind <> 'purged';
        END IF;
        INSERT INTO memman.record SELECT one.*;
        ours.n := one.n;
    END LOOP;
    UPDATE memman.host SET n = ours.n WHERE store = which AND name = called;
    RETURN ours.n;
END $$;

-- Return what each host has said beyond what is known of it ({host: n}), in order, about so much at a time. Of what who
-- asks may not see there is only the number, and of what was taken from their sight what it was.
CREATE FUNCTION memman.pull(which bigint, known json, most integer) RETURNS TABLE (
    host text, n bigint, at bigint, act text, memory text, kind text, body text, author text, sees boolean
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT host, n, at, CASE WHEN sees THEN act ELSE '' END, CASE WHEN sees OR taken THEN memory ELSE '' END,
        kind, CASE WHEN sees THEN body ELSE '' END, CASE WHEN sees THEN author ELSE '' END, sees
    FROM (
        SELECT *, memman.seen((store, host, n, at, act, memory, kind, body, author, about, void)::memman.record) AS sees,
            kind IN ('shared', 'rule') AND EXISTS (
                SELECT FROM memman.subject s WHERE s.store = page.store AND s.uid = page.memory
                AND s.visibility = 'private' AND s.owner <> session_user
            ) AS taken,
            sum(octet_length(body)) OVER (ORDER BY host, n) - octet_length(body) AS before
        FROM (
            SELECT r.* FROM memman.host h CROSS JOIN LATERAL (
                SELECT * FROM memman.record
                WHERE store = which AND host = h.name AND n > coalesce((known ->> h.name)::bigint, 0) ORDER BY n LIMIT most
            ) r
            WHERE h.store = which AND memman.may(which, '{read,write,own}') ORDER BY r.host, r.n LIMIT most
        ) page
    ) counted WHERE before < 16777216 ORDER BY host, n
$$;

-- Return all that who asks may see of some memories: what is shown to them again, or was changed.
CREATE FUNCTION memman.again(which bigint, uids text[]) RETURNS SETOF memman.record LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT r FROM memman.record r
    WHERE r.store = which AND r.about && uids AND memman.may(which, '{read,write,own}') AND memman.seen(r)
    ORDER BY r.host, r.n
$$;

-- Have a record of what is ours, or of a store that is ours, say something else: without a secret.
CREATE FUNCTION memman.redact(which bigint, called text, number bigint, instead text) RETURNS void LANGUAGE sql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE memman.record r SET body = instead
    WHERE r.store = which AND r.host = called AND r.n = number AND r.body <> '' AND (
        memman.may(which, '{own}') OR memman.may(which, '{write}') AND coalesce(
            (SELECT s.owner FROM memman.subject s WHERE s.store = which AND s.uid = r.memory), r.author) = session_user
    )
$$;

CREATE FUNCTION memman.make_store(called text) RETURNS bigint LANGUAGE sql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH made AS (INSERT INTO memman.store(name) VALUES (called) RETURNING id)
    INSERT INTO memman.member SELECT id, session_user, 'own' FROM made RETURNING store
$$;
-- Make a role a member, change what it may do, or, where `may_do` is empty, end its membership.
CREATE FUNCTION memman.admit(which bigint, who text, may_do text) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT memman.may(which, '{own}') THEN
        PERFORM memman.refuse('only its owner says who the members of a store are');
    END IF;
    IF may_do = '' THEN
        DELETE FROM memman.member WHERE store = which AND role = who;
    ELSE
        INSERT INTO memman.member VALUES (which, who, may_do)
        ON CONFLICT (store, role) DO UPDATE SET may = excluded.may;
    END IF;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA memman FROM PUBLIC;
