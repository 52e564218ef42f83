"""The command line of a bench over made-up facts: how many, where, and where the JSON goes."""

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

Figures = dict[str, Any]


def run(
    name: str, says: str | None, facts: int, measure: Callable[[int, str], Figures], table: Callable[[Figures], str]
) -> int:
    """Measure as the command line asks, keep the JSON, print the table."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=says)
    parser.add_argument("--facts", type=int, default=facts)
    parser.add_argument("--json", help="write the JSON here")
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "memman-bench", name))
    asked = parser.parse_args()
    figures = measure(asked.facts, asked.work)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as out:
            json.dump(figures, out, indent=2)
    print(table(figures))
    return 0
