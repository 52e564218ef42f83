"""Reads of one store, every list ordered by its score and then by id. Safe on the hot path."""

import os

import apsw

from memman.belief import RECORDED
from memman.model.vocabulary import BUILTIN, EDGE_KINDS, HIDDEN, NEWER, REPLACED
from memman.secrets import SCREEN
from memman.sqlite import LISTED, id_list, open_reader, open_writer, schema_version, there
from memman.store import EdgeRow, MemoryRow
from memman.store.sqlite import beliefs, nearness, scopes
from memman.store.sqlite.schema import HIDDEN_CELL, VERSION, migrate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from memman.belief import Statement
    from memman.config.scope import Here
    from memman.embed.base import Vectors
    from memman.model.records import Fingerprint
    from memman.store.filters import Filters
    from memman.store.sqlite.scopes import AuthorRow
    from memman.store.sqlite.vectors import Partition

# Column weights of text, terms and context: measured on conversation and fact sets, broad optimum.
_BM25 = "bm25(fts, 1.0, 0.5, 0.35)"

_EDGES = """
SELECT src, kind, dst, weight, detail, src AS near, dst AS far FROM edge WHERE src IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT src, kind, dst, weight, detail, dst AS near, src AS far FROM edge WHERE dst IN (SELECT value FROM json_each(?1))
ORDER BY near, kind, far
"""

# Whoever was superseded by whom is followed to the end; UNION ends a ring.
_GONE = "{0}.status = 'superseded' AND (?2 IS NULL OR {0}.retired_at <= ?2)"
_HEIRS = f"""
WITH RECURSIVE step(old, new) AS (
    SELECT o.id, o.superseded_by FROM memory o WHERE o.id IN (SELECT value FROM json_each(?1)) AND {_GONE.format("o")}
    UNION SELECT step.old, m.superseded_by FROM step CROSS JOIN memory m ON m.id = step.new WHERE {_GONE.format("m")}
)
SELECT step.old, step.new FROM step CROSS JOIN memory n ON n.id = step.new WHERE NOT ({_GONE.format("n")})
"""

_NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
# What a memory is maybe replaced by, and whoever superseded that; what has ended stands before nothing any more.
_NEWER = f"""
WITH RECURSIVE step(old, new) AS (
    SELECT o.value, n.id FROM json_each(?1) o
    CROSS JOIN mark ON mark.memory = o.value CROSS JOIN memory n ON n.id = mark.maybe
    WHERE ?2 IS NULL OR n.recorded_at <= ?2
    UNION SELECT step.old, m.superseded_by FROM step CROSS JOIN memory m ON m.id = step.new WHERE {_GONE.format("m")}
)
SELECT step.old, n.id, n.uid FROM step CROSS JOIN memory n ON n.id = step.new
WHERE n.status NOT IN {HIDDEN} AND NOT ({_GONE.format("n")}) AND n.id <> step.old
    AND NOT EXISTS (SELECT 1 FROM freshness WHERE memory = n.id AND ends_at <= coalesce(?2, {_NOW}))
"""

# What may say otherwise than older memories, the likeliest last.
_LATER = f"""
SELECT link.dst, n.id, link.weight FROM link
CROSS JOIN memory n ON n.id = link.src CROSS JOIN memory o ON o.id = link.dst
WHERE link.dst {LISTED} AND link.kind = {EDGE_KINDS.index(NEWER)} AND n.valid_from > o.valid_from
ORDER BY link.weight, n.valid_from, n.id, link.dst
"""

# What is contradicted that is in force, or was at a moment.
_CONTRADICTS = f"""
SELECT m.id, o.id, o.uid, claim.sure FROM json_each(?1) asked CROSS JOIN claim ON claim.memory = asked.value
CROSS JOIN memory m ON m.id = claim.memory CROSS JOIN memory o ON o.id = claim.against
WHERE (o.status = 'current' AND (?2 IS NULL OR o.recorded_at <= ?2)
    OR o.status = 'superseded' AND o.recorded_at <= ?2 AND o.retired_at > ?2)
    AND {beliefs.UNCONFIRMED} ORDER BY 1, 4 DESC, 2
"""

