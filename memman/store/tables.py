"""The tables of a store that several machines share, as rows that name no number which a machine gave for itself.

What each works out from them is not among them: the text index, sign codes, counts of names, numbers of scopes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from memman.model.vocabulary import OWN, REPLACED, UNDONE
from memman.sqlite import LISTED
from memman.store import MemoryRow

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One table: columns, key, group, and the `sent` columns by which a server knows who may see a row."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    group: str
    sent: tuple[str, ...] = ()
    numbered: bool = True

    @property
    def single(self) -> bool:
        """Whether a group is one row."""
        return self.key == (self.group,)

    def read(self, db: apsw.Connection, groups: str) -> list[Row]:
        """Return the rows of `groups`, a JSON list, with what is sent, in the order of their keys."""
        return list(db.execute(f"{self._select} {self.group} {LISTED} ORDER BY {', '.join(self.key)}", (groups,)))

    def beyond(self, db: apsw.Connection, group: object) -> Iterator[Row]:
        """Yield what `read` would, group by group, of all those behind `group`, None for the first."""
        sql = f"{self._select} (?1 IS NULL OR {self.group} > ?1) ORDER BY {', '.join((self.group, *self.key))}"
        yield from db.execute(sql, (group,))

    def count(self, db: apsw.Connection, upto: object = None) -> int:
        """Count the rows, or those of all groups up to one."""
        sql = f"SELECT count(*) FROM {self._source} WHERE (?1 IS NULL OR {self.group} <= ?1)"
        return int(db.execute(sql, (upto,)).get)

    @property
    def _source(self) -> str:
        return _READ.get(self.name) or self.name

    @property
    def _select(self) -> str:
        return f"SELECT {', '.join((*self.columns, *self.sent))} FROM {self._source} WHERE"


# Who sees what is said of a memory; nobody but us what is said of none that is there.
_SEEN = "coalesce((SELECT visibility FROM authorship WHERE memory = {}), 'private')"
_BY_UID = "(SELECT id FROM memory WHERE uid = {})"
_HIS = "substr(m.note, -8) = substr(receipt.note, -8) AND m.note = receipt.note"
# A receipt is for all where all that its note made is, and all that it changed.
_PRIVATE_NOTE = f"""
NOT EXISTS (SELECT 1 FROM memory m WHERE {_HIS})
OR EXISTS (SELECT 1 FROM memory m WHERE {_HIS} AND {_SEEN.format("m.id")} = 'private')
OR changed <> '' AND EXISTS (
    SELECT 1 FROM json_each(changed) i, authorship a
    WHERE a.visibility = 'private' AND a.memory IN (i.value ->> '$[1][0]', i.value ->> '$[1][2]')
)"""
# The memory that a setting is named after or a line of the log is of, where it is there: they are for whom it is.
_NAMED = f"""
iif(key GLOB '{REPLACED}*', (SELECT id FROM memory WHERE id = CAST(value AS INTEGER)),
    {_BY_UID.format("substr(key, instr(key, ':') + 1)")})"""
# Any other setting is for all, but what an undo did, and word for a note of which nothing is there.
_OF_SETTING = f"""
CASE
    WHEN about THEN {_SEEN.format("about")}
    ELSE iif(key GLOB '{UNDONE}*' OR key GLOB '{REPLACED}*', 'private', 'shared')
