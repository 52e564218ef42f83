"""The pages: each a function of a store and the values of its address."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any
from urllib.parse import urlencode

from memman import __version__
from memman.clock import now_ms
from memman.commands import list as lists
from memman.commands import log, review, rule, scope
from memman.commands.explain import ranked, reasons
from memman.commands.place import Opened, standing
from memman.commands.printing import aged, past, tallied, when
from memman.commands.show import known
from memman.commands.status import status
from memman.config.scope import PERSONAL, label
from memman.hot.prime import BUDGET, block
from memman.hot.prime import standing as held
from memman.hot.recall_session import opened
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.text import replaced
from memman.page.parts import (
    Button,
    Html,
    Inside,
    View,
    about,
    bars,
    buttons,
    choices,
    columns,
    correction,
    differing,
    el,
    item,
    items,
    link,
    memory_path,
    pairs,
    table,
    together,
)
from memman.recall.hit import Hit
from memman.recall.render import tokens
from memman.store.filters import Filters

Values = Mapping[str, str]

_PAGE, _NEAR, _WEEKS, _FEW = 25, 8, 12, 4
_WEEK = 7 * 86_400
_SPANS = {"1d": "a day", "7d": "a week", "30d": "a month", "3650d": "all"}
_WHERE = {PERSONAL: "everywhere"}
# What a line of a memory's log says, and why it is linked with another, in a reader's words.
_DID = {
    "add": "learned", "hold": "held back", "supersede": "replaced", "reinstate": "holds again", "forget": "forgotten",
    "restore": "brought back", "verify": "still true", "move": "moved", "doubt": "maybe replaced",
}  # fmt: skip
# What is asked about each kind of what waits, and the two answers.
_ASKS = {
    review.HELD: ("Shall this be kept?", "Keep it", "Reject it"),
    review.MAYBE: ("Does the newer replace the older?", "Yes, it replaces it", "No, both hold"),
    review.CONTRADICTED: ("Does the newer replace the older?", "Yes, it replaces it", "No, forget the newer"),
    review.UNWANTED: ("An agent asks to forget this. Shall it be forgotten?", "Forget it", "Keep it"),
    review.UNCONFIRMED: ("Only an agent has said this. Is it so?", "Yes", "No, forget it"),
}
_LINKS = {
    "temporal": "around then", "entity": "names the same", "semantic": "similar", "newer": "may be newer",
    "causal": "cause or effect",
}  # fmt: skip


def today(store: Opened, query: Values) -> View:
    """Show what was learned lately."""
    since, most, here = query.get("since", "7d"), _most(query), standing()
    groups = log.learned(store, since=since, limit=most)
    back = f"/?since={since}"
    only = f" Only here: in {label(here.repository, here.path)} alone." if here.repository else ""
    spans = [
        el("a", name, href=f"/?since={span}", aria_current="true" if span == since else None)
        for span, name in _SPANS.items()
    ]
    body: list[Inside] = [
        el(
            "p",
            "Is it right? ",
            el("b", "Still true"),
            " says so, ",
            el("b", "Wrong"),
            " forgets it. ",
            el("b", "Everywhere"),
            f" makes it hold in all repositories.{only}",
            class_="lead",
        ),
        el("nav", spans, class_="spans", aria_label="How far back"),
    ]
    if waiting := sum(review.count(store).values()):
        body.append(el("p", el("a", f"{counted(waiting, 'question')} for you to decide", href="/decide")))
    for day, of_day in groupby(groups, lambda group: group["day"]):
        these = [*of_day]
        memories = [one for group in these for one in group["memories"]]
        count = counted(sum(group["count"] for group in these), "memory")
        if memories:
            body += [el("h2", day, " ", el("small", count)), items(memories, back)]
    body.append(_more("/", {"since": since}, most, sum(group["count"] for group in groups)))
    if not groups:
        body.append(_none("Nothing was learned in that time."))
    return View("What was learned", together(*body), groups)


def start(store: Opened, _: Values) -> View:
    """Show what the next session here starts with, word for word."""
    here = standing()
    text, shown = block(store.data, store.name, here, prompted=True)
    kinds = held(store.data, store.name, here)[0]
    out = [
        {"uid": hit.row.uid, "text": hit.row.text}
        for hit in {hit.row.uid: hit for hits in kinds for hit in hits}.values()
        if hit.row.uid not in shown
    ]
    used = tokens(text)
    meter = el("meter", value=used, min=0, max=BUDGET, aria_label=f"{used} of {BUDGET} tokens")
    left: Inside = [el("h2", "Left out, but found at prompts"), el("ul", [_line(one) for one in out])] if out else ""
    body = together(
        el("p", f"{counted(len(shown), 'memory')}, {used} of {BUDGET} tokens ", meter, class_="lead"),
        el("p", f"In {label(here.repository, here.path)}, where this page was started.", class_="about")
        if here.repository
        else "",
        el("pre", text, tabindex="0", role="region", aria_label="The text, word for word"),
        left,
    )
    return View(
        "What the next session starts with", body, {"text": text, "tokens": used, "shown": [*shown], "left_out": out}
    )


def decide(store: Opened, query: Values) -> View:
    """Show what waits for a person."""
    most = _most(query)
    waiting = review.found(store)
    records = [review.told(store, *one) for one in waiting[:most]]
    lead = el("p", f"{counted(len(waiting), 'question')} for you. Nothing has to be answered.", class_="lead")
    body = together(lead, map(_case, records), _more("/decide", {}, most, len(waiting)))
    return View("Decide", body if records else _none("Nothing waits for you."), records)


def search(store: Opened, query: Values) -> View:
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
    most = _most(query)
    filters, recalls = Filters(here=standing()), opened(store.data, store.name)
    try:
        hits = recalls.hits(asked, filters, most + 1, None)
        wider = recalls.hits(asked, filters.having(anywhere=True, scopes=None), most + 1, None)
    finally:
        recalls.close()
    there = {hit.row.uid for hit in hits}
    elsewhere = [hit for hit in wider if hit.row.uid not in there]
    told, others = (_hits(store, found[:most]) for found in (hits, elsewhere))
    back = f"/search?{urlencode({'q': asked})}"
    body: list[Inside] = [
        form,
        el("ol", [_hit(one, back) for one in told], class_="memories") if told else _none("Nothing relevant."),
    ]
    if others:
        body += [el("h2", "Only elsewhere"), el("ol", [_hit(one, back) for one in others], class_="memories")]
    body.append(_more("/search", {"q": asked}, most, max(len(hits), len(elsewhere))))
    return View("Search", together(*body), {"query": asked, "hits": told, "elsewhere": others})


def memory(store: Opened, query: Values) -> View:
    """Show all that is known of a memory."""
    if not query.get("id"):
        raise UsageError("say id")
    most = _most(query, _NEAR)
    records = aged(store, known(store, [query["id"]], most))
    body = together(_whole(one, most) for one in records)
    return View("A memory" if len(records) == 1 else "Memories", body, records)


def health(store: Opened, _: Values) -> View:
    """Say that the page answers, and for which store."""
    data: dict[str, Any] = {"ok": True, "version": __version__, "store": store.name}
    return View("Health", pairs({name: str(said) for name, said in data.items()}), data)


def stats(store: Opened, query: Values) -> View:
    """Show the state of memory: how much, where, what was learned when, rules, sessions, cost, and what is stale."""
    most = _most(query)
    data = status(store)
    by_scope = scope.listed(store)
    days = log.stats(store, since=now_ms() - _WEEKS * _WEEK * 1000)["days"]
    sessions = log.sessions(store, limit=most + 1)
    cost, rules = log.cost(store), rule.listed(store.place)
    stale = lists.stale(store, limit=most + 1)
    forgotten = lists.listed(store, status="forgotten", limit=most + 1)
    counts = data["memories"]
    waiting = tallied(counts["waiting"]) if counts["waiting"] else ""
    body: list[Inside] = [
        pairs({"store": store.name, "memories": tallied(counts["by_status"]), "waits for you": waiting}),
        columns("Learned, by week", _weeks(days)),
        bars("Scopes", {_WHERE.get(one["scope"], one["scope"]): one["memories"] for one in by_scope[:most]})
        if by_scope
        else "",
        bars("Categories", counts["by_category"]) if counts["by_category"] else "",
    ]
    listed = (
        (
            "Rules",
            rules,
            ("what", "where", "fired"),
            lambda one: (one["text"], one["scope"] or _WHERE[PERSONAL], one["hits"]),
        ),
        ("Sessions", sessions, ("last", "agent", "repository", "learned", "shown", "tokens"), _session),
        ("Cost, 7 days", cost["spent"], ("day", "stage", "model", "calls", "USD"), _spent),
    )
    for title, rows, heads, write in listed:
        body += [el("h2", title), table(heads, [write(one) for one in rows[:most]], title)] if rows else []
    doubtful = [item(one, "/stats", el("p", "; ".join(one["why"]))) for one in stale[:most]]
    gone = [item(one, "/stats") for one in forgotten[:most]]
    for title, memories in (("May be out of date", doubtful), ("Forgotten", gone)):
        body += [el("h2", title), el("ul", memories, class_="memories")] if memories else []
    cut = (by_scope, rules, sessions, cost["spent"], stale, forgotten)
    body.append(_more("/stats", {}, most, max(map(len, cut))))
    return View(
        "State",
        together(*body),
        data
        | {"scopes": by_scope, "days": days, "sessions": sessions[:most], "cost": cost, "rules": rules}
        | {"stale": stale[:most], "forgotten": forgotten[:most]},
    )


VIEWS: dict[str, Callable[[Opened, Values], View]] = {
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


def _most(query: Values, least: int = _PAGE) -> int:
    said = query.get("most", str(least))
    if not (said.isascii() and said.isdigit() and len(said) < 6 and int(said)):  # noqa: PLR2004 - five digits
        raise UsageError(f"most is a number, not {said[:40]!a}")
    return int(said)


def _more(path: str, query: Values, most: int, there: int) -> Inside:
    """Link to more of a list of which `most` are shown, where more are there."""
    if there <= most:
        return ""
    said = "Show more" if there == most + 1 else f"Show more: {there - most} are left"
    return el("p", el("a", said, href=f"{path}?{urlencode({**query, 'most': most + _PAGE})}"))


def _line(one: Mapping[str, Any], *before: Inside) -> Html:
    return el("li", [[el("small", part), " "] for part in before if part], one["text"], " ", link(one["uid"]))


def _hits(store: Opened, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Return hits with what their scores are made of, and all that is said of a memory."""
    known = {one["uid"]: one for one in store.memories([hit.row.id for hit in hits if not hit.pending])}
    return [hit | known.get(hit["uid"], {}) for hit in ranked(store, lambda _: (), hits, ())["hits"]]


