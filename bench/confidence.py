"""How well the product's confidence tells a question it can answer from one it cannot.

Questions without an answer are made in two ways: the question is asked of another scope's store, and it is asked
with the memories that answer it forgotten. Those that a data set itself calls adversarial or gives no
answer for come beside them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise

from bench.dataset import ADVERSARIAL, Query
from bench.intervals import auc
from bench.rankers import confidence
from bench.shelves import Shelves
from memman.clock import now_ms
from memman.embed.builtin import BuiltinEmbedder
from memman.embed.static import StaticTable
from memman.pipeline import context
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore


class _Undone(Exception):
    """Ends a transaction that was only a question of what if."""


def separation(shelves: Shelves, queries: Sequence[Query]) -> dict[str, dict[str, float]]:
    """Return, for each way to have no answer, the AUC of the confidence and the means on either side."""
    table = StaticTable()
    readers = {scope: shelf.reader() for scope, shelf in shelves.by_scope.items()}
    others = dict(pairwise([*readers, *list(readers)[:1]])) if len(readers) > 1 else {}
    answerable = [query for query in queries if query.gold and query.category != ADVERSARIAL]

    def sure(asked: Iterable[Query], of: Mapping[str, str]) -> list[float]:
        return [confidence(readers[of.get(q.scope, q.scope)], table, q.text) for q in asked]

    known = sure(answerable, {})
    unknown = {
        "elsewhere": sure(answerable, others) if others else [],
        "gold removed": list(_without_gold(shelves, table, answerable)),
        ADVERSARIAL: sure((query for query in queries if query.category == ADVERSARIAL), {}),
        "labelled": sure((query for query in queries if not query.gold), {}),
    }
    return {name: _told_apart(known, values) for name, values in unknown.items() if values and known}


def _told_apart(known: Sequence[float], unknown: Sequence[float]) -> dict[str, float]:
    return {
        "auc": round(auc(known, unknown), 4),
        "answerable": round(sum(known) / len(known), 4),
        "unanswerable": round(sum(unknown) / len(unknown), 4),
        "n": len(unknown),
    }


def _without_gold(shelves: Shelves, table: StaticTable, queries: Sequence[Query]) -> Iterator[float]:
    for scope, shelf in shelves.by_scope.items():
        rows = shelf.rows
        with shelf.writer() as store:
            for query in (query for query in queries if query.scope == scope):
                with forgotten(store, [rows[key] for key in query.gold if key in rows]) as reader:
                    sure = confidence(reader, table, query.text)
                yield sure


@contextmanager
def forgotten(store: SqliteStore, uids: Sequence[str]) -> Iterator[SqliteReader]:
    """Forget memories by the product's own means for as long as a question takes; nothing of it is kept."""
    with suppress(_Undone), store.unit() as unit:
        memories = store.reader.located(uids)
        context.forget(unit, BuiltinEmbedder(), store.cell, memories, now_ms())
        yield store.reader
        raise _Undone
