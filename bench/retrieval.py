"""Quality of recall on data sets, beside plain full-text search and nearness of meaning alone.

`python -m bench.retrieval --data FOLDER` takes every folder there with docs.jsonl and queries.jsonl (our own lie in
`bench/data`), and measures it with a store for each scope and with all scopes in one. It prints JSON.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np

from bench import baselines, dataset
from bench.dataset import ADVERSARIAL, Dataset, Key, Query
from bench.machine import ROOT, described
from bench.scores import DEPTH, Ranking, judged, middle_ms, rolled_up
from bench.shelves import Shelves, build
from memman.embed.static import StaticTable
from memman.recall import answered
from memman.recall.hit import Hit
from memman.recall.query import understood
from memman.recall.render import lines, tokens
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader

# What `memman recall` prints unless told otherwise.
SHOWN = 10
_DAY_MS = 86_400_000


class Recall:
    """The product's own recall in a data set's stores, a day after the last thing was said there."""

    def __init__(self, shelves: Shelves) -> None:
        self.table = StaticTable()
        self.readers = {scope: shelf.reader() for scope, shelf in shelves.by_scope.items()}
        self._keys = {uid: doc.key for shelf in shelves.by_scope.values() for uid, doc in shelf.docs.items()}

    def now(self, reader: SqliteReader) -> int:
        """Return when questions are asked."""
        return int(reader.db.execute("SELECT max(valid_from) FROM memory").get or 0) + _DAY_MS

    def hits(self, query: Query, filters: Filters, limit: int) -> list[Hit]:
        """Ask the store of the question's scope."""
        reader = self.readers[query.scope]
        asked = understood(query.text, self.now(reader), filters.as_of).grounded(reader, filters)
        return answered(reader, self.table, asked, filters, limit)

    def shown(self, query: Query) -> list[Key]:
        """Return what `memman recall` prints."""
        return [self._keys[hit.row.uid] for hit in self.hits(query, Filters(), SHOWN)]

    def ranked(self, query: Query) -> list[Key]:
        """Return the ranking alone: nothing is cut, and what is alike counts where the first of it stands."""
        hits = self.hits(query, Filters(least=0.0), DEPTH)
        return [self._keys[uid] for hit in hits for uid in (hit.row.uid, *hit.alike)][:DEPTH]

    def surest(self, query: Query) -> float:
        """Return the confidence of the surest hit, 0 where there is none."""
        return max((hit.confidence for hit in self.hits(query, Filters(least=0.0), SHOWN)), default=0.0)

    def printed(self, query: Query) -> tuple[int, int]:
        """Return how many lines and tokens a question brings."""
        hits = self.hits(query, Filters(), SHOWN)
        return len(hits), sum(map(tokens, lines(hits, self.now(self.readers[query.scope]), query.text, None)))


def measure(data: Dataset, work: str) -> dict[str, Any]:
    """Return every figure of a data set."""
    shelves = build(data, work)
    recall = Recall(shelves)
    sessions = {doc.key: doc.session for doc in data.docs}
    rankers = {
        "memman": recall.ranked,
        "as shown": recall.shown,
        "BM25": baselines.bm25(data.scopes),
        "dense": baselines.dense(data.scopes),
    }
    rankings = {name: _ranked(data, ranker) for name, ranker in rankers.items()}
    memories = sum(len(shelf.docs) for shelf in shelves.by_scope.values())
    return {
        "data": {"docs": len(data.docs), "queries": len(data.queries), "stores": len(shelves.by_scope)},
        "build": {"seconds": round(shelves.seconds, 1), "bytes_a_memory": round(shelves.bytes / memories)},
        "rankings": {
            name: {
                "quality": judged(some),
                "sessions": judged(rolled_up(some, sessions)),
                "ms": round(middle_ms(some), 3),
            }
            for name, some in rankings.items()
        },
        "unanswerable": unanswerable(recall, data.queries),
    }


def unanswerable(recall: Recall, queries: Sequence[Query]) -> dict[str, dict[str, float]]:
    """Return, by kind of question, how often none is shown, lines, tokens, and how well confidence tells it apart.

    Without an answer are those of the set that have no gold, and all others asked of another scope's store. The AUC
    is how often recall is surer of a question that has an answer.
    """
    answerable = [query for query in queries if query.gold and query.category != ADVERSARIAL]
    scopes = list(recall.readers)
    others = dict(pairwise([*scopes, *scopes[:1]])) if scopes[1:] else {}
    asked = {"answerable": answerable}
    for query in queries:
        if not query.gold:
            asked.setdefault(query.category, []).append(query)
    if others:
        asked["asked of another store"] = [replace(query, scope=others[query.scope]) for query in answerable]
    known = [recall.surest(query) for query in answerable]
    return {kind: _told(recall, known, some) for kind, some in asked.items() if some and known}


def _told(recall: Recall, known: Sequence[float], queries: Sequence[Query]) -> dict[str, float]:
    printed = [recall.printed(query) for query in queries]
    return {
        "n": len(queries),
        "silent": round(fmean(not shown for shown, _ in printed), 4),
        "lines": round(fmean(shown for shown, _ in printed), 2),
        "tokens": round(fmean(cost for _, cost in printed), 1),
        "auc": round(auc(known, [recall.surest(query) for query in queries]), 4),
    }


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return how often a value of `positive` exceeds one of `negative`, ties counted half."""
    ordered, values = np.sort(np.asarray(negative, float)), np.asarray(positive, float)
    below, upto = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    return float((below + upto).mean() / 2 / len(ordered))


def _ranked(data: Dataset, ranker: Callable[[Query], Sequence[Key]]) -> list[Ranking]:
    rankings = []
    for query in data.answerable:
        began = time.perf_counter()
        found = tuple(ranker(query))
        rankings.append(Ranking(query, found, (time.perf_counter() - began) * 1e3))
    return rankings


def _sets(folder: str, most: int | None) -> Iterator[tuple[str, Dataset]]:
    for name in sorted(os.listdir(folder)):
        if os.path.exists(f"{folder}/{name}/docs.jsonl"):
            data = dataset.load(f"{folder}/{name}/docs.jsonl", f"{folder}/{name}/queries.jsonl", most)
            yield name, data
            if len(data.scopes) > 1:
                yield f"{name}, one store", data.merged()


def main() -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("--data", default=f"{ROOT}/bench/data", help="a folder of data sets")
    parser.add_argument("--most", type=int, help="evenly many of the questions, no more than this")
    parser.add_argument("--json", help="write the JSON here")
    asked = parser.parse_args()
    sets = []
    with tempfile.TemporaryDirectory() as work:
        for name, data in _sets(asked.data, asked.most):
            sets.append({"name": name} | measure(data, f"{work}/{name}"))
    with open(asked.json or sys.stdout.fileno(), "w", encoding="utf-8") as out:
        json.dump({"machine": described(), "sets": sets}, out, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
