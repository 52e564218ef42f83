"""The document around a page, and all pages as one file that only shows."""

import os
import re
from collections.abc import Mapping

from memman.commands.place import Opened
from memman.model.errors import UnknownId
from memman.page.parts import Html, el, together
from memman.page.views import NAMED, decide, memory, start, stats, today

_STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1f1f1d; --soft: #5f5d57; --line: #dedbd2; --card: #fff;
  --link: #205a8c; --mark: #ffe9a8; --bar: #4f83ad; font: 1rem/1.55 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { :root { --paper: #17181a; --ink: #e8e6e1; --soft: #a9a69e; --line: #35373a;
  --card: #1f2123; --link: #8cbde6; --mark: #5c4a12; --bar: #5b90bb; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere; }
header { border-bottom: 1px solid var(--line); background: var(--card); }
header > div, main { max-width: 52rem; margin: 0 auto; padding: 0 1.25rem; }
header > div { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.5rem; padding-block: .6rem; }
header b { letter-spacing: .02em; } header ul { display: flex; flex-wrap: wrap; gap: 0 1.2rem; padding: 0; margin: 0;
  list-style: none; }
main { padding-bottom: 4rem; }
a { color: var(--link); text-underline-offset: .2em; } nav a { display: inline-block; padding: .35rem 0;
  text-decoration: none; } [aria-current] { font-weight: 600; color: var(--ink); border-bottom: 2px solid var(--link); }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 2rem 0 .5rem; } h2 { font-size: 1.05rem; margin: 2.2rem 0 .5rem; }
h3 { font-size: .85rem; color: var(--soft); margin: 0 0 .3rem; } small, .about, .lead, dt, time, figcaption, .none,
summary { color: var(--soft); } small, .about, dt, dd, time, details { font-size: .875rem; } small { font-weight: 400; }
p { margin: .25rem 0; } .spans { display: flex; gap: 1rem; }
ul, ol { padding-left: 1.2rem; } .memories, .time { padding: 0; list-style: none; }
.memories > li, .case { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .8rem 1rem; margin: 0 0 .7rem; } .case h2 { margin-top: 0; }
.large { font-size: 1.25rem; line-height: 1.45; } .said { white-space: pre-wrap; }
.about span:not(:last-child)::after { content: " ·"; } .id { font-family: ui-monospace, monospace; }
.buttons { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin-top: .5rem; font-size: .875rem; }
form { margin: 0; } button, input, textarea { font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--soft); border-radius: 6px; padding: .2rem .7rem; min-height: 2rem; }
.correct { margin: .8rem 0; } .correct textarea { display: block; width: 100%; margin: .5rem 0; }
summary { cursor: pointer; } .correct summary { color: var(--link); } button { cursor: pointer; }
button:hover { border-color: var(--link); color: var(--link); } [role=search] { display: flex; flex-wrap: wrap;
  gap: .5rem; margin: 1rem 0; } [role=search] label { width: 100%; } [type=search] { flex: 1; min-width: 12rem; }
pre { white-space: pre-wrap; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 1rem; font: .875rem/1.55 ui-monospace, monospace; }
mark { background: var(--mark); color: inherit; padding: 0 .1em; border-radius: 3px; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1.25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 1rem 0; } dd { margin: 0; }
.time { border-left: 2px solid var(--line); padding-left: 1rem; } .time li { margin-bottom: .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; } .wide { overflow-x: auto; } td { overflow-wrap: normal; }
figure { margin: 1.5rem 0; } figcaption { font-weight: 600; margin-bottom: .4rem; } svg { width: 100%; height: auto; }
svg text { font-size: 12px; fill: var(--ink); } .bar { fill: var(--bar); }
.notice { border-left: 4px solid var(--link); background: var(--card); padding: .6rem 1rem; margin: 1rem 0; }
.file { border-top: 1px solid var(--line); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
@media (max-width: 40rem) { .pair { grid-template-columns: 1fr; } header > div, main { padding-inline: 1rem; }
  header ul { gap: 0 .65rem; font-size: .875rem; } svg text { font-size: 22px; } .spare { display: none; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
"""


def whole(title: str, body: str, path: str) -> str:
    """Return the document of a page."""
    return document(title, together(el("h1", title), Html(body)), NAMED, path)


def document(title: str, body: Html, links: Mapping[str, str], current: str = "") -> str:
    """Return a document whose top leads to `links`."""
    named = [
        el("li", el("a", name, href=at, aria_current="page" if at == current else None)) for at, name in links.items()
    ]
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", f"{title} - memman"),
        el("style", Html(_STYLE)),
    )
    top = el("header", el("div", el("b", "memman"), el("nav", el("ul", named), aria_label="Pages")))
    return f"<!doctype html>\n{el('html', head, el('body', top, el('main', body)), lang='en')}\n"


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


def written(store: Opened) -> str:
    """Return the file."""
    sections = {
        name: together(el("h1", view.title), Html(view.body))
        for name, work in _SECTIONS.items()
        for view in (work(store, _LEARNED if work is today else {}),)
    }
    named = dict.fromkeys(found[1] for body in sections.values() for found in _MEMORY.finditer(body))
    for uid in [*named][:_MOST]:
        try:
            sections[uid] = Html(memory(store, {"id": uid}).body)
        except UnknownId:  # it was purged meanwhile
            continue
    whole = [el("div", _still(body, sections), id=name, class_="file") for name, body in sections.items()]
    return document(_TITLE + store.name, together(whole), {f"#{name}": said for name, said in _NAMES.items()})


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
