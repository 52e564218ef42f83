"""One data set through every ranker: what `bench.retrieval` measures."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from statistics import median
from typing import Any

from bench import baselines, rankers
from bench.baselines import Ranker
from bench.confidence import separation
from bench.dataset import Dataset
from bench.intervals import paired
from bench.machine import ROOT
from bench.scores import METRICS, Ranking, judged, middle_ms, plain, rolled_up
from bench.shelves import Shelves, build, unsmooth
from bench.showing import shown
from memman.embed import LocalEmbedder

DEFAULT = "memman"
# The metrics that differences are given in.
TOLD_BY = ("R@10", "MRR")
# Questions asked of a process of its own, to learn what recall alone takes.
TIMED = 200


def measure(data: Dataset, work: str, *, ablations: bool, upgrade: LocalEmbedder | None = None) -> dict[str, Any]:
    """Return every figure of a data set, as it goes into the JSON."""
    shelves = build(data, work, upgrade)
    alone = None
    if ablations:
        alone = build(data, f"{work}-unsmoothed", upgrade)
        unsmooth(alone, upgrade)
    rankings = {name: _ranked(data, ranker) for name, ranker in _contestants(data, shelves, alone).items()}
    sessions = {doc.key: doc.session for doc in data.docs}
    return {
        "data": {"docs": len(data.docs), "queries": len(data.queries), "stores": len(shelves.by_scope)},
        "build": {
            "seconds": round(shelves.seconds, 1),
            "bytes_a_memory": round(shelves.bytes / sum(len(shelf.docs) for shelf in shelves.by_scope.values())),
        },
        "rankings": {
            name: {
                "quality": judged(some),
                "sessions": judged(rolled_up(some, sessions)),
                "ms": round(middle_ms(some), 3),
                "difference": {metric: _difference(metric, some, rankings[DEFAULT]) for metric in TOLD_BY},
            }
            for name, some in rankings.items()
        },
        "shown": shown(shelves, data.queries),
        "confidence": separation(shelves, data.queries),
        "alone": _alone(data, shelves),
    }


def _contestants(data: Dataset, shelves: Shelves, alone: Shelves | None) -> Mapping[str, Ranker]:
    """Return every ranker by name; with stores whose vectors are not smoothed, also those without each signal."""
    recalls = {DEFAULT: rankers.ranked, "as shown": rankers.shown, **(rankers.ablations() if alone else {})}
    ours = {name: rankers.in_stores(shelves, recall) for name, recall in recalls.items()}
    if alone:
        ours["no smoothing"] = rankers.in_stores(alone, rankers.ranked)
    return ours | {"BM25": baselines.bm25(data.scopes), "dense": baselines.dense(data.scopes)}


def _ranked(data: Dataset, ranker: Ranker) -> list[Ranking]:
    rankings = []
    for query in data.answerable:
        began = time.perf_counter()
        found = tuple(ranker(query))
        rankings.append(Ranking(query, found, (time.perf_counter() - began) * 1e3))
    return rankings


def _difference(metric: str, some: list[Ranking], default: list[Ranking]) -> dict[str, float]:
    """Compare with the default question by question."""
    one, other = ([METRICS[metric](ranking) for ranking in plain(which)] for which in (some, default))
    return dict(zip(("mean", "low", "high"), (round(bound, 4) for bound in paired(one, other)), strict=True))


def _alone(data: Dataset, shelves: Shelves) -> dict[str, float]:
    """Ask the largest store in a process that loads nothing but recall."""
    scope, shelf = max(shelves.by_scope.items(), key=lambda pair: len(pair[1].docs))
    queries = [query.text for query in data.queries if query.scope == scope][:TIMED]
    asked = json.dumps({"path": shelf.path, "queries": queries, "limit": rankers.SHOWN})
    command = [sys.executable, "-m", "bench.asking"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, cwd=ROOT)
    said = json.loads(done.stdout)
    return {
        "memories": len(shelf.docs),
        "ms": round(median(said["ms"]), 3),
        "peak_mib": round(said["peak_kib"] / 1024, 1),
    }
