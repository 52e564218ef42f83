"""What the product is held against: bare full-text search, and nearness of meaning alone."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import apsw
import numpy as np

from bench.dataset import Doc, Key, Query
from bench.scores import DEPTH
from memman.embed.static import StaticTable
from memman.judge.embedder import BuiltinEmbedder
from memman.model.terms import STOPWORDS, match_any, words

# Asked of the documents of one scope, best first.
Ranker = Callable[[Query], Sequence[Key]]


def bm25(scopes: Mapping[str, Sequence[Doc]]) -> Ranker:
    """Rank by a bare FTS5 table: Porter stems, any of the words, stop words out."""
    tables = {scope: _table(docs) for scope, docs in scopes.items()}

    def ranked(query: Query) -> list[Key]:
        spoken = dict.fromkeys(word.lower() for word in words(query.text))
        asked = [word for word in spoken if word not in STOPWORDS] or list(spoken)
        docs = scopes[query.scope]
        sql = f"SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY bm25(fts), rowid LIMIT {DEPTH}"
        found = tables[query.scope].execute(sql, (match_any(asked),)) if asked else ()
        return [docs[row - 1].key for (row,) in found]

    return ranked


def _table(docs: Sequence[Doc]) -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE fts USING fts5(text, tokenize='porter unicode61')")
    db.executemany("INSERT INTO fts(rowid, text) VALUES (?, ?)", [(n, doc.text) for n, doc in enumerate(docs, 1)])
    return db


def dense(scopes: Mapping[str, Sequence[Doc]]) -> Ranker:
    """Rank by the exact cosine of a question, by the table, to memories, by the built-in embedder."""
    local, table = BuiltinEmbedder(), StaticTable()
    matrices = {scope: _vectors(local, [doc.text for doc in docs]) for scope, docs in scopes.items()}

    def ranked(query: Query) -> list[Key]:
        cosines = matrices[query.scope] @ np.array(table.vector(query.text))
        return [scopes[query.scope][n].key for n in np.argsort(-cosines, kind="stable")[:DEPTH]]

    return ranked


def _vectors(local: BuiltinEmbedder, texts: Sequence[str]) -> np.ndarray:
    return asyncio.run(local.embed(texts)).vectors
