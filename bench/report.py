"""The tables and plots of docs/benchmarks.md and docs/scale.md, written from the JSON of the benches."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from bench.machine import ROOT
from bench.plots import PLOTS
from bench.published import PAGES, PARTS

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("--from", dest="source", default=f"{ROOT}/bench/out", help="folder of the JSON files")
    parser.add_argument("--page", default=f"{ROOT}/docs/benchmarks.md", help="file to refresh between its markers")
    asked = parser.parse_args(arguments)
    names = PAGES.get(os.path.basename(asked.page), PAGES["benchmarks.md"])
    found = {name: _read(f"{asked.source}/{name}.json") for name in names}
    written = "\n\n".join(PARTS[name](figures) for name, figures in found.items() if figures)
    if not written:
        sys.exit(f"there are no figures in {asked.source}: `make bench` makes them")
    with open(asked.page, encoding="utf-8") as before:
        text = refreshed(before.read(), written)
    _write(asked.page, text)
    for name, (file, draw) in PLOTS.items():
        if figures := found.get(name):
            _write(os.path.join(os.path.dirname(asked.page), file), draw(figures))
    return 0


def refreshed(text: str, written: str) -> str:
    """Put what was written in place of what is between the markers. Raises ValueError where there are none."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"no place for the figures: {BEGIN} … {END} are missing")
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n{written}\n{END}{rest.partition(END)[2]}"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def _read(path: str) -> dict[str, Any] | None:
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as saved:
        found: dict[str, Any] = json.load(saved)
        return found


if __name__ == "__main__":
    sys.exit(main())