# How far apart, in rows, what one commit says may be.
_NEAR = 8
_OF_RECORD = f"""
SELECT DISTINCT other.memory FROM evidence e JOIN evidence other
    ON other.memory BETWEEN e.memory - {_NEAR} AND e.memory + {_NEAR}
    AND other.kind = e.kind AND other.session = e.session
WHERE e.memory = ? AND e.kind = '{RECORDED}' ORDER BY other.memory
"""


def load_vectors(db: apsw.Connection) -> bool:
    """Load sqlite-vec's scalar functions; False where the extension cannot be had."""
    try:
        db.enable_load_extension(True)
        # Its package imports numpy.
        db.load_extension(os.path.dirname(os.path.dirname(apsw.__file__)) + "/sqlite_vec/vec0")
    except (apsw.Error, AttributeError):
        return False
    return True


_MOST_COUNTS = 50_000
# Rows that may mention a name, of which so many are read: more often a name tells little.
_MOST_MENTIONS = 64
# A time that holds more memories than these bounds no rows: reading where it begins and ends would cost more.
MOST_BOUND = 10_000
UNBOUND = (0, 2**63 - 1)
# Sign codes that a recall scans at most: of a larger store those in the cells around the query.
SCANNED = 65_536


def _admitted(filters: "Filters") -> "tuple[str, str, list[Any]]":
    """Write what keeps a search by words to rows that `filters` admits: a join, conditions and their values."""
    conditions = filters.conditions()
    join = "JOIN memory m ON m.id = fts.rowid" if conditions else ""
    extra = "".join(f" AND {sql}" for sql, _ in conditions)
    if filters.window:
        extra += " AND fts.rowid BETWEEN {:d} AND {:d}".format(*filters.window)
    return join, extra, [value for _, value in conditions]


