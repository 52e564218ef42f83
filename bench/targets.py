"""What memman is to reach: the table of figures, and how a measured one is judged."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.tables import markdown

SIZES = (1_000, 10_000, 100_000)
QUERIES = {"selective": "a query that names one component", "common": "a query in common words"}
EXTENSIONS = {"": "", "plain": ", without sqlite-vec"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement: the value in its target's unit, and for processes the ratios and the peak (MiB)."""

    value: float
    bare: float | None = None
    floor: float | None = None
    peak: float | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One row. A limit that is None does not apply; with no limit at all the figure is for information."""

    key: str
    what: str
    unit: str
    upstream: str = ""
    least: float | None = None
    most: float | None = None
    bare: float | None = None
    mib: float | None = None

    @property
    def reach(self) -> str:
        """The limits in words."""
        limits = (
            (self.least, "≥ {:g} " + self.unit),
            (self.most, "≤ {:g} " + self.unit),
            (self.bare, "≤ {:g} x bare"),
            (self.mib, "≤ {:g} MiB"),
        )
        return ", ".join(text.format(limit) for limit, text in limits if limit is not None)

    def met(self, figure: Figure) -> bool | None:
        """Whether `figure` keeps every limit; None where there is none."""
        pairs = ((figure.value, self.most), (figure.bare, self.bare), (figure.peak, self.mib))
        kept = [value is not None and value <= limit for value, limit in pairs if limit is not None]
        if self.least is not None:
            kept.append(figure.value >= self.least)
        return all(kept) if kept else None


def size_name(size: int) -> str:
    """Write a size as people say it: 10k."""
    return f"{size // 1000}k"


def recall_key(size: int, query: str, extension: str) -> str:
    """Name one of the recall rows."""
    return "-".join(filter(None, ("recall", size_name(size), query, extension)))


def _recalls() -> Iterator[Target]:
    limits = {1_000: (3.0, 25.0, "50 x"), 10_000: (3.0, 30.0, "220 x, 339 MiB"), 100_000: (5.0, 80.0, "")}
    for size, (bare, mib, upstream) in limits.items():
        for query, asks in QUERIES.items():
            for extension, without in EXTENSIONS.items():
                what = f"recall, {size_name(size)} memories, {asks}{without}"
                # sqlite-vec comes with memman; where it will not load, recall is slower and the same.
                reach = {} if extension else {"bare": bare, "mib": mib}
                yield Target(recall_key(size, query, extension), what, "ms", upstream, **reach)


TARGETS: tuple[Target, ...] = (
    Target("bare", "python -c pass", "ms"),
    Target("floor", "floor script: import apsw, insert one row, FULL", "ms"),
    Target("remember", "remember, by the console script", "ms", "20 x", bare=1.5, mib=15),
    Target("remember-launcher", "remember, by the launcher, as agents call it", "ms", "20 x", bare=1.5, mib=15),
    Target("hook-stop-launcher", "hook stop, by the launcher", "ms"),
    # The 95th percentile, because it is the one long wait that an agent would notice.
    Target("remember-log", "remember, queue with a log of 8 MB, 95th percentile", "ms", most=30),
    *_recalls(),
    Target("hook-prompt", "hook user-prompt, 10k memories, against recall of the same words", "x", most=1.3),
    # Of peers 76 to 290 ms were measured.
    Target("hook-prompt-wall", "hook user-prompt, 10k memories", "ms"),
    Target("hook-prompt-long", "hook user-prompt, prompts of 380 words, against recall of the same", "x", most=1.3),
    Target("hook-prompt-last", "its 99th percentile of 200 runs, against the median", "x", most=3),
    Target("drain-zero", "drain, provider without latency", "notes/s", "6 falling to 0.3", least=150),
    Target("drain-growth", "cost of a note at 100k stored against 1k", "x", "about 20 x", most=1.5),
    Target("drain-zero-100k", "drain, provider without latency, 100k stored", "notes/s"),
    Target("drain-slow", "drain, 1.5 s a call, 100 notes", "s", "about 400 s", most=40),
    Target("drain-builtin", "drain, no key", "notes/s", "not possible", least=150),
    Target("drain-builtin-100k", "drain, no key, 100k stored", "notes/s"),
    Target("drain-growth-builtin", "cost of a note at 100k stored against 1k, no key", "x"),
    Target("drain-idle-1k", "drain of nothing, 1k stored", "s"),
    Target("drain-idle-100k", "drain of nothing, 100k stored", "s"),
    Target("calls-model", "model calls a note", "calls", "4", most=2),
    Target("calls-embedding", "embedding calls a note, remote embedder", "calls", "2", most=1),
    Target("calls-embedding-builtin", "embedding calls a note, built-in embedder", "calls", "", most=0),
    *(
        Target(f"disk-{size_name(size)}", f"disk a memory, {size_name(size)} stored", "KB", "27 KB", most=3)
        for size in SIZES
    ),
)

COLUMNS = ("what", "reach", "measured", "x bare", "x floor", "peak MiB", "met", "upstream 0.15.3")


def rows(figures: Mapping[str, Figure]) -> list[dict[str, object]]:
    """Return a record for every target, measured or not."""
    return [_record(target, figures.get(target.key)) for target in TARGETS]


def _record(target: Target, figure: Figure | None) -> dict[str, object]:
    said = {
        "key": target.key,
        "what": target.what,
        "reach": target.reach,
        "unit": target.unit,
        "upstream": target.upstream,
    }
    if figure is None:
        return said | {"measured": None, "bare": None, "floor": None, "peak_mib": None, "met": None}
    return said | {
        "measured": figure.value,
        "bare": figure.bare,
        "floor": figure.floor,
        "peak_mib": figure.peak,
        "met": target.met(figure),
    }


def table(figures: Mapping[str, Figure]) -> str:
    """Write the rows as a Markdown table."""
    return markdown(COLUMNS, [_cells(row) for row in rows(figures)])


def _cells(row: Mapping[str, object]) -> tuple[str, ...]:
    measured = "not measured" if row["measured"] is None else f"{row['measured']:.3g} {row['unit']}"
    met = {True: "yes", False: "NO", None: ""}[row["met"]]  # type: ignore[index]
    ratios = tuple("" if row[name] is None else f"{row[name]:.2f}" for name in ("bare", "floor"))
    peak = "" if row["peak_mib"] is None else f"{row['peak_mib']:.0f}"
    return str(row["what"]), str(row["reach"]), measured, *ratios, peak, met, str(row["upstream"])
