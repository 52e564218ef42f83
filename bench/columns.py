"""The tables of docs/scale.md: a column for each store, and how the largest one's statements are run."""

from collections.abc import Iterator, Mapping
from typing import Any

from bench.scale import QUERIES
from bench.tables import markdown

_SIDES = {"alone": "by itself", "shared": "shared"}
_RECALLED = {"alone": "store by itself", "shared": "replica that wrote", "member": "other replica"}
_WEIGHED = {"alone": "store by itself", "replica": "other replica", "server": "on the server, indexes too"}
_WHERE = {"turn": "a note's turn", "pull": "pull of five notes", "fill": "first fill, page by page"}


def table(figures: Mapping[str, Any]) -> str:
    """Write what each size takes, and the plans."""
    columns = [dict(_column(one)) for one in figures["stores"].values()]
    heads = [f"{int(size):,} memories" for size in figures["stores"]]
    lines = [(what, *(column[what] for column in columns)) for what in columns[0]]
    largest = [*figures["stores"].values()][-1]
    return f"{markdown(('what', *heads), lines)}\n\n{plans(largest['statements'])}"


def plans(statements: list[dict[str, Any]]) -> str:
    """Write of each kind of statement how often it was sent, and the plan of the one that touched most pages."""
    columns = ("within", "statement", "sent", "ms to plan, run", "pages", "rows given", "rows read", "by index")
    return markdown(columns, [_plan(row) for row in statements])


def _plan(row: Mapping[str, Any]) -> tuple[str, ...]:
    where, statement = row["statement"].split(": ")
    times = f"{row['planning_ms']:.2f}, {row['execution_ms']:.2f}"
    by = ", ".join(row["indexes"]) or (f"none: {', '.join(row['scanned'])}" if row["scanned"] else "")
    return (
        _WHERE[where],
        statement,
        str(row["n"]),
        times,
        *(f"{row[name]:,}" for name in ("pages", "given", "read")),
        by,
    )


def _column(one: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for part, says in (("note", "note drained"), ("turn", "its transaction")):
        for name, side in _SIDES.items():
            yield f"{says}, store {side}: p50, p95, least", _times(one["drains"][name][part])
    for name, side in _SIDES.items():
        rate = one["drains"][name]["notes_per_second"]
        yield f"whole drain, store {side}: p50 (least to most)", _range(rate, "notes/s", 1)
    for behind, said in one["pulls"].items():
        what = f"pull, {int(behind):,} changes behind: p50 (least to most)"
        yield what, f"{_range(said, 'ms', 1, '_ms')}, {said['changes']:,} changes"
    filled, taken = one["fill"], one["upload"]
    yield "first fill of a replica", f"{filled['seconds']:.1f} s, {filled['changes']:,} changes"
    yield "its processor time, peak memory", f"{filled['cpu']:.1f} s, {filled['peak_mib']:.0f} MiB"
    yield "store taken to the server", f"{taken['seconds']:.1f} s, {taken['rows']:,} rows"
    for query in QUERIES:
        for name, says in _RECALLED.items():
            ran = one["recall"][f"{name}-{query}"]
            times = (f"{ran[figure]:.1f}" for figure in ("wall_ms", "p95_ms", "least_ms"))
            yield f"recall, {query} question, {says}: p50, p95, least", ", ".join(times) + " ms"
    yield "bare `python -c pass` of the same run", f"{one['recall']['bare']['wall_ms']:.1f} ms"
    for name, says in _WEIGHED.items():
        yield f"disk, {says}", f"{one['bytes'][name] / 1e6:,.0f} MB"
    yield "load average meanwhile", f"{one['load'][0]:.1f} to {one['load'][1]:.1f}"


def _times(said: Mapping[str, float]) -> str:
    return ", ".join(f"{said[f'{name}_ms']:.1f}" for name in ("median", "p95", "least")) + " ms"


def _range(said: Mapping[str, float], unit: str, digits: int, suffix: str = "") -> str:
    middle, least, most = (f"{said[name + suffix]:,.{digits}f}" for name in ("median", "least", "most"))
    return f"{middle} ({least} to {most}) {unit}"
