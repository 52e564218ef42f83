"""Which memories a person means by more than ids: all of a session, of a scope, of a source, or that say some words."""

from collections.abc import Iterable
from contextlib import closing

import apsw

from memman.model.terms import index_terms, match_all, query_terms
from memman.model.vocabulary import HIDDEN

_BY = {
    "session": "note IN (SELECT note FROM receipt WHERE session = ?1)",
    "source": "source = ?1",
    "scope": (
        "coalesce((SELECT repository FROM scoped JOIN scope ON scope.id = scope WHERE memory = memory.id), '') = ?1"
    ),
}
_INDEX = (
    "CREATE VIRTUAL TABLE said USING fts5(uid UNINDEXED, text, terms, tokenize='porter unicode61 remove_diacritics 2')"
)


def uids(db: apsw.Connection, by: str, value: str) -> list[str]:
    """Return the uids of memories by `session`, `source` or `scope` (a repository), hidden ones too."""
    return [uid for (uid,) in db.execute(f"SELECT uid FROM memory WHERE {_BY[by]} ORDER BY id", (value,))]


def saying(db: apsw.Connection, query: str) -> list[str]:
    """Return the uids of memories, hidden ones too, whose text or names have all words of a query."""
    match = match_all(query_terms(query))
    if not match:
        return []
    indexed = "SELECT uid FROM fts JOIN memory ON memory.id = fts.rowid WHERE fts MATCH ? ORDER BY memory.id"
    hidden = f"SELECT uid, concat_ws(' ', text, entities, keywords) FROM memory WHERE status IN {HIDDEN} ORDER BY id"
    found = [uid for (uid,) in db.execute(indexed, (f"{{text terms}} : ({match})",))]
    return [*found, *those_saying(db.execute(hidden), query)]


def those_saying(texts: Iterable[tuple[str, str]], query: str) -> list[str]:
    """Return the ids of the texts that have all words of a query, in the forms that the index of a store knows."""
    match = match_all(query_terms(query))
    if not match:
        return []
    with closing(apsw.Connection(":memory:")) as db:
        db.execute(_INDEX)
        db.executemany("INSERT INTO said VALUES (?, ?, ?)", ((uid, text, index_terms(text)) for uid, text in texts))
        sql = "SELECT uid FROM said WHERE said MATCH ? ORDER BY rowid"
        return [uid for (uid,) in db.execute(sql, (match,))]
