"""By which linker the edges of memories were made: kept as runs of rows, since neighbours mostly have the same."""

import json
from collections.abc import Sequence
from itertools import pairwise

import apsw

_KEY = "linkers"
# (first row, linker), '' where nothing is known; a run goes on to the next one's first row.
Runs = list[tuple[int, str]]


def runs(db: apsw.Connection) -> Runs:
    """Return the runs of a store, lowest first."""
    said = db.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).get
    return [(first, linker) for first, linker in json.loads(said)] if said else [(1, "")]


def mark(db: apsw.Connection, linker: str, first: int, last: int | None = None) -> None:
    """Note that `linker` made the edges of a run of rows, without `last` of all from `first` on."""
    before = runs(db)
    after = _marked(before, linker, first, last)
    if after != before:
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, json.dumps(after)))


def unknown(db: apsw.Connection, last: int) -> list[tuple[int, int]]:
    """Return the runs of rows up to `last`, as (first, last), of which it is not known what made their edges."""
    found = [(first, min(end, last + 1) - 1, by) for (first, by), (end, _) in pairwise([*runs(db), (last + 1, "")])]
    return [(first, end) for first, end, by in found if not by and first <= end]


def _marked(before: Runs, linker: str, first: int, last: int | None) -> Runs:
    behind = [] if last is None else [(last + 1, _of(before, last + 1)), *(run for run in before if run[0] > last + 1)]
    cut = [*(run for run in before if run[0] < first), (first, linker), *behind]
    return [run for n, run in enumerate(cut) if not n or run[1] != cut[n - 1][1]]


def _of(before: Sequence[tuple[int, str]], row: int) -> str:
    return [by for first, by in before if first <= row][-1]
