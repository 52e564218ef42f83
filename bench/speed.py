"""Speed and size: measure every row of the table of targets, print it, and keep the JSON."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time

from bench.machine import described
from bench.measures import LONG, MEASURES, Bench
from bench.targets import rows, table


def main() -> int:
    """Run the bench from the command line."""
    asked = _arguments()
    work = os.path.abspath(asked.work)
    os.makedirs(work, exist_ok=True)
    if asked.fresh:
        shutil.rmtree(work + "/scale", ignore_errors=True)
    bench = Bench(work, quick=asked.quick)
    began = time.perf_counter()
    figures = {}
    for name in asked.only or (name for name in MEASURES if not (asked.quick and name in LONG)):
        figures |= MEASURES[name](bench)
    seconds = round(time.perf_counter() - began, 1)
    result = {"machine": described(), "quick": asked.quick, "seconds": seconds, "rows": rows(figures), "raw": bench.raw}
    text = json.dumps(result, indent=2)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as out:
            out.write(text + "\n")
        print(table(figures))
    else:
        print(text)
        sys.stderr.write(table(figures) + "\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds; a 100k store is used only if it is there already"
    )
    parser.add_argument(
        "--work",
        default=os.path.join(tempfile.gettempdir(), "memman-bench"),
        help="folder for installations and stores, kept for the next run",
    )
    parser.add_argument("--fresh", action="store_true", help="build the stores anew, after a change to the pipeline")
    parser.add_argument("--json", help="write the JSON here and only the table to standard output")
    parser.add_argument("--only", action="append", choices=MEASURES, help="a part of it; may be repeated")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
