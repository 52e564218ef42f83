"""The pages: each a function of a store and the values of its address."""

import time
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from memman import __version__
from memman.clock import now_ms
from memman.commands import list as lists
from memman.commands import log, review, rule, scope
from memman.commands.explain import ranked, reasons
from memman.commands.place import Place, standing
from memman.commands.printing import aged, ago, tallied, when
from memman.commands.show import known
from memman.commands.status import everything
from memman.config.scope import PERSONAL, label
from memman.hot.prime import BUDGET, block
from memman.hot.prime import standing as held
from memman.hot.recall_session import opened
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.text import SHORT_ID
from memman.page import plots
from memman.page.html import Html, Inside, el, together
from memman.page.parts import about, buttons, differing, elsewhere, item, items, link, memory_path, pairs, table
from memman.page.view import View
from memman.recall.render import tokens
from memman.store.filters import Filters

Values = Mapping[str, str]

_MOST, _PAGE, _HITS, _WEEKS = 100, 25, 20, 12
_WEEK = 7 * 86_400
_SPANS = {"1d": "day", "7d": "week", "30d": "month", "3650d": "always"}


def today(place: Place, query: Values) -> View:
    """Show what was learned lately."""
    since, most = query.get("since", "7d"), _count(query.get("most", str(_PAGE)))
    groups = log.learned(place, since=since, limit=most)
    here = f"/?since={since}"
    spans = [
        el("a", name, href=f"/?since={span}", aria_current="true" if span == since else None)
        for span, name in _SPANS.items()
    ]
    body: list[Inside] = [
        el("p", "Is it right? ", el("b", "Keep"), " says so, ", el("b", "Wrong"), " forgets it.", class_="lead"),
        el("nav", spans, class_="spans", aria_label="How far back"),
    ]
    for group in groups:
        if group["memories"]:
            told = f"{counted(group['count'], 'memory')}, {group['scope'] or PERSONAL}"
            body += [el("h2", group["day"], " ", el("small", told)), items(group["memories"], here)]
    total = sum(group["count"] for group in groups)
    if total > most:
        body.append(el("p", el("a", f"Show more: {total - most} are left", href=f"{here}&most={most + _PAGE}")))
    return View("What was learned", together(*body) if groups else _none("Nothing was learned in that time."), groups)


def start(place: Place, _: Values) -> View:
    """Show what the next session here starts with, word for word."""
    here = standing()
    text, shown = block(place.data, place.name, here)
    kinds, _left = held(place.data, place.name, here)
    out = [
        {"uid": hit.row.uid, "text": hit.row.text}
        for hit in {hit.row.uid: hit for hits in kinds for hit in hits}.values()
        if hit.row.uid not in shown
    ]
    used = tokens(text)
    meter = el("meter", value=used, min=0, max=BUDGET, aria_label=f"{used} of {BUDGET} tokens")
    left: Inside = [el("h2", "Left out for want of room"), el("ul", [_line(one) for one in out])] if out else ""
    body = together(
        el("p", f"{counted(len(shown), 'memory')}, {used} of {BUDGET} tokens ", meter, class_="lead"),
        el("p", here.repository and f"In {label(here.repository, here.path)}", class_="about"),
        el("pre", text, tabindex="0", role="region", aria_label="The text, word for word"),
        left,
    )
    return View(
        "What the next session starts with", body, {"text": text, "tokens": used, "shown": [*shown], "left_out": out}
    )


def decide(place: Place, _: Values) -> View:
    """Show what waits for a person."""
    records = review.listed(place, limit=_MOST)
    lead = el("p", f"{counted(len(records), 'question')} for you. Nothing has to be answered.", class_="lead")
    return View("Decide", together(lead, map(_case, records)) if records else _none("Nothing waits for you."), records)