END"""
# That something was purged, all are told, and nothing of what it said.
_OF_LINE = f"iif(verb = 'purge', 'shared', {_SEEN.format('about')})"
# Where rows come from that are more than the columns of a table.
_READ = {
    "receipt": f"(SELECT *, iif({_PRIVATE_NOTE}, 'private', 'shared') AS visibility FROM receipt)",
    "scoped": "(SELECT memory, repository, path FROM scoped JOIN scope ON scope.id = scoped.scope)",
    "mention": "(SELECT memory, name FROM mention JOIN entity ON entity.id = mention.entity)",
    "vector": "(SELECT * FROM vector WHERE embedder IN (SELECT id FROM embedder))",
    "rule": (
        "(SELECT rule.*, repository, path, iif(rule.scope, 'shared', 'private') AS visibility"
        " FROM rule JOIN scope ON scope.id = rule.scope)"
    ),
    "meta": (
        f"(SELECT *, {_OF_SETTING} AS visibility"
        f" FROM (SELECT *, {_NAMED} AS about FROM meta WHERE key NOT GLOB '{OWN}*'))"
    ),
    "log": (
        f"(SELECT *, {_OF_LINE} AS visibility FROM (SELECT *, iif(verb = 'purge', NULL,"
        f" {_BY_UID.format('log.memory')}) AS about FROM log))"
    ),
    "rejected": "(SELECT lower(hex(digest)) AS digest, at FROM rejected)",
}
# All that is said of memories, by table: the groups of those that a JSON list names.
BESIDE = {
    "memory": f"SELECT id FROM memory WHERE id {LISTED}",
    **{
        name: f"SELECT memory FROM {name} WHERE memory {LISTED}"
        for name in ("scoped", "mention", "freshness", "file", "evidence", "shown")
    },
    "vector": f"SELECT memory FROM vector WHERE embedder IN (SELECT id FROM embedder) AND memory {LISTED}",
    "link": f"SELECT src FROM link WHERE src {LISTED} UNION SELECT src FROM link WHERE dst {LISTED}",
    "receipt": f"SELECT note FROM receipt WHERE note IN (SELECT note FROM memory WHERE id {LISTED})",
    "log": f"SELECT id FROM log WHERE memory IN (SELECT uid FROM memory WHERE id {LISTED})",
    "meta": (
        f"SELECT key FROM meta WHERE substr(key, instr(key, ':') + 1) IN (SELECT uid FROM memory WHERE id {LISTED})"
        f" OR key GLOB '{REPLACED}*' AND CAST(value AS INTEGER) {LISTED}"
    ),
}
# The lines of what is purged by the lines that a JSON list names: for whom they are their memory says no more.
LINES_LEFT = f"SELECT id FROM log WHERE memory IN (SELECT memory FROM log WHERE verb = 'purge' AND id {LISTED})"
# The notes that changed one of the memories that a JSON list names.
CHANGED_BY = (
    "SELECT DISTINCT note FROM receipt, json_each(nullif(changed, '')) i"
    f" WHERE (i.value ->> '$[1][0]' {LISTED} OR i.value ->> '$[1][2]' {LISTED})"
)


def _table(
    name: str, columns: str, key: str, *, group: str = "", sent: tuple[str, ...] = (), numbered: bool = True
) -> Table:
    keys = tuple(key.split())
    return Table(name, tuple(columns.split()), keys, group or keys[0], sent, numbered)


_SENT = ("visibility",)
_ABOUT = ("about", "visibility")
_RECEIPT = "note at outcome facts agent session cwd repository revision host user drain models changed"
_RULE = "id uid text tool pattern action repository path memory made_at ends_at snoozed_until hits hit_at"

# In an order in which each can be told who may see what it names.
TABLES = {
    table.name: table
    for table in (
        _table("authorship", "memory author visibility retired_by", "memory"),
        _table("memory", " ".join((*MemoryRow.columns, "digest", "screened")), "id"),
        _table("receipt", _RECEIPT, "note", sent=_SENT, numbered=False),
        _table("scoped", "memory repository path", "memory"),
        _table("mention", "memory name", "memory name"),
        _table("alias", "name means memory", "memory name means"),
        _table("freshness", "memory ends_at verified_at", "memory"),
        _table("file", "memory path blob changed_at", "memory path"),
        _table("evidence", "memory kind session at", "memory kind session"),
        _table("shown", "memory session way agent at times tokens", "memory session way"),
        _table("vector", "embedder memory cell planes squares", "embedder memory", group="memory"),
        _table("link", "src kind dst weight detail", "src kind dst"),
        _table("rule", _RULE, "id", sent=_SENT),
        _table("meta", "key value", "key", sent=_ABOUT, numbered=False),
        _table("log", "id at verb memory note before after", "id", sent=_ABOUT),
        _table("embedder", "id provider model dimension", "id"),
        _table("cell", "embedder id centroid", "embedder id"),
        _table("beacon", "embedder cell code", "embedder cell"),
        _table("rejected", "digest at", "digest", numbered=False),
    )
}
