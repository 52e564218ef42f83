"""The tables of docs/benchmarks.md and docs/scale.md, each from the JSON of one bench."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.columns import table
from bench.scale import QUERIES, key
from bench.scores import EVERY, OVERALL
from bench.tables import markdown
from bench.trials import TOLD_BY

# Rows of bench.speed's table that are published; recall by size comes from bench.scale.
SPEED = (
    "remember",
    "hook-prompt",
    "hook-prompt-last",
    "drain-zero",
    "drain-builtin",
    "drain-growth",
    "drain-slow",
    "calls-model",
    "calls-embedding",
    "disk-10k",
)
# Memories -> what recall of either kind of question is to reach.
REACH = {
    "1000": "≤ 3 x",
    "10000": "≤ 3 x",
    "100000": "≤ 5 x",
    "1000000": "≤ 5 x, 150 MiB",
}
# The rankers that are published, ablations left to the JSON.
RANKERS = ("memman", "as shown", "BM25", "dense")


def speed(figures: Mapping[str, Any]) -> str:
    """Write the table of what a turn, a drain and a memory cost."""
    rows = {row["key"]: row for row in figures["rows"]}
    measured = [rows[name] for name in SPEED if rows[name]["measured"] is not None]
    lines = [(row["what"], row["reach"], _measured(row), _peak(row), row["upstream"]) for row in measured]
    return _run(figures) + markdown(("what", "reach", "measured", "peak", "memman 0.15.3"), lines)


def _measured(row: Mapping[str, Any]) -> str:
    value = f"{row['measured']:.3g} {row['unit']}"
    return f"{row['bare']:.2f} x bare ({value})" if row["bare"] is not None else value


def _peak(row: Mapping[str, Any]) -> str:
    return "" if row["peak_mib"] is None else f"{row['peak_mib']:.0f} MiB"


def scale(figures: Mapping[str, Any]) -> str:
    """Write the table of recall by the number of memories."""
    columns = ("recall, whole process", "reach", *QUERIES, "without sqlite-vec", "peak", "disk")
    bare = figures["processes"]["bare"]["wall_ms"]
    lines = [tuple(_sized(size, info, figures["processes"])) for size, info in figures["sizes"].items()]
    told = f"Ratios are to a bare `python -c pass` of the same run: {bare:.1f} ms."
    return f"{_run(figures)}{markdown(columns, lines)}\n\n{told}"


def _sized(size: str, info: Mapping[str, Any], processes: Mapping[str, Any]) -> Iterator[str]:
    ran = [processes[key(size, query)] for query in QUERIES]
    plain = [processes[key(size, query, "plain")] for query in QUERIES]
    yield f"{int(size):,} memories"
    yield REACH.get(size, "")
    yield from (f"{one['x_bare']:.2f} x ({one['wall_ms']:.0f} ms)" for one in ran)
    yield " / ".join(f"{one['wall_ms']:.0f}" for one in plain) + " ms"
    yield f"{max(one['peak_mib'] for one in ran):.0f} MiB"
    yield f"{info['bytes'] / 1e6:,.0f} MB, {info['bytes'] / info['memories'] / 1000:.1f} KB each"


def retrieval(figures: Mapping[str, Any]) -> str:
    """Write the table of the quality of recall, and how well the confidence tells what has no answer."""
    compared = (f"{metric} to memman [95 %]" for metric in TOLD_BY)
    columns = ("data set", "ranker", "R@5", "R@10", "MRR", "nDCG@10", "sessions R@5", "R@10", *compared)
    lines = [line for one in figures["sets"] for line in _ranked(one)]
    sure = [
        (one["name"], name, f"{said['auc']:.2f}", str(said["n"]))
        for one in figures["sets"]
        for name, said in one["confidence"].items()
    ]
    confident = markdown(("data set", "questions without an answer", "AUC of the confidence", "n"), sure)
    tables = (markdown(columns, lines), showing(figures["sets"]), confident, *_ablations(figures["sets"]))
    return _run(figures) + "\n\n".join(tables)


def showing(sets: Sequence[Mapping[str, Any]]) -> str:
    """Write the table of what recall prints: the share of lines that help, lines and tokens, lines for nothing."""
    columns = ("data set", "recall prints", "R@5", "R@10", "lines that help", "lines", "tokens")
    wanting = ("labelled", "elsewhere")
    lines = []
    for one in sets:
        for way, said in one["shown"].items():
            shares = (f"{100 * said[k]:.1f}" for k in ("R@5", "R@10"))
            cost = (f"{said['answerable lines']:.1f}", f"{said['answerable tokens']:.0f}")
            bare = (_for_nothing(said, kind) for kind in wanting)
            lines.append((one["name"], way, *shares, f"{100 * said['precision']:.0f} %", *cost, *bare))
    return markdown((*columns, *(f"lines, silent: {kind}" for kind in wanting)), lines)


def _for_nothing(said: Mapping[str, float], kind: str) -> str:
    return f"{said[f'{kind} lines']:.1f}, {100 * said[f'{kind} silent']:.0f} %" if f"{kind} lines" in said else ""


def _ablations(sets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Write what each signal pays: the difference without it, metric by metric, of each set where that was measured."""
    names = list(dict.fromkeys(name for one in sets for name in one["rankings"] if name.startswith("no ")))
    measured = [one for one in sets if names and set(names) <= one["rankings"].keys()]
    for metric in TOLD_BY if measured else ():
        lines = [(name, *(gap(one["rankings"][name], metric) for one in measured)) for name in names]
        yield markdown((f"{metric} without a signal [95 %]", *(one["name"] for one in measured)), lines)