def _hit(hit: Mapping[str, Any], back: str) -> Html:
    score, moved = reasons(dict(hit))
    why = el("details", el("summary", f"why here: match {hit['confidence']:.2f}"), el("p", score), el("p", moved))
    doubt = [replaced(newer, hit["until"])] if (newer := hit["maybe_replaced_by"]) else []
    return item({**hit, "labels": [*doubt, *hit["labels"]]}, back, why, buttons=not hit["pending"])


def _case(one: Mapping[str, Any]) -> Html:
    """Write what waits, with the other side, and the question."""
    other = one["other"]
    asks, yes, no = _ASKS[one["kind"]]
    older, newer = differing(one["text"], other["text"]) if other else (one["text"], "")
    sides = [_side("Older" if other else "", older, one), _side("Newer", newer, other) if other else ""]
    why = "Asked because it is " + ": ".join(filter(None, (one["kind"], one["why"])))
    pair = el("div", sides, class_="pair" if other else "")
    between: list[Button] = [("both", "Both hold", {})] if one["kind"] == review.CONTRADICTED else []
    done = buttons(one["uid"], "/decide", ("approve", yes, {}), *between, ("reject", no, {}))
    return el("section", el("h2", asks), pair, el("p", why, class_="about"), done, class_="case")


def _side(name: str, text: Inside, one: Mapping[str, Any]) -> Html:
    return el("div", el("h3", name) if name else "", el("p", text, class_="said"), about(one))