def search(place: Place, query: Values) -> View:
    """Show what recall answers, and why in this order; and what other scopes would have given."""
    asked = query.get("q", "").strip()
    form = el(
        "form",
        el("label", "Ask as an agent would", for_="q"),
        el("input", id="q", name="q", value=asked, type="search"),
        el("button", "Search"),
        method="get", action="/search", role="search",
    )  # fmt: skip
    if not asked:
        return View("Search", form, {"query": "", "hits": [], "elsewhere": []})
    filters, recalls = Filters(here=standing()), opened(place.data, place.name)
    try:
        hits = recalls.hits(asked, filters, _HITS, None)
        wider = recalls.hits(asked, filters.having(anywhere=True, scopes=None), _HITS, None)
    finally:
        recalls.close()
    there = {hit.row.uid for hit in hits}
    told, others = (
        ranked(place, lambda _: (), found, ())["hits"] for found in (hits, [h for h in wider if h.row.uid not in there])
    )
    body: list[Inside] = [form, el("ol", map(_hit, told), class_="memories") if told else _none("Nothing relevant.")]
    if others:
        body += [el("h2", "Only in other scopes"), el("ol", map(_hit, others), class_="memories")]
    return View("Search", together(*body), {"query": asked, "hits": told, "elsewhere": others})


def memory(place: Place, query: Values) -> View:
    """Show all that is known of a memory."""
    if not query.get("id"):
        raise UsageError("say id")
    records = aged(place, known(place, [query["id"]]))
    return View("A memory" if len(records) == 1 else "Memories", together(map(_whole, records)), records)


def health(place: Place, _: Values) -> View:
    """Say that the page answers, and for which store."""
    data: dict[str, Any] = {"ok": True, "version": __version__, "store": place.name}
    return View("Health", pairs({name: str(said) for name, said in data.items()}), data)


def stats(place: Place, _: Values) -> View:
    """Show the state of memory: how much, where, what was learned when, rules, sessions, cost, and what is stale."""
    data = everything(place)
    by_scope = scope.listed(place)
    days = log.stats(place, since=now_ms() - _WEEKS * _WEEK * 1000)["days"]
    sessions = log.sessions(place, limit=_PAGE)
    cost, rules = log.cost(place), rule.listed(place)
    stale = lists.stale(place, limit=_PAGE)
    counts = data["memories"]
    waiting = tallied(counts["waiting"]) if counts["waiting"] else ""
    body: list[Inside] = [
        pairs({"store": place.name, "memories": tallied(counts["by_status"]), "waits for you": waiting}),
        plots.columns("Learned, by week", _weeks(days)),
        plots.bars("Scopes", {one["scope"]: one["memories"] for one in by_scope[:_WEEKS]}) if by_scope else "",
        plots.bars("Categories", counts["by_category"]) if counts["by_category"] else "",
    ]
    listed = (
        ("Rules", rules, ("what", "where", "fired"), lambda one: (one["text"], one["scope"] or PERSONAL, one["hits"])),
        ("Sessions", sessions, ("last", "agent", "repository", "learned", "shown", "tokens"), _session),
        ("Cost, 7 days", cost["spent"], ("day", "stage", "model", "calls", "USD"), _spent),
    )
    for title, rows, heads, write in listed:
        body += [el("h2", title), table(heads, [write(one) for one in rows], title) if rows else _none("None.")]
    doubtful = el("ul", [item(one, "/stats", el("p", "; ".join(one["why"]))) for one in stale], class_="memories")
    body += [el("h2", "May be out of date"), doubtful if stale else _none("Nothing, as far as can be told.")]
    return View(
        "State",
        together(*body),
        data | {"scopes": by_scope, "days": days, "sessions": sessions, "cost": cost, "rules": rules, "stale": stale},
    )


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


def _none(said: str) -> Html:
    return el("p", said, class_="none")


def _count(said: str) -> int:
    if not (said.isascii() and said.isdigit() and len(said) < 6 and int(said)):  # noqa: PLR2004 - five digits
        raise UsageError(f"most is a number, not {said[:40]!a}")
    return int(said)


def _line(one: Mapping[str, Any], *before: Inside) -> Html:
    return el("li", [[el("small", part), " "] for part in before if part], one["text"], " ", link(one["uid"]))


def _hit(hit: Mapping[str, Any]) -> Html:
    score, moved = reasons(dict(hit))
    why = el("details", el("summary", f"why: confidence {hit['confidence']:.2f}"), el("p", score), el("p", moved))
    return item(hit, "", why, buttons=False)