def gap(ranking: Mapping[str, Any], metric: str) -> str:
    """Write by how much a ranking differs from the default, and between which bounds."""
    said = {name: 100 * value for name, value in ranking["difference"][metric].items()}
    return "{mean:+.1f} [{low:+.1f}, {high:+.1f}]".format_map(said)


def _ranked(one: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name in RANKERS:
        ranking = one["rankings"][name]
        plain, sessions = ranking["quality"][OVERALL], ranking["sessions"][EVERY]
        shares = (f"{100 * plain[k]:.1f}" for k in ("R@5", "R@10"))
        parts = (f"{plain[k]:.3f}" for k in ("MRR", "nDCG@10"))
        rolled = (f"{100 * sessions[k]:.1f}" for k in ("R@5", "R@10"))
        yield (
            one["name"],
            name,
            *shares,
            *parts,
            *rolled,
            *(gap(ranking, metric) if name != RANKERS[0] else "" for metric in TOLD_BY),
        )


def easy(figures: Mapping[str, Any]) -> str:
    """Write the share of questions whose one fact is shown first."""
    shares = ", ".join(f"{name} {share:.0f} %" for name, share in figures["hit@1"].items())
    orders = "1 order" if figures["orders"] == 1 else f"{figures['orders']} orders"
    found = f"Of {figures['facts']:,} templated facts the one asked for is shown first: {shares}"
    return f"{found}; ten identical recalls: {orders}."


def _run(figures: Mapping[str, Any]) -> str:
    machine = figures["machine"]
    load = "" if machine["load_average"] is None else f", load {machine['load_average']:.1f}"
    return f"{machine['at'][:10]}, {machine['processors']} processors{load}, Python {machine['python']}:\n\n"


def shared(figures: Mapping[str, Any]) -> str:
    """Write what stores on a server take, and the plans of what is asked of it."""
    return _run(figures) + table(figures)


PARTS = {"speed": speed, "scale": scale, "retrieval": retrieval, "easy": easy, "shared": shared}
# Which of them stand on which page.
PAGES = {"benchmarks.md": ("speed", "scale", "retrieval", "easy"), "scale.md": ("shared",)}
