"""Recall from a thousand memories to a million: time and memory of the whole process, and the disk it takes."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from bench import corpus, process, sizes
from bench.machine import described
from bench.measures import ASKED, Bench
from bench.process import Case, Timing
from bench.tables import markdown

ROWS = (1_000, 10_000, 100_000)
QUERIES = ("selective", "common")


def main() -> int:
    """Run the bench from the command line."""
    asked = _arguments()
    bench = Bench(os.path.abspath(asked.work), quick=asked.quick)
    if asked.source:
        folder = os.path.abspath(asked.source)
        made = sizes.known(folder, sorted(asked.rows))
    else:
        folder = bench.grown
        made = sizes.build(folder, sorted(asked.rows), bench.say, fresh=asked.fresh)
    figures = {"machine": described(), "quick": asked.quick, "sizes": made, "processes": measure(bench, folder, made)}
    text = json.dumps(figures, indent=2)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as out:
            out.write(text + "\n")
    else:
        print(text)
    print(table(figures), file=sys.stdout if asked.json else sys.stderr)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="memories of each store")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--fresh", action="store_true", help="build the stores anew")
    parser.add_argument("--from", dest="source", help="folder with the stores of an earlier run, whatever made them")
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "memman-bench"), help="as bench.speed's")
    parser.add_argument("--json", help="write the JSON here and only the table to standard output")
    return parser.parse_args()


def measure(bench: Bench, folder: str, made: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Time recall as whole processes of the installed wheel, beside a bare Python."""
    cases = dict(_cases(bench, folder, made))
    rounds = 12 if bench.quick else 48
    bench.say(f"running {len(cases)} commands {rounds} times each")
    timings = process.measure(cases, rounds, bench.machines[""].project)
    return {name: _record(timing, timings["bare"]) for name, timing in timings.items()}


def _cases(bench: Bench, folder: str, made: Mapping[str, Any]) -> Iterator[tuple[str, Case]]:
    user = bench.machines[""]
    yield "bare", ([[user.python, "-c", "pass"]], user.env(bench.data("bare")))
    for size in made:
        for query, asked in zip(QUERIES, (corpus.selective(ASKED), corpus.common(ASKED)), strict=True):
            for extension, there in bench.machines.items():
                commands = [[there.memman, "recall", question] for question in asked]
                yield key(size, query, extension), (commands, there.env(f"{folder}/{size}"))


def key(size: str, query: str, extension: str = "") -> str:
    """Name a case: its store, its questions, and 'plain' where there is no sqlite-vec."""
    return "-".join(filter(None, (size, query, extension)))


def _record(timing: Timing, bare: Timing) -> dict[str, float]:
    ratios = {"x_bare": timing.wall / bare.wall, "cpu_x_bare": timing.cpu / bare.cpu}
    return timing.record() | {name: round(ratio, 2) for name, ratio in ratios.items()}


def table(figures: Mapping[str, Any]) -> str:
    """Write a line for each store and kind of question."""
    columns = ("memories", "question", "ms", "x bare", "p95", "peak MiB", "without sqlite-vec", "MB", "bytes a memory")
    lines = []
    for size, info in figures["sizes"].items():
        for query in QUERIES:
            ran, plain = (figures["processes"][key(size, query, extension)] for extension in ("", "plain"))
            times = (f"{ran['wall_ms']:.1f}", f"{ran['x_bare']:.2f}", f"{ran['p95_ms']:.1f}", f"{ran['peak_mib']:.0f}")
            disk = f"{info['bytes'] / 1e6:.1f}", f"{info['bytes'] / info['memories']:.0f}"
            lines.append((f"{int(size):,}", query, *times, f"{plain['wall_ms']:.1f}", *disk))
    bare = figures["processes"]["bare"]
    return markdown(columns, lines) + f"\n\nbare python -c pass: {bare['wall_ms']:.1f} ms, {bare['peak_mib']:.0f} MiB"


if __name__ == "__main__":
    sys.exit(main())
