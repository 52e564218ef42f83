"""Recall alone, as a process of its own: what a question costs when nothing but recall is loaded.

Run as a module: takes {"path", "queries", "limit"} as JSON on standard input, and prints the milliseconds of each
question and the peak of resident memory (KiB).
"""

import json
import os
import resource
import sys
import time

from memman.embed.static import StaticTable
from memman.recall import search
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader


def main() -> None:
    """Ask every question once."""
    asked = json.load(sys.stdin)
    reader, table = SqliteReader.open(asked["path"]), StaticTable()
    taken = []
    for query in asked["queries"]:
        began = time.perf_counter()
        search(reader, table, query, Filters(), asked["limit"])
        taken.append((time.perf_counter() - began) * 1e3)
    json.dump({"ms": taken, "peak_kib": _peak()}, sys.stdout)


def _peak() -> int:
    # ru_maxrss begins at the parent's on Linux; the process's own is in /proc.
    if os.path.exists("/proc/self/status"):
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
