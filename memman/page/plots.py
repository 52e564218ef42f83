"""Pictures as SVG, each with a sentence that says the same."""

from collections.abc import Mapping, Sequence

from memman.model.text import plain
from memman.page.html import Html, el

_WIDE, _HIGH, _ROW, _LONGEST = 640, 150, 42, 50


def columns(title: str, counts: Mapping[str, int]) -> Html:
    """Draw a column for each count."""
    most, step = max(counts.values(), default=0) or 1, _WIDE / max(len(counts), 1)
    drawn = []
    for number, (name, count) in enumerate(counts.items()):
        tall = round((_HIGH - 45) * count / most, 1)
        x, middle = round(number * step + step * 0.15, 1), round(number * step + step / 2, 1)
        bar = el("rect", x=x, y=_HIGH - 22 - tall, width=round(step * 0.7, 1), height=tall, rx=2, class_="bar")
        # On a phone there is room for the name of every other one, the last among them.
        spare = "spare" if (len(counts) - number) % 2 == 0 else ""
        drawn += [bar, _text(count or "", middle, _HIGH - 28 - tall), _text(name, middle, _HIGH - 5, class_=spare)]
    return _picture(title, counts, drawn, _WIDE, _HIGH)


def bars(title: str, counts: Mapping[str, int]) -> Html:
    """Draw a row for each count, its name above it."""
    most, drawn = max(counts.values(), default=0) or 1, []
    for number, (name, count) in enumerate(counts.items()):
        y = number * _ROW
        drawn += [
            _text(f"{plain(name, _LONGEST)}  {count}", 0, y + 18, "start"),
            el("rect", x=0, y=y + 25, width=round(_WIDE * count / most, 1), height=8, rx=2, class_="bar"),
        ]
    return _picture(title, counts, drawn, _WIDE, _ROW * len(counts))


def _picture(title: str, counts: Mapping[str, int], drawn: Sequence[Html], wide: int, high: int) -> Html:
    said = ", ".join(f"{name} {count}" for name, count in counts.items())
    return el("figure", el("figcaption", title), _svg(f"{title}: {said}", drawn, wide, high))


def _svg(said: str, drawn: Sequence[Html], wide: int, high: int) -> Html:
    return el("svg", drawn, viewBox=f"0 0 {wide} {high}", role="img", aria_label=said)


def _text(said: str | int, x: float, y: float, anchor: str = "middle", class_: str = "") -> Html:
    return el("text", said, x=x, y=y, text_anchor=anchor, class_=class_)
