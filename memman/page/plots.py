"""Pictures as SVG, each with a sentence that says the same."""

import math
from collections.abc import Mapping, Sequence

from memman.model.text import plain
from memman.page.html import Html, el

_WIDE, _HIGH, _ROW, _LABEL, _LONGEST = 640, 150, 26, 190, 26
_AROUND, _RADIUS = 260, 95


def columns(title: str, counts: Mapping[str, int]) -> Html:
    """Draw a column for each count."""
    most, step = max(counts.values(), default=0) or 1, _WIDE / max(len(counts), 1)
    drawn = []
    for number, (name, count) in enumerate(counts.items()):
        tall = round((_HIGH - 45) * count / most, 1)
        x, middle = round(number * step + step * 0.15, 1), round(number * step + step / 2, 1)
        bar = el("rect", x=x, y=_HIGH - 22 - tall, width=round(step * 0.7, 1), height=tall, rx=2, class_="bar")
        drawn += [bar, _text(count or "", middle, _HIGH - 28 - tall), _text(name, middle, _HIGH - 5)]
    return _picture(title, counts, drawn, _WIDE, _HIGH)


def bars(title: str, counts: Mapping[str, int]) -> Html:
    """Draw a row for each count."""
    most, room, drawn = max(counts.values(), default=0) or 1, _WIDE - _LABEL - 60, []
    for number, (name, count) in enumerate(counts.items()):
        y, long = number * _ROW, round(room * count / most, 1)
        label = plain(name, _LONGEST)
        drawn += [
            _text(label, _LABEL - 10, y + 17, "end"),
            el("rect", x=_LABEL, y=y + 5, width=long, height=_ROW - 10, rx=2, class_="bar"),
            _text(count, _LABEL + long + 8, y + 17, "start"),
        ]
    return _picture(title, counts, drawn, _WIDE, _ROW * len(counts))


def neighbours(names: Sequence[tuple[str, str]]) -> Html:
    """Draw a memory with those next to it: (what leads there, its id)."""
    middle, drawn, dots = _AROUND / 2, [], []
    for number, (kind, name) in enumerate(names):
        turn = 2 * math.pi * number / len(names) - math.pi / 2
        x, y = (round(middle + _RADIUS * part(turn), 1) for part in (math.cos, math.sin))
        drawn.append(el("line", x1=middle, y1=middle, x2=x, y2=y, class_=f"edge {kind}"))
        dots += [el("circle", cx=x, cy=y, r=5, class_="dot"), _text(name, x, y + (20 if y >= middle else -11))]
    dots.append(el("circle", cx=middle, cy=middle, r=8, class_="dot self"))
    said = ", ".join(f"{name} ({kind})" for kind, name in names)
    return el("figure", _svg(f"Linked with {said}", [*drawn, *dots], _AROUND, _AROUND), class_="near")


def _picture(title: str, counts: Mapping[str, int], drawn: Sequence[Html], wide: int, high: int) -> Html:
    said = ", ".join(f"{name} {count}" for name, count in counts.items())
    return el("figure", el("figcaption", title), _svg(f"{title}: {said}", drawn, wide, high))


def _svg(said: str, drawn: Sequence[Html], wide: int, high: int) -> Html:
    return el("svg", drawn, viewBox=f"0 0 {wide} {high}", role="img", aria_label=said)


def _text(said: str | int, x: float, y: float, anchor: str = "middle") -> Html:
    return el("text", said, x=x, y=y, text_anchor=anchor)