def _case(one: Mapping[str, Any]) -> Html:
    """Write what waits, with the other side, and the question."""
    other = one["other"]
    asks = "Does the newer replace the older?" if other else "Shall this be kept?"
    yes, no = ("Yes, it replaces it", "No, the older stays") if other else ("Approve", "Reject")
    older, newer = differing(one["text"], other["text"]) if other else (one["text"], "")
    sides = [_side("Older" if other else "", older, one), _side("Newer", newer, other) if other else ""]
    why = f"{one['kind']}: {one['why']}" if one["why"] else one["kind"]
    done = buttons(one["uid"], "/decide", ("approve", yes, {}), ("reject", no, {}))
    pair = el("div", sides, class_="pair" if other else "")
    return el("section", el("h2", asks), pair, el("p", why, class_="about"), done, class_="case")


def _side(name: str, text: Inside, one: Mapping[str, Any]) -> Html:
    return el("div", el("h3", name) if name else "", el("p", text, class_="said"), about(one))


def _whole(one: Mapping[str, Any]) -> Html:
    """Write a memory, or a note that waits."""
    if one["kind"] == "note":
        return pairs({"note": one["uid"], "text": one["text"], "state": one["state"]})
    came = one["provenance"] or {}
    wanted = [("keep", "Keep", {}), ("wrong", "Wrong", {}), elsewhere(one)]
    if one["status"] == "superseded":
        wanted = [("reinstate", "Have it hold again", {})]
    elif one["status"] == "forgotten":
        wanted = [("restore", "Bring it back", {})]
    facts: dict[str, Inside] = {
        "status": one["status"],
        "category": f"{one['category']}, importance {one['importance']}",
        "recorded": when(one["recorded_at"]),
        "verified": when(one["verified_at"]),
        "superseded by": _link(one["superseded_by"]),
        "maybe replaced by": _link(one["maybe_replaced_by"]),
        "against": [_link(uid) for uid in one["against"]],
        "contradicted by": [_link(uid) for uid in one["contradicted_by"]],
        "note": one["said"],
        "you said": one["typed"],
        **{name: came.get(name) for name in ("agent", "session", "cwd")},
    }
    lines = [
        el("li", el("time", when(line["at"])), " ", el("b", line["verb"]), " ", version["text"], " ", _by(line))
        for version in one["history"]
        for line in version["changes"]
    ]
    shown = [
        el("li", el("time", when(at["at"])), f" {at['agent']} {at['way']}, {counted(at['times'], 'time')}")
        for at in islice(one["shown"], _PAGE)
    ]
    near: list[Inside] = []
    if one["related"]:
        edges = [(other["kind"], other["uid"][:SHORT_ID]) for other in one["related"]]
        linked = el("ul", [_line(other, other["says"] or other["kind"]) for other in one["related"]])
        near = [el("h2", "Linked"), el("div", plots.neighbours(edges), linked, class_="linked")]
    return el(
        "section",
        el("p", one["text"], class_="said large"),
        about(one),
        buttons(one["uid"], memory_path(one["uid"]), *wanted),
        pairs(facts),
        [el("h2", "History"), el("ol", lines, class_="time")] if lines else "",
        [el("h2", "Shown"), el("ol", shown, class_="time")] if shown else "",
        near,
    )


def _by(line: Mapping[str, Any]) -> Inside:
    said = " ".join(filter(None, (line.get("agent"), line.get("session"))))
    return el("small", said) if said else ""


def _link(uid: str | None) -> Inside:
    return link(uid) if uid else ""


def _weeks(days: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Count what was learned in each of the last weeks, by the day on which it began."""
    now = time.time()
    weeks: dict[str, int] = {}
    for back in reversed(range(_WEEKS)):
        seven = [time.localtime(now - back * _WEEK - day * 86_400) for day in range(7)]
        learned = [days.get(time.strftime("%Y-%m-%d", day), {}) for day in seven]
        weeks[time.strftime("%-d %b", seven[-1])] = sum(one.get("add", 0) + one.get("hold", 0) for one in learned)
    return weeks


def _session(one: Mapping[str, Any]) -> tuple[Inside, ...]:
    return (
        f"{ago(one['last'])} ago", one["agent"], label(one["repository"], ""),
        one["made"], one["shown"], one["tokens"],
    )  # fmt: skip


def _spent(one: Mapping[str, Any]) -> tuple[Inside, ...]:
    return one["day"], one["stage"], one["model"], one["calls"], f"{one['cost']:.4f}"
