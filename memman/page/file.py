"""All pages as one file that only shows, and needs nothing else."""

import os
import re

from memman.commands.place import Place
from memman.model.errors import UnknownId
from memman.page.document import document
from memman.page.html import Html, el, together
from memman.page.views import decide, memory, start, stats, today

_SECTIONS = {"learned": today, "next": start, "decide": decide, "state": stats}
_NAMES = {"learned": "Learned", "next": "Next session", "decide": "Decide", "state": "State"}
# Memories that are shown whole: those that the other sections name first.
_MOST = 100
_TITLE = "Memory "
# How a file begins that is one of these.
_BEGINS = re.compile(r"<!doctype html>\n<html.{0,300}<title>" + _TITLE + ".{0,300} - memman</title>")
_LEARNED = {"since": "30d", "most": "100"}
# In HTML that was made by `el` no text can look like one of these.
_CHANGES = re.compile(
    r'<div class="buttons">.*?</div>|<details class="correct">.*?</details>'
    r'|<nav class="spans".*?</nav>|<p class="lead">Is it.*?</p>',
    re.DOTALL,
)
_MEMORY = re.compile(r'<a href="/memory\?id=(\w+)"([^>]*)>(.*?)</a>')
_PAGE = re.compile(r'<a href="/[^"]*"[^>]*>(.*?)</a>')


def written(place: Place) -> str:
    """Return the file."""
    sections = {
        name: together(el("h1", view.title), Html(view.body))
        for name, work in _SECTIONS.items()
        for view in (work(place, _LEARNED if work is today else {}),)
    }
    named = dict.fromkeys(found[1] for body in sections.values() for found in _MEMORY.finditer(body))
    for uid in [*named][:_MOST]:
        try:
            sections[uid] = Html(memory(place, {"id": uid}).body)
        except UnknownId:  # it was purged meanwhile
            continue
    whole = [el("div", _still(body, sections), id=name, class_="file") for name, body in sections.items()]
    return document(_TITLE + place.name, together(whole), {f"#{name}": said for name, said in _NAMES.items()})


def ours(path: str) -> bool:
    """Whether a file that is there is such a page, and no link. Raises OSError."""
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        return bool(_BEGINS.match(file.read(1000)))


def _still(body: str, there: dict[str, Html]) -> Html:
    """Take the buttons out, and have links lead within the file, where it has what they lead to."""

    def within(found: re.Match[str]) -> str:
        uid, more, inside = found.groups()
        return f'<a href="#{uid}"{more}>{inside}</a>' if uid in there else inside

    return Html(_PAGE.sub(r"\1", _MEMORY.sub(within, _CHANGES.sub("", body))))
