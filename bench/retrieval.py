"""Quality of recall on a data set, beside plain full-text search and nearness of meaning alone."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from bench import dataset, trials
from bench.machine import described
from bench.published import gap, showing
from bench.scores import EVERY, METRICS, OVERALL
from bench.tables import markdown
from memman.embed.minilm import MiniLM
from memman.model.vocabulary import MINILM

# Shares of one rather than percentages.
_PLAIN = ("MRR", "nDCG@10")
# What the name of a data set ends in when all its scopes are in one store.
ONE_STORE = ", one store"


def main() -> int:
    """Run the bench from the command line."""
    asked = _arguments()
    upgrade = MiniLM() if asked.embedder == MINILM else None
    sets = []
    for name, data in _sets(asked):
        figures = trials.measure(data, f"{asked.work}/{name}", ablations=asked.ablations, upgrade=upgrade)
        sets.append({"name": name, **figures})
        print(report(sets[-1]) + "\n", file=sys.stdout if asked.json else sys.stderr, flush=True)
    text = json.dumps({"machine": described(), "sets": sets}, indent=2)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as out:
            out.write(text + "\n")
    else:
        print(text)
    return 0


def _sets(asked: argparse.Namespace) -> Iterator[tuple[str, dataset.Dataset]]:
    """Yield the data sets to measure on, of a folder's each that has several scopes as one store too."""
    if asked.docs:
        data = dataset.load(asked.docs, asked.queries, asked.most)
        name = asked.name or os.path.basename(os.path.dirname(os.path.abspath(asked.docs)))
        yield (name + ONE_STORE, data.merged()) if asked.merged else (name, data)
        return
    for name in sorted(os.listdir(asked.data)):
        folder = f"{asked.data}/{name}"
        if os.path.exists(f"{folder}/docs.jsonl"):
            data = dataset.load(f"{folder}/docs.jsonl", f"{folder}/queries.jsonl", asked.most)
            yield name, data
            if len(data.scopes) > 1:
                yield name + ONE_STORE, data.merged()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("--docs", help="documents, a JSON object a line")
    parser.add_argument("--queries", help="questions about them, a JSON object a line")
    parser.add_argument("--name", help="what to call the data set (default: its folder)")
    parser.add_argument("--merged", action="store_true", help="put all scopes into one store")
    parser.add_argument("--data", help="instead: a folder of data sets, each with docs.jsonl and queries.jsonl")
    parser.add_argument("--ablations", action="store_true", help="measure recall without each of its signals too")
    parser.add_argument("--embedder", choices=("builtin", MINILM), default="builtin", help="whose vectors are searched")
    parser.add_argument("--most", type=int, help="evenly many of the questions, no more than this")
    parser.add_argument("--json", help="write the JSON here and only the tables to standard output")
    parser.add_argument(
        "--work", default=os.path.join(tempfile.gettempdir(), "memman-bench", "retrieval"), help="folder for the stores"
    )
    asked = parser.parse_args()
    if bool(asked.docs and asked.queries) == bool(asked.data):
        parser.error("give --docs and --queries, or --data")
    return asked


def report(figures: Mapping[str, Any]) -> str:
    """Write the figures as tables."""
    data, alone = figures["data"], figures["alone"]
    head = (
        f"## {figures['name']}: {data['docs']} memories in {data['stores']} stores, {data['queries']} questions\n\n"
        f"{alone['ms']:.2f} ms a question in a process with {alone['peak_mib']:.0f} MiB at its peak"
        f" ({alone['memories']} memories); {figures['build']['bytes_a_memory']} bytes a memory"
    )
    return "\n\n".join((head, _rankers(figures), showing([figures]), _categories(figures), _confidence(figures)))


def _rankers(figures: Mapping[str, Any]) -> str:
    columns = (
        "ranker",
        *METRICS,
        "sessions R@5",
        "R@10",
        "ms",
        *(f"{one} to default [95 %]" for one in trials.TOLD_BY),
    )
    lines = []
    for name, ranking in figures["rankings"].items():
        sessions = ranking["sessions"][EVERY]
        gaps = [gap(ranking, metric) if name != trials.DEFAULT else "" for metric in trials.TOLD_BY]
        cells = (*_cells(ranking["quality"][OVERALL]), f"{100 * sessions['R@5']:.1f}", f"{100 * sessions['R@10']:.1f}")
        lines.append((name, *cells, f"{ranking['ms']:.2f}", *gaps))
    return markdown(columns, lines)


def _categories(figures: Mapping[str, Any]) -> str:
    default = figures["rankings"][trials.DEFAULT]["quality"]
    lines = [(name, *_cells(means), str(means["n"])) for name, means in default.items()]
    return markdown(("category, " + trials.DEFAULT, *METRICS, "n"), lines)


def _cells(means: Mapping[str, float]) -> Iterator[str]:
    for name in METRICS:
        yield f"{means[name]:.3f}" if name in _PLAIN else f"{100 * means[name]:.1f}"


def _confidence(figures: Mapping[str, Any]) -> str:
    columns = ("unanswerable", "AUC of the confidence", "mean answerable", "mean unanswerable", "n")
    lines = [
        (name, f"{said['auc']:.3f}", f"{said['answerable']:.3f}", f"{said['unanswerable']:.3f}", str(said["n"]))
        for name, said in figures["confidence"].items()
    ]
    return markdown(columns, lines)


if __name__ == "__main__":
    sys.exit(main())