def _whole(one: Mapping[str, Any], most: int) -> Html:
    """Write a memory, or a note that waits."""
    if one["kind"] == "note":
        return pairs({"note": one["uid"], "text": one["text"], "state": one["state"]})
    came = one["provenance"] or {}
    texts = {other["uid"]: other["text"] for other in (*one["related"], *one["history"])}
    facts: dict[str, Inside] = {
        "category": f"{one['category']}, importance {one['importance']}",
        "recorded": when(one["recorded_at"]),
        "verified": when(one["verified_at"]),
        "replaced by": _named(texts, one["superseded_by"]),
        "maybe replaced by": _named(texts, one["maybe_replaced_by"]),
        "contradicts": [_named(texts, uid) for uid in one["against"]],
        "contradicted by": [_named(texts, uid) for uid in one["contradicted_by"]],
        "note": one["said"] if one["said"] != one["text"] else "",
        "you said": one["typed"],
        "agent": came.get("agent"),
        "session": came.get("session"),
        "said in": came.get("cwd"),
    }
    lines = [
        (line["at"], el("li", el("time", when(line["at"])), " ", el("b", did), " ", version["text"], " ", _by(line)))
        for version in one["history"]
        for line in version["changes"]
        for did in (_DID.get(line["verb"], line["verb"]),)
    ]
    lines.sort(key=itemgetter(0))
    shown = [
        el("li", el("time", when(at["at"])), f" {at['agent']} {at['way']}, {counted(at['times'], 'time')}")
        for at in one["shown"][:most]
    ]
    linked = [_line(other, other["says"] or _LINKS.get(other["kind"], other["kind"])) for other in one["related"]]
    # There may be more next to it where as many were found as were asked for.
    there = max(len(lines), len(one["shown"]), len(linked) + (len(linked) == most))
    return el(
        "section",
        el("p", one["text"], class_="said large"),
        about(one),
        choices(one, memory_path(one["uid"])),
        correction(one) if one["status"] == "current" else "",
        el("h2", "Where it comes from"),
        pairs(facts),
        [el("h2", "History"), el("ol", [line for _, line in lines[-most:]], class_="time")] if lines else "",
        [el("h2", "Shown to agents"), el("ol", shown, class_="time")] if shown else "",
        [el("h2", "Linked"), el("ul", linked)] if linked else "",
        _more("/memory", {"id": one["uid"]}, most, there),
    )


