"""What pages are made of: HTML elements, a memory with its buttons, two texts compared, plots."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import Any, NamedTuple
from urllib.parse import urlencode

from memman.commands.printing import holds, labelled, past, when
from memman.config.scope import PERSONAL, REPOSITORY
from memman.model.text import SHORT_ID, plain
from memman.secrets import masked

_WIDE = 65_536
_EMPTY = ("br", "input", "meta")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Inside = str | int | float | None | Iterable["Inside"]


def el(tag: str, *inside: Inside, **attributes: str | float | bool | None) -> Html:
    """Make an element; strings in it are shown as they are. `class_` is the attribute class; those of '' are left."""
    said = "".join(
        f" {name}" if value is True else f' {name}="{escape(str(value))}"'
        for name, value in ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
        if value is not None and value is not False and value != ""
    )
    return Html(f"<{tag}{said}>" + ("" if tag in _EMPTY else f"{together(*inside)}</{tag}>"))


def together(*inside: Inside) -> Html:
    """Put elements and strings one after the other."""
    return Html("".join(map(_written, inside)))


def _written(one: Inside) -> str:
    if isinstance(one, Html):
        return one
    if one is None or one is False:
        return ""
    if isinstance(one, str | int | float):
        return escape("\n".join(plain(line, _WIDE) for line in masked(str(one)).split("\n")))
    return together(*one)


# Name of an action, what its button says, further values.
Button = tuple[str, str, Mapping[str, str]]
# The share of words that two texts have in common for the others to be worth marking.
_ALIKE = 0.25


def memory_path(uid: str) -> str:
    """Return the address of a memory."""
    return f"/memory?{urlencode({'id': uid})}"


def link(uid: str, *inside: Inside) -> Html:
    """Link to a memory: by its id, unless something else is given."""
    return el("a", inside or uid[:SHORT_ID], href=memory_path(uid), class_="" if inside else "id")


def about(one: Mapping[str, Any], *more: Inside) -> Html:
    """Write of a memory its id, whose word it is, where it holds, and since when."""
    moment = el("time", past(one["valid_from"]), title=when(one["valid_from"]))
    stands = "" if one.get("status") in {None, "current"} else el("b", one["status"])
    whose = labelled(one)
    labels = ", ".join(said for said in one.get("labels", ()) if said not in whose)
    said: list[Inside] = [link(one["uid"]), stands, f"said by {whose}", holds(one), moment, labels, *more]
    return el("p", [[el("span", part), " "] for part in said if part], class_="about")


def item(one: Mapping[str, Any], back: str = "", *more: Inside, buttons: bool = True) -> Html:
    """Write a memory of a list."""
    why = el("a", "Why? Correct it", href=memory_path(one["uid"])) if one["status"] == "current" else ""
    return el("li", el("p", one["text"], class_="said"), about(one), more, choices(one, back, why) if buttons else "")


def items(records: Sequence[Mapping[str, Any]], back: str = "", *, buttons: bool = True) -> Html:
    """Write a list of memories."""
    return el("ul", [item(one, back, buttons=buttons) for one in records], class_="memories")


def choices(one: Mapping[str, Any], back: str, after: Inside = "") -> Html:
    """Write the buttons that a memory has, by how it stands."""
    wanted: dict[str, list[Button]] = {
        "current": [("keep", "Still true", {}), ("wrong", "Wrong", {}), elsewhere(one)],
        "superseded": [("reinstate", "Restore it", {})],
        "forgotten": [("restore", "Bring it back", {})],
    }
    return buttons(one["uid"], back, *wanted.get(one["status"], ()), after=after)


def elsewhere(one: Mapping[str, Any]) -> Button:
    """Return the button that has a memory hold everywhere, or only here."""
    if one["scope"]:
        return "scope", "Everywhere", {"to": PERSONAL}
    return "scope", "Only here", {"to": REPOSITORY}


def buttons(uid: str, back: str, *wanted: Button, after: Inside = "") -> Html:
    """Write buttons about a memory; `back` is the page that comes after."""
    forms = []
    for action, title, more in wanted:
        hidden = [el("input", type="hidden", name=name, value=said) for name, said in _values(uid, back, more)]
        press = el("button", title, aria_label=f"{title}: {uid[:SHORT_ID]}")
        forms.append(el("form", hidden, press, method="post", action=f"/act/{action}"))
    return el("div", forms, after, class_="buttons")


def _values(uid: str, back: str, more: Mapping[str, str]) -> list[tuple[str, str]]:
    return [*{"id": uid, "back": back, **more}.items()]


def correction(one: Mapping[str, Any]) -> Html:
    """Write a form that takes a person's words in the place of a memory."""
    hidden = [
        el("input", type="hidden", name=name, value=said)
        for name, said in _values(one["uid"], memory_path(one["uid"]), {})
    ]
    text = el("textarea", one["text"], name="text", rows=3, aria_label="What holds instead", required=True)
    form = el("form", hidden, text, el("button", "Replace it by this"), method="post", action="/act/correct")
    return el("details", el("summary", "Correct it"), form, class_="correct")


