"""The plots of docs/benchmarks.md as SVG, each from the JSON of one bench."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from bench.retrieval import ONE_STORE
from bench.scale import QUERIES, key
from bench.scores import OVERALL

WIDTH, TOP, LEFT, RIGHT = 720, 56, 64, 24
INK, GRID = "#24292f", "#d0d7de"
# Colours that people of every colour vision can tell apart (Okabe and Ito 2008).
COLOURS = ("#0072b2", "#e69f00", "#009e73")
RANKERS = ("memman", "BM25", "dense")


def recall_time(figures: Mapping[str, Any]) -> str:
    """Draw the time of one recall, in ms, over the number of memories, beside the start of a bare Python."""
    height, bottom = 360, 304
    sizes, ran = list(figures["sizes"]), figures["processes"]
    lines = {f"{name} question": [ran[key(size, name)]["wall_ms"] for size in sizes] for name in QUERIES}
    bare = ran["bare"]["wall_ms"]
    step = _step(max(max(line) for line in lines.values()))
    most = step * math.ceil(max(max(line) for line in lines.values()) / step)

    def across(size: str) -> float:
        """Place a size on the logarithmic axis."""
        low, high = math.log10(int(sizes[0])), math.log10(int(sizes[-1]))
        return LEFT + 24 + (WIDTH - LEFT - RIGHT - 72) * (math.log10(int(size)) - low) / ((high - low) or 1)

    def up(value: float) -> float:
        """Place a time on the vertical axis."""
        return bottom - (bottom - TOP) * value / most

    parts = [
        *(_level(up(tick), f"{tick:g} ms") for tick in _ticks(most, step)),
        *(_text(across(size), bottom + 20, f"{int(size):,}", "middle") for size in sizes),
        _text((LEFT + WIDTH) / 2, bottom + 42, "memories in the store", "middle"),
        f'<path d="M{LEFT} {up(bare):.1f}H{WIDTH - RIGHT}" stroke="{INK}" stroke-dasharray="4 4" fill="none"/>',
        _text(WIDTH - RIGHT, up(bare) + 16, f"a bare python -c pass: {bare:.1f} ms", "end"),
    ]
    for colour, line in zip(COLOURS, lines.values(), strict=False):
        dots = [(across(size), up(value)) for size, value in zip(sizes, line, strict=True)]
        parts.append(_curve(dots, colour))
    return _drawing(height, "One recall, whole process", [*_legend(lines), *parts])


def recall_quality(figures: Mapping[str, Any]) -> str:
    """Draw R@10 of memman, BM25 and vectors alone, a group of bars for each data set."""
    sets = [one for one in figures["sets"] if not one["name"].endswith(ONE_STORE)]
    bottom = TOP + 8 + 74 * len(sets)
    left = LEFT + 72

    def across(share: float) -> float:
        """Place a share of 0 to 1."""
        return left + (WIDTH - left - RIGHT - 24) * share

    parts = [
        f'<path d="M{across(tick / 100):.1f} {TOP}V{bottom}" stroke="{GRID}"/>'
        + _text(across(tick / 100), bottom + 20, f"{tick} %", "middle")
        for tick in range(0, 101, 20)
    ]
    for group, one in enumerate(sets):
        start = TOP + 12 + 74 * group
        parts.append(_text(left - 10, start + 34, one["name"], "end"))
        for row, (name, colour) in enumerate(zip(RANKERS, COLOURS, strict=True)):
            share = one["rankings"][name]["quality"][OVERALL]["R@10"]
            top = start + 20 * row
            parts.append(
                f'<rect x="{left}" y="{top}" width="{across(share) - left:.1f}" height="16" fill="{colour}"/>'
                + _text(across(share) + 6, top + 13, f"{100 * share:.1f}", "start")
            )
    return _drawing(bottom + 40, "R@10: share of the right memories among the first ten", [*_legend(RANKERS), *parts])


def _step(most: float) -> float:
    """Return the distance of ticks: 1, 2 or 5 times a power of ten, about five of them."""
    power: float = 10 ** math.floor(math.log10(most / 5))
    return next(power * times for times in (1, 2, 5, 10) if most / (power * times) <= 6)


def _ticks(most: float, step: float) -> Iterator[float]:
    return (step * count for count in range(round(most / step) + 1))


def _level(y: float, label: str) -> str:
    line = f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{GRID}"/>'
    return line + _text(LEFT - 8, y + 4, label, "end")


def _curve(dots: Sequence[tuple[float, float]], colour: str) -> str:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in dots)
    marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in dots)
    return f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"/>{marks}'


def _legend(names: Sequence[str] | Mapping[str, object]) -> Iterator[str]:
    for place, (name, colour) in enumerate(zip(names, COLOURS, strict=False)):
        x = LEFT + 170 * place
        yield f'<rect x="{x}" y="36" width="12" height="12" fill="{colour}"/>' + _text(x + 18, 46, name, "start")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _drawing(height: float, title: str, parts: Sequence[str]) -> str:
    frame = f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>'
    head = f'<text x="{LEFT}" y="24" font-weight="bold">{escape(title)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}" role="img"><title>{escape(title)}</title>\n'
        + "\n".join([frame, head, *parts])
        + "\n</svg>\n"
    )


# Name of a bench's JSON -> the file below docs/ -> what draws it.
PLOTS = {
    "scale": ("recall-time.svg", recall_time),
    "retrieval": ("recall-quality.svg", recall_quality),
}
