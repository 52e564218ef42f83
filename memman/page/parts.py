"""Parts that several pages have: a memory, its buttons, two texts with what differs marked."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any
from urllib.parse import urlencode

from memman.commands.printing import ago, holds, labelled, when
from memman.config.scope import PERSONAL, REPOSITORY
from memman.model.text import SHORT_ID
from memman.page.html import Html, Inside, el, together

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
    moment = el("time", f"{ago(one['valid_from'])} ago", title=when(one["valid_from"]))
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
        "superseded": [("reinstate", "Have it hold again", {})],
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
    form = el("form", hidden, text, el("button", "Put this in its place"), method="post", action="/act/correct")
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