def pairs(facts: Mapping[str, Inside]) -> Html:
    """Write names and values, those that have one."""
    return el("dl", [[el("dt", name), el("dd", said)] for name, said in facts.items() if said])


def table(heads: Sequence[str], rows: Sequence[Sequence[Inside]], says: str) -> Html:
    """Write a table that may be scrolled on a phone; `says` is what it is."""
    head = el("thead", el("tr", [el("th", name, scope="col") for name in heads]))
    body = el("tbody", [el("tr", [el("td", cell) for cell in row]) for row in rows])
    return el("div", el("table", head, body), class_="wide", tabindex="0", role="region", aria_label=says)


def differing(old: str, new: str) -> tuple[Html, Html]:
    """Return two texts, the words that only one of them has marked; none where they have little in common."""
    olds, news = (re.findall(r"\S+\s*", text) for text in (old, new))
    alike = SequenceMatcher(None, [*map(str.rstrip, olds)], [*map(str.rstrip, news)], autojunk=False)
    if alike.ratio() < _ALIKE:
        return together(old), together(new)
    steps = alike.get_opcodes()
    left = [_marked(kind, "".join(olds[a:b])) for kind, a, b, _, _ in steps]
    right = [_marked(kind, "".join(news[a:b])) for kind, _, _, a, b in steps]
    return together(left), together(right)


def _marked(kind: str, words: str) -> Inside:
    said = words.rstrip()
    return words if kind == "equal" or not said else [el("mark", said), words[len(said) :]]


class View(NamedTuple):
    """A page: a heading, HTML, and the same as data."""

    title: str
    body: str
    data: Any


class Done(NamedTuple):
    """What an action did: a sentence, the action that takes it back with its values, and the command that does."""

    says: str
    undo: str = ""
    values: Mapping[str, str] = {}
    command: str = ""


_PLOT, _HIGH, _ROW, _LONGEST = 640, 150, 42, 50


def columns(title: str, counts: Mapping[str, int]) -> Html:
    """Draw a column for each count."""
    most, step = max(counts.values(), default=0) or 1, _PLOT / max(len(counts), 1)
    drawn = []
    for number, (name, count) in enumerate(counts.items()):
        tall = round((_HIGH - 45) * count / most, 1)
        x, middle = round(number * step + step * 0.15, 1), round(number * step + step / 2, 1)
        bar = el("rect", x=x, y=_HIGH - 22 - tall, width=round(step * 0.7, 1), height=tall, rx=2, class_="bar")
        # On a phone there is room for the name of every other one, the last among them.
        spare = "spare" if (len(counts) - number) % 2 == 0 else ""
        drawn += [bar, _text(count or "", middle, _HIGH - 28 - tall), _text(name, middle, _HIGH - 5, class_=spare)]
    return _picture(title, counts, drawn, _PLOT, _HIGH)


def bars(title: str, counts: Mapping[str, int]) -> Html:
    """Draw a row for each count, its name above it."""
    most, drawn = max(counts.values(), default=0) or 1, []
    for number, (name, count) in enumerate(counts.items()):
        y = number * _ROW
        drawn += [
            _text(f"{plain(name, _LONGEST)}  {count}", 0, y + 18, "start"),
            el("rect", x=0, y=y + 25, width=round(_PLOT * count / most, 1), height=8, rx=2, class_="bar"),
        ]
    return _picture(title, counts, drawn, _PLOT, _ROW * len(counts))


def _picture(title: str, counts: Mapping[str, int], drawn: Sequence[Html], wide: int, high: int) -> Html:
    said = ", ".join(f"{name} {count}" for name, count in counts.items())
    plot = el("svg", drawn, viewBox=f"0 0 {wide} {high}", role="img", aria_label=f"{title}: {said}")
    return el("figure", el("figcaption", title), plot)


def _text(said: str | int, x: float, y: float, anchor: str = "middle", class_: str = "") -> Html:
    return el("text", said, x=x, y=y, text_anchor=anchor, class_=class_)
