"""The pages: each a function of a store and the values of its address."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode

from memman import __version__
from memman.commands import log, review
from memman.commands.place import Place, standing
from memman.commands.printing import aged, ago, holds, labelled, when
from memman.commands.show import known
from memman.commands.status import everything
from memman.config.scope import PERSONAL, REPOSITORY
from memman.hot.prime import block
from memman.hot.recall_session import found
from memman.model.errors import UsageError
from memman.model.text import SHORT_ID
from memman.page.view import View
from memman.recall.render import tokens
from memman.store.filters import Filters

Values = Mapping[str, str]

_MOST, _HITS = 100, 20


def today(place: Place, query: Values) -> View:
    """Show what was learned lately."""
    groups = log.learned(place, since=query.get("since", "7d"), limit=_MOST)
    body = "".join(
        f"<h2>{escape(group['day'])}, {escape(group['scope'] or PERSONAL)}</h2>" + _list(group["memories"], "/")
        for group in groups
    )
    return View("What was learned in the last 7 days", body or "<p>Nothing was learned in that time.</p>", groups)


def start(place: Place, _: Values) -> View:
    """Show what the next session here starts with, word for word."""
    text, shown = block(place.data, place.name, standing())
    body = f'<p>{tokens(text)} tokens, {len(shown)} memories.</p><pre tabindex="0">{escape(text)}</pre>'
    return View("What the next session starts with", body, {"text": text, "tokens": tokens(text), "shown": [*shown]})


def decide(place: Place, _: Values) -> View:
    """Show what waits for a person."""
    records = review.listed(place, limit=_MOST)
    return View("Decide", "".join(map(_case, records)) or "<p>Nothing waits for you.</p>", records)


def search(place: Place, query: Values) -> View:
    """Show what recall answers, and why in this order."""
    asked = query.get("q", "").strip()
    form = (
        '<form method="get" action="/search" role="search"><label for="q">Question</label> '
        f'<input id="q" name="q" value="{escape(asked)}"> <button>Search</button></form>'
    )
    if not asked:
        return View("Search", form, {"query": "", "hits": []})
    hits = found(place.data, place.name, asked, Filters(here=standing()), _HITS, None)
    told: list[dict[str, Any]] = [
        {"uid": hit.row.uid, "text": hit.row.text, "source": hit.row.source, "scope": hit.scope}
        | {"valid_from": hit.row.valid_from, "score": hit.score, "confidence": hit.confidence, "pending": hit.pending}
        for hit in hits
    ]
    rows = "".join(
        f'<li>{_text(one)}<p class="about">{escape(one["source"])}, {ago(one["valid_from"])}'
        f", confidence {one['confidence']:.2f}</p></li>"
        for one in told
    )
    return View(
        "Search", form + (f"<ol>{rows}</ol>" if rows else "<p>Nothing relevant.</p>"), {"query": asked, "hits": told}
    )


def memory(place: Place, query: Values) -> View:
    """Show all that is known of a memory."""
    if not query.get("id"):
        raise UsageError("say id")
    records = aged(place, known(place, [query["id"]]))
    return View("A memory", "".join(map(_whole, records)), records)


def health(place: Place, _: Values) -> View:
    """Say that the page answers, and for which store."""
    data = {"ok": True, "version": __version__, "store": place.name}
    return View("Health", _pairs(data), data)


def stats(place: Place, _: Values) -> View:
    """Show the state of memory."""
    data = everything(place)
    counts = {"store": place.name, **data["memories"]["by_status"], **data["memories"]["waiting"]}
    return View("State", _pairs(counts), data)


VIEWS: dict[str, Callable[[Place, Values], View]] = {
    "/": today,
    "/next": start,
    "/decide": decide,
    "/search": search,
    "/memory": memory,
    "/stats": stats,
    "/health": health,
}
# Those that the top of each page leads to.
NAMED = {"/": "Learned", "/next": "Next session", "/decide": "Decide", "/search": "Search", "/stats": "State"}


def _list(records: list[dict[str, Any]], back: str) -> str:
    rows = [
        f"<li>{_text(one)}{_about(one)}"
        + _buttons(one["uid"], back, ("keep", "Keep", {}), ("wrong", "Wrong", {}), _elsewhere(one))
        + "</li>"
        for one in records
    ]
    return f"<ul>{''.join(rows)}</ul>"


def _elsewhere(one: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    """Return the button that has a memory hold everywhere, or only here."""
    if one["scope"]:
        return "scope", "Everywhere", {"to": PERSONAL}
    return "scope", "Only here", {"to": REPOSITORY}


def _text(one: Mapping[str, Any]) -> str:
    link = f"/memory?{urlencode({'id': one['uid']})}"
    return f'<p><a href="{escape(link)}">{escape(one["uid"][:SHORT_ID])}</a> {escape(one["text"])}</p>'


def _about(one: Mapping[str, Any]) -> str:
    return f'<p class="about">{escape(labelled(one, holds(one)))}, {escape(ago(one["valid_from"]))}</p>'


def _buttons(uid: str, back: str, *buttons: tuple[str, str, Mapping[str, str]]) -> str:
    forms = [
        f'<form method="post" action="/act/{action}">'
        + "".join(
            f'<input type="hidden" name="{name}" value="{escape(value)}">'
            for name, value in {"id": uid, "back": back, **more}.items()
        )
        + f'<button aria-label="{escape(title)}: {uid[:SHORT_ID]}">{escape(title)}</button></form>'
        for action, title, more in buttons
    ]
    return f'<div class="buttons">{"".join(forms)}</div>'


def _case(one: Mapping[str, Any]) -> str:
    """Write what waits, with the other side, and the question."""
    other = one["other"]
    sides = _text(one) + _about(one) + (f"<p>newer:</p>{_text(other)}{_about(other)}" if other else "")
    yes, no = ("Yes, it replaces it", "No, the older stays") if other else ("Approve", "Reject")
    asks = "Does the newer replace the older?" if other else "Shall this be kept?"
    buttons = _buttons(one["uid"], "/decide", ("approve", yes, {}), ("reject", no, {}))
    why = f"{one['kind']}: {one['why']}" if one["why"] else one["kind"]
    return f"<section><h2>{asks}</h2>{sides}<p>{escape(why)}</p>{buttons}</section>"


def _whole(one: Mapping[str, Any]) -> str:
    """Write a memory, or a note that waits."""
    if one["kind"] == "note":
        return _pairs({"note": one["uid"], "text": one["text"], "state": one["state"]})
    back = f"/memory?{urlencode({'id': one['uid']})}"
    came = one["provenance"] or {}
    facts = {
        "status": one["status"],
        "category": f"{one['category']}, importance {one['importance']}",
        "recorded": when(one["recorded_at"]),
        "note": one["said"],
        "you said": one["typed"],
        "agent": came.get("agent"),
        "session": came.get("session"),
        "folder": came.get("cwd"),
    }
    lines = [
        f"<li>{escape(when(line['at']))} {escape(line['verb'])}: {escape(version['text'])}</li>"
        for version in one["history"]
        for line in version["changes"]
    ]
    near = "".join(f"<li>{_text(other)}</li>" for other in one["related"])
    buttons = [("keep", "Keep", {}), ("wrong", "Wrong", {}), _elsewhere(one)]
    if one["status"] == "superseded":
        buttons = [("reinstate", "Have it hold again", {})]
    elif one["status"] == "forgotten":
        buttons = [("restore", "Bring it back", {})]
    return (
        f"<section>{_text(one)}{_about(one)}{_buttons(one['uid'], back, *buttons)}{_pairs(facts)}"
        f"<h2>History</h2><ol>{''.join(lines)}</ol>" + (f"<h2>Near</h2><ul>{near}</ul>" if near else "") + "</section>"
    )


def _pairs(facts: Mapping[str, Any]) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(said))}</dd>" for name, said in facts.items() if said)
    return f"<dl>{rows}</dl>"