class SqliteReader:
    """Reads over an open connection; `open` makes one that cannot write."""

    # Which memories `m` are current, and the row id from which on none is looked at.
    current = "m.status = 'current'"
    horizon = 2**63 - 1

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self.has_vectors = load_vectors(db)
        self._partitions: dict[int, Partition] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._counted_at = 0

    @classmethod
    def open(cls, path: str) -> "SqliteReader | None":
        """Open the store read-only; None where there is none yet. Raises NewerSchema and driver errors.

        One of an earlier schema is taken over first.
        """
        if not there(path):
            return None
        db = open_reader(path)
        version = schema_version(db, VERSION, path)
        if 0 < version < VERSION:
            db.close()
            writer = open_writer(path)
            migrate(writer, path)
            writer.close()
            db = open_reader(path)
        return cls(db) if version else None

    def close(self) -> None:
        """Close the connection."""
        self.db.close()

    def hold(self) -> None:
        """Show, until it is closed, what is stored at the next read, whatever others commit."""
        self.db.execute("BEGIN")

    def meta(self, key: str) -> str:
        """Return a setting of the store, '' when unset."""
        return self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).get or ""

    def others(self) -> bool:
        """Whether other machines have a part in what is stored."""
        return bool(self.db.execute("SELECT 1 FROM host WHERE id <> 1 AND n > 0").get)

    def scopes(self, here: "Here", *, inside: bool = False) -> "frozenset[int] | None":
        """Return the scopes that hold `here`, None where every memory's does."""
        return scopes.visible(self.db, here, inside=inside)

    def holding(self, repository: str, path: str = "") -> "frozenset[int]":
        """Return the scopes of one repository, or of one folder of it; with '' what holds everywhere alone."""
        return scopes.holding(self.db, repository, path)

    def repositories(self) -> "list[str]":
        """Return the repositories that memories hold for."""
        return [name for (name,) in self.db.execute("SELECT DISTINCT repository FROM scope WHERE repository <> ''")]

    def scope_of(self, ids: "Iterable[int]") -> "dict[int, tuple[str, str]]":
        """Return the scope of each of `ids` that does not hold everywhere."""
        return scopes.named(self.db, ids)

    def authorship(self, ids: "Iterable[int]") -> "dict[int, AuthorRow]":
        """Return who wrote each of `ids`, for whom it is and who retired it, where the store is shared."""
        return scopes.authors(self.db, ids)

    def role(self) -> str:
        """Return who we are on the server of the store, '' where it has none."""
        return scopes.role(self.db)

    def searched(self, dimension: int) -> list[int]:
        """Return the numbers of the built-in vectors, first those that an earlier version made and that are left."""
        sql = "SELECT id FROM embedder WHERE provider = ? AND dimension = ? ORDER BY id"
        return [number for (number,) in self.db.execute(sql, (BUILTIN, dimension))]

    def embedder_id(self, made: "Fingerprint") -> int | None:
        """Return the number this store gave to an embedder's vectors."""
        sql = "SELECT id FROM embedder WHERE provider = ? AND model = ? AND dimension = ?"
        found: int | None = self.db.execute(sql, (made.provider, made.model, made.dimension)).get
        return found

    def lexical(self, match: str, filters: "Filters", limit: int, newest: int | None = None) -> list[tuple[int, float]]:
        """Return (id, BM25) of the best of the `newest` rows for an FTS5 expression, superseded ones too."""
        join, extra, values = _admitted(filters)
        if newest is not None:
            values.append(newest)

        def search(most: int, scoped: str) -> "list[tuple[int, float]]":
            rows = f"SELECT fts.rowid AS id, -{_BM25} AS score FROM fts {join} WHERE fts MATCH ?{extra}"
            if newest is not None:
                rows = f"SELECT * FROM ({rows} ORDER BY fts.rowid DESC LIMIT ?)"
            if scoped:
                rows = f"SELECT * FROM ({rows}) WHERE id{scoped}"
            return list(self.db.execute(f"{rows} ORDER BY score DESC, 1 LIMIT ?", (match, *values, most)))

        return self._visible(filters, limit, search)

    def nearest(
        self, embedder: int, code: bytes, filters: "Filters", limit: int, cells: "Sequence[int]" = ()
    ) -> list[tuple[int, int]]:
        """Return (id, Hamming distance) of the sign codes nearest to `code`, in some `cells` or all."""
        inside = LISTED if cells else "> ?"
        where, values = ["c.embedder = ?", f"c.cell {inside}"], [embedder, id_list(cells) if cells else HIDDEN_CELL]
        conditions = filters.conditions()
        where += [sql for sql, _ in conditions]
        values += [value for _, value in conditions]
        if filters.window:
            where.append("c.memory BETWEEN {:d} AND {:d}".format(*filters.window))
        join = "JOIN memory m ON m.id = c.memory" if conditions else ""

        def search(most: int, scoped: str) -> "list[tuple[int, int]]":
            inside = " AND ".join([*where, f"c.memory{scoped}"] if scoped else where)
            rows = f"FROM code c {join} WHERE {inside}"
            if not self.has_vectors:
                return nearness.nearest(code, self.db.execute(f"SELECT c.memory, c.code {rows}", values), most)
            distance = "vec_distance_hamming(vec_bit(c.code), vec_bit(?))"
            sql = f"SELECT c.memory, CAST({distance} AS INTEGER) d {rows} ORDER BY d, c.memory LIMIT ?"
            return list(self.db.execute(sql, (code, *values, most)))

        return self._visible(filters, limit, search)

    def _visible(
        self, filters: "Filters", limit: int, search: "Callable[[int, str], list[tuple[int, Any]]]"
    ) -> "list[tuple[int, Any]]":
        """Return the first `limit` of what `search` brings, best first, that have a scope of `filters`."""
        return scopes.best(self.db, filters.scopes, limit, self.count(), search)

    def cells_around(self, embedder: int, code: bytes, scanned: int = SCANNED) -> list[int]:
        """Return the cells around a sign code that hold about `scanned` vectors; empty means the whole store."""
        stored = self.count()
        if stored <= scanned:
            return []
        cells = self.db.execute("SELECT count(*) FROM beacon WHERE embedder = ?", (embedder,)).get
        most = cells * scanned // stored
        if self.has_vectors:
            distance = "vec_distance_hamming(vec_bit(code), vec_bit(?))"
            sql = f"SELECT cell FROM beacon WHERE embedder = ? ORDER BY {distance}, cell LIMIT ?"
            return [cell for (cell,) in self.db.execute(sql, (embedder, code, most))]
        rows = self.db.execute("SELECT cell, code FROM beacon WHERE embedder = ?", (embedder,))
        return [cell for cell, _ in nearness.nearest(code, rows, most)]

    def cosines(self, embedder: int, query: "Sequence[int]", ids: "Iterable[int]") -> dict[int, float]:
        """Return the cosine between a query, as `query_planes` gives it, and each memory, none where either is zero."""
        return nearness.cosines(query, self.planes(embedder, ids))

    def planes(self, embedder: int, ids: "Iterable[int]") -> "Iterable[tuple[int, bytes, int]]":
        """Return (id, planes, squared length) of each memory's vector."""
        sql = f"SELECT memory, planes, squares FROM vector WHERE embedder = ? AND memory {LISTED}"
        return self.db.execute(sql, (embedder, id_list(ids)))

    def rows(self, ids: "Iterable[int]") -> dict[int, MemoryRow]:
        """Return the memories of `ids`."""
        sql = f"SELECT {MemoryRow.listed()} FROM memory WHERE id {LISTED}"
        return {row.id: row for row in map(MemoryRow, self.db.execute(sql, (id_list(ids),)))}

    def shown_rows(self, ids: "Iterable[int]") -> list[MemoryRow]:
        """Return the memories of `ids`, in their order and without secrets."""
        ids = list(ids)
        rows = self.rows(ids)
        return self.harmless(rows[memory] for memory in ids if memory in rows)

    def harmless(self, rows: "Iterable[MemoryRow]") -> list[MemoryRow]:
        """Take secrets out of rows, but of those that are known to hold none by today's rules or newer ones."""
        rows = list(rows)
        sql = f"SELECT id FROM memory WHERE id {LISTED} AND +screened >= {SCREEN}"  # by row, not by the index
        listed = id_list(row.id for row in rows)
        clean = {memory for (memory,) in self.db.execute(sql, (listed,))}
        if all(row.id in clean for row in rows):
            return rows
        from memman.store.sqlite.screened import hidden

        return [row if row.id in clean else hidden(row) for row in rows]

    def texts(self, ids: "Iterable[int]") -> dict[int, str]:
        """Return the text of each memory."""
        return dict(self.db.execute(f"SELECT id, text FROM memory WHERE id {LISTED}", (id_list(ids),)))

    def filtered(self, ids: "Iterable[int]", filters: "Filters") -> set[int]:
        """Return those of `ids` that `filters` admits."""
        conditions = filters.conditions()
        allowed = "('current', 'superseded')" if filters.past else "('current')"
        where = "".join(f" AND {sql}" for sql, _ in conditions)
        sql = f"SELECT m.id FROM memory m WHERE m.id {LISTED} AND m.status IN {allowed}{where}"
        values = (id_list(ids), *(value for _, value in conditions))
        found = {memory for (memory,) in self.db.execute(sql, values)}
        if filters.as_of is not None and not filters.history:
            from memman.store.sqlite.index import stood

            found = stood(self.db, found, filters.as_of)
        return found if filters.scopes is None else scopes.kept(self.db, found, filters.scopes)

    def heirs(self, ids: "Iterable[int]", as_of: int | None = None) -> dict[int, int]:
        """Return, for those of `ids` that are superseded, or were `as_of` a moment, what is in force in their place."""
        return dict(self.db.execute(_HEIRS, (id_list(ids), as_of)))

    def newer(
        self, ids: "Iterable[int]", as_of: int | None = None, held: "frozenset[int] | None" = None
    ) -> dict[int, tuple[int, str]]:
        """Return (id, uid), for those of `ids` that are maybe replaced, of what does so and has a scope of `held`."""
        found = {old: (memory, uid) for old, memory, uid in self.db.execute(_NEWER, (id_list(ids), as_of))}
        if held is None or not found:
            return found
        there = scopes.kept(self.db, [memory for memory, _ in found.values()], held)
        return {old: new for old, new in found.items() if new[0] in there}

    def later(self, ids: "Iterable[int]") -> list[tuple[int, int, int]]:
        """Return (older, newer, weight) of what may say otherwise than each of `ids`, the likeliest last."""
        return list(self.db.execute(_LATER, (id_list(ids),)))

    def contradicts(
        self, ids: "Iterable[int]", as_of: int | None = None, held: "frozenset[int] | None" = None
    ) -> dict[int, list[tuple[int, str, bool]]]:
        """Return (id, uid, whether surely) of what each of `ids` contradicts within `held`, surest first."""
        said: list[Any] = self.db.execute(_CONTRADICTS, (id_list(ids), as_of)).fetchall()
        there = None if held is None or not said else scopes.kept(self.db, [old for _, old, *_ in said], held)
        found: dict[int, list[tuple[int, str, bool]]] = {}
        for new, old, uid, sure in said:
            if there is None or old in there:
                found.setdefault(new, []).append((old, uid, bool(sure)))
        return found

    def evidence(self, ids: "Iterable[int]") -> dict[int, list[tuple[str, str, int]]]:
        """Return (kind, session, when) of what bears out each of `ids`, or speaks against it, oldest first."""
        found: dict[int, list[tuple[str, str, int]]] = {}
        sql = f"SELECT memory, kind, session, at FROM evidence WHERE memory {LISTED} ORDER BY at, kind, session"
        for memory, *piece in self.db.execute(sql, (id_list(ids),)):
            found.setdefault(memory, []).append((piece[0], piece[1], piece[2]))
        return found

    def ends(self, ids: "Iterable[int]") -> dict[int, int]:
        """Return until when those of `ids` hold that do not hold for ever, in Unix milliseconds."""
        sql = f"SELECT memory, ends_at FROM freshness WHERE memory {LISTED} AND ends_at IS NOT NULL"
        return dict(self.db.execute(sql, (id_list(ids),)))

    def ended(self, ids: "Iterable[int]", as_of: int | None = None) -> set[int]:
        """Return those of `ids` that are past their end, now or at a time."""
        sql = f"SELECT memory FROM freshness WHERE memory {LISTED} AND ends_at <= coalesce(?, {_NOW})"
        return {row for (row,) in self.db.execute(sql, (id_list(ids), as_of))}

    def changed_files(self, ids: "Iterable[int]", by: int) -> dict[int, int]:
        """Return, of those of `ids` that name a file changed since, up to `by`, when that was first seen."""
        sql = f"SELECT memory, min(changed_at) FROM file WHERE memory {LISTED} AND changed_at <= ? GROUP BY memory"
        return dict(self.db.execute(sql, (id_list(ids), by)))

    def statements(self, ids: "Iterable[int]") -> "dict[int, Statement]":
        """Return what each of `ids` is believed by."""
        return beliefs.statements(self.db, ids)

    def of_record(self, memory: int) -> list[int]:
        """Return all that the commit says that says this memory, in order: what it left was stored together."""
        return [one for (one,) in self.db.execute(_OF_RECORD, (memory,))]

    def unconfirmed(self, ids: "Iterable[int]") -> set[int]:
        """Return those of `ids` that only agents have said, and nobody bore out."""
        return {memory for memory, one in self.statements(ids).items() if one.lone}

    def protected_since(self, memory: int) -> int | None:
        """Return since when a person protects a memory."""
        since: int | None = self.db.execute("SELECT protected FROM mark WHERE memory = ?", (memory,)).get
        return since

    def held_back(self, uid: str) -> bool:
        """Whether a memory is held back until a person approves it."""
        sql = "SELECT held FROM mark JOIN memory ON memory.id = memory WHERE uid = ?"
        return bool(self.db.execute(sql, (uid,)).get)

    def rejected(self, texts: "Iterable[str]") -> set[str]:
        """Return those of `texts` that a person rejected. Not for the hot path."""
        from memman.store.sqlite.index import rejected_digest

        sql = "SELECT 1 FROM rejected WHERE digest = ?"
        return {text for text in texts if self.db.execute(sql, (rejected_digest(text),)).get}

    def has_receipt(self, note: str) -> bool:
        """Whether the store has dealt with a note, or with the one that replaces it."""
        sql = "SELECT 1 FROM receipt WHERE note = ?1 UNION ALL SELECT 1 FROM meta WHERE key = ?2 LIMIT 1"
        return bool(self.db.execute(sql, (note, REPLACED + note)).get)

    def located(self, uids: "Iterable[str]") -> set[int]:
        """Return the rows of memories, by whole uid, or by the uid of their note."""
        rows: set[int] = set()
        for uid in uids:
            sql = "SELECT id FROM memory WHERE uid = ?1 OR (substr(note, -8) = substr(?1, -8) AND note = ?1)"
            rows.update(memory for (memory,) in self.db.execute(sql, (uid,)))
        return rows

    def edges(self, ids: "Iterable[int]") -> list[EdgeRow]:
        """Return the edges that touch `ids`, each `near` one of these."""
        return list(map(EdgeRow, self.db.execute(_EDGES, (id_list(ids),))))

    def window(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last row that began to hold from `start` to `end`; (1, 0) where none did."""
        inside = "SELECT id FROM memory INDEXED BY memory_began WHERE valid_from >= ? AND valid_from < ? LIMIT ?"
        sql = f"SELECT count(*), min(id), max(id) FROM ({inside})"
        count, first, last = self.db.execute(sql, (start, end, MOST_BOUND + 1)).get
        return UNBOUND if count > MOST_BOUND else (first or 1, last or 0)

    def began(self, ids: "Iterable[int]") -> dict[int, int]:
        """Return when each of `ids` began to hold."""
        return dict(self.db.execute(f"SELECT id, valid_from FROM memory WHERE id {LISTED}", (id_list(ids),)))

    def held(self, filters: "Filters", start: int, end: int, limit: int) -> list[int]:
        """Return the newest memories that began to hold from `start` to `end`, superseded ones among them."""
        conditions = [*filters.conditions(), ("m.valid_from >= ?", start), ("m.valid_from < ?", end)]
        where = "".join(f" AND {sql}" for sql, _ in conditions)
        values = [value for _, value in conditions]

        def search(most: int, scoped: str) -> "list[tuple[int, int]]":
            sql = (
                f"SELECT m.id, m.valid_from FROM memory m WHERE m.status NOT IN {HIDDEN}{where}"
                f"{f' AND m.id{scoped}' if scoped else ''} ORDER BY m.valid_from DESC, m.id DESC LIMIT ?"
            )
            return list(self.db.execute(sql, (*values, most)))

        return [memory for memory, _ in self._visible(filters, limit, search)]

    def count(self) -> int:
        """Return the last row that a search can find: about how many memories there are, read from one row."""
        return self.db.execute("SELECT max(id) FROM fts_docsize").get or 0

    def last(self) -> int:
        """Return the last row of all, hidden or not."""
        return self.db.execute("SELECT max(id) FROM memory").get or 0

    def estimated(self, match: str, cap: int) -> int:
        """Count the rows that an FTS5 expression matches; beyond `cap` by how densely the newest of them lie."""
        sql = "SELECT count(*), min(rowid) FROM (SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid DESC LIMIT ?)"
        found: Any = self.db.execute(sql, (match, cap)).fetchone()
        count, oldest = found
        total = self.count()
        return int(count if count < cap else count * total // (total - oldest + 1))

    def matched(self, match: str, filters: "Filters", limit: int) -> list[int]:
        """Return the newest rows that an FTS5 expression matches, superseded memories among them."""
        join, extra, values = _admitted(filters)

        def search(most: int, scoped: str) -> "list[tuple[int, int]]":
            rows = f"FROM fts {join} WHERE fts MATCH ?{extra}" + (f" AND fts.rowid{scoped}" if scoped else "")
            sql = f"SELECT fts.rowid, 0 {rows} ORDER BY fts.rowid DESC LIMIT ?"
            return list(self.db.execute(sql, (match, *values, most)))

        found = self._visible(filters, limit, search)
        return [memory for memory, _ in found]

    def frequencies(self, terms: "Iterable[str]", cap: int) -> dict[str, int]:
        """Count the memories whose text holds each term, up to `cap`; kept until the store has doubled."""
        size = self.count().bit_length()
        if size != self._counted_at or len(self._counts) > _MOST_COUNTS:
            self._counts.clear()
            self._counted_at = size
        found = {}
        sql = "SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH ? LIMIT ?)"
        for term in terms:
            # A word that nothing holds yet is looked for again: the next note may be what brings it.
            if not (count := self._counts.get((term, cap))):
                count = self._counts[term, cap] = int(self.db.execute(sql, (f'{{text terms}} : "{term}"', cap)).get)
            found[term] = count
        return found

    def newest_of(self, origin: str, limit: int) -> list[int]:
        """Return the newest current memories of `origin`."""
        sql = (
            f"SELECT m.id FROM memory m WHERE m.origin = ? AND m.id < {self.horizon} AND {self.current}"
            " ORDER BY m.id DESC LIMIT ?"
        )
        return [memory for (memory,) in self.db.execute(sql, (origin, limit))]

    def recent(self, since: int, limit: int) -> list[tuple[int, int]]:
        """Return (id, valid_from) of the newest current memories that began to hold after `since`."""
        sql = (
            "SELECT m.id, m.valid_from FROM"
            f" (SELECT id FROM memory WHERE id < {self.horizon} ORDER BY id DESC LIMIT ?) n"
            f" JOIN memory m ON m.id = n.id WHERE {self.current} AND m.valid_from > ? ORDER BY m.id DESC LIMIT ?"
        )
        return list(self.db.execute(sql, (4 * limit, since, limit)))

    def mentions(self, called: str, limit: int) -> tuple[int, list[int]]:
        """Return about how many memories have a name in their text, and the newest current ones."""
        from memman.model.names import expression, mentions

        match = expression(called)
        if not match:
            return 0, []
        sql = (
            "SELECT m.id, m.text, m.entities FROM"
            " (SELECT rowid FROM fts WHERE fts MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?) n"
            f" CROSS JOIN memory m ON m.id = n.rowid WHERE {self.current} ORDER BY m.id DESC"
        )
        rows = self.db.execute(sql, (match, self.horizon, _MOST_MENTIONS))
        found = [memory for memory, text, entities in rows if mentions(text, called) or mentions(entities, called)]
        more = self.estimated(match, _MOST_MENTIONS) * len(found) // _MOST_MENTIONS
        return max(more, len(found)), found[:limit]

    def found(self, part: str) -> list[tuple[int, str]]:
        """Return (id, uid) of memories whose uid begins with `part`, or whose note it names."""
        after = part[:-1] + chr(ord(part[-1]) + 1)
        sql = "SELECT id, uid FROM memory WHERE uid >= ? AND uid < ? ORDER BY uid LIMIT 10"
        rows = list(self.db.execute(sql, (part, after)))
        if not rows and len(part) >= 8:  # noqa: PLR2004 - the length the index covers
            sql = "SELECT id, uid FROM memory WHERE substr(note, -8) = ? AND note LIKE ? ORDER BY id"
            rows = list(self.db.execute(sql, (part[-8:], "%" + part)))
        return rows

    def partition(self, embedder: int) -> "Partition":
        """Return the partition of `embedder`'s vectors, read once. Not for the hot path: imports numpy."""
        if embedder not in self._partitions:
            from memman.store.sqlite.vectors import Partition

            self._partitions[embedder] = Partition.load(self.db, embedder)
        return self._partitions[embedder]

    def cells_near(self, embedder: int, vector: "Vectors") -> list[int]:
        """Return the cells around `vector`; empty means the whole store."""
        return self.partition(embedder).near(vector)

    def forget_partitions(self) -> None:
        """Read the partitions again at their next use."""
        self._partitions.clear()