def _by(line: Mapping[str, Any]) -> Inside:
    said = " ".join(filter(None, (line.get("agent"), line.get("session"))))
    return el("small", said) if said else ""


def _named(texts: Mapping[str, str], uid: str | None) -> Inside:
    return el("div", texts.get(uid, ""), " ", link(uid)) if uid else ""


def _weeks(days: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Count what was learned in each of the last weeks, from the first with anything on, by the day it began on."""
    now = time.time()
    weeks: dict[str, int] = {}
    for back in reversed(range(_WEEKS)):
        seven = [time.localtime(now - back * _WEEK - day * 86_400) for day in range(7)]
        learned = [days.get(time.strftime("%Y-%m-%d", day), {}) for day in seven]
        count = sum(one.get("add", 0) + one.get("hold", 0) for one in learned)
        if weeks or count or back < _FEW:
            weeks[time.strftime("%-d %b", seven[-1])] = count
    return weeks


def _session(one: Mapping[str, Any]) -> tuple[Inside, ...]:
    return (
        past(one["last"]), one["agent"], label(one["repository"], ""),
        one["made"], one["shown"], one["tokens"],
    )  # fmt: skip


def _spent(one: Mapping[str, Any]) -> tuple[Inside, ...]:
    return one["day"], one["stage"], one["model"], one["calls"], f"{one['cost']:.4f}"
