"""`memman list`: memories, the newest first; those that are least sure, least worth, of a name, or day by day."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

import click

from memman.belief import AGAINST, SOURCES
from memman.clock import now_ms
from memman.commands.place import Opened, Records, refuse_held
from memman.commands.printing import (
    WIDE,
    aged,
    holds,
    labelled,
    memories,
    short,
    text,
)
from memman.commands.printing import listed as limited
from memman.commands.verb import Told, limit_option, scope_option, verb
from memman.config.env import Settings, stale_ages
from memman.hot.grammar import moment
from memman.model.errors import UsageError
from memman.model.terms import name as compared
from memman.model.text import age, clean, outdated
from memman.model.vocabulary import CATEGORIES, HIDDEN
from memman.model.worth import BOUND, DAY_MS, reasons, worth
from memman.store.filters import Filters
from memman.store.sqlite import quality
from memman.store.sqlite.catalogue import ARCHIVED

T = TypeVar("T")
STATUSES = ("current", "superseded", "forgotten", ARCHIVED, "all")
_LINKS = {"because_of": "because of", "led_to": "led to"}
_LONGEST = 200
_FIELDS = (
    "uid",
    "text",
    "summary",
    "category",
    "source",
    "unconfirmed",
    "origin",
    "status",
    "scope",
    "valid_from",
    "valid_to",
    "ends_at",
    "file_changed_at",
)
# How an origin begins that is a place, not a session.
_PLACE = "@"
NO_STALE, NO_LEAST = "nothing is out of date, as far as can be told", "no memory is worth so little"


@verb("list", opened=True, shows=Told)
@click.option("--category", type=click.Choice(CATEGORIES), help="Show only this category.")
@click.option("--source", type=click.Choice(SOURCES), help="Show only this source.")
@click.option("--status", type=click.Choice(STATUSES), help="Show only this status  [default: current]")
@scope_option
@click.option(
    "--stale", is_flag=True, help="Show what may be out of date: past its end, files changed, reported, or old."
)
@click.option("--least", is_flag=True, help="Show what is least worth keeping, and why; nothing protected.")
@click.option("--below", type=click.FloatRange(0, 2), help=f"With --least: only what is worth less  [default: {BOUND}]")
@click.option("--about", metavar="NAME", help="Show what mentions this name: a service, host, file, ticket or person.")
@click.option("--around", metavar="ID", help="Show by day what happened around a memory, which is marked.")
@click.option("--by-day", is_flag=True, help="Show by day, newest last, and what superseded what.")
@click.option("--since", metavar="TIME", help="Show only what is newer: 2026-11-01T10:00, 7d, 12h, yesterday.")
@click.option("--until", metavar="TIME", help="Show only what is older.")
@limit_option
def listing(store: Opened, limit: int, **asked: Any) -> Told:
    """List memories: the newest, those that may be out of date, or those worth least."""
    said = {name: value for name, value in asked.items() if value is not None and value is not False}
    form, *more = [name for name in _FORMS if name in said] or [""]
    if more:
        raise UsageError(f"{_option(form)} and {_option(more[0])} are two lists: give one of them")
    find, show, none, goes = _FORMS[form]
    value = said.pop(form, None)
    if wrong := next((name for name in said if name not in goes), ""):
        forms = [_option(name) for name, one in _FORMS.items() if name and wrong in one[3]]
        raise UsageError(f"{_option(wrong)} goes with {' or '.join(forms) or 'the plain list'} only")
    said |= {name: moment(said[name], name) for name in ("since", "until") if name in said}
    if form == "around":
        records = find(store, value, limit=limit, **said)
    else:
        records = limited(lambda most: find(store, value, limit=most, **said), limit)
    return Told(aged(store, records), show if records else lambda _: text(none))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def listed(store: Opened, _: object = None, *, status: str = "current", limit: int = 20, **asked: Any) -> Records:
    """Return memories, newest first, of a `category`, `source` or `scope`, and `since` or `until` a moment."""
    scopes = store.scopes_meant(asked.pop("scope", None))
    return [one | store.why_held(one) for one in store.listed(status=status, limit=limit, scopes=scopes, **asked)]


def _print_listed(records: Records) -> None:
    if all(one["status"] == "current" for one in records):
        memories(records, importance=lambda one: one["importance"])
    else:
        memories(records, importance=lambda one: one["importance"], status=_status)


def _status(record: dict[str, Any]) -> str:
    return f"{record['status']}: {record['why']}" if "why" in record else str(record["status"])


def stale(store: Opened, _: object = None, *, limit: int = 20, **asked: Any) -> Records:
    """Return current memories that may be out of date, each with `why`: the one that may be so for longest first."""
    found = doubts(store, now_ms())
    first = sorted((min(why), row) for row, why in _asked(store, found, asked).items())
    whys = {row: {"why": [*found[row].values()]} for _, row in first[:limit]}
    return _told(store, whys)


def _asked(store: Opened, found: dict[int, T], asked: dict[str, Any]) -> dict[int, T]:
    """Return those of memories that are of the category, source and scope asked for."""
    scopes = store.scopes_meant(asked.get("scope"))
    filters = Filters(category=asked.get("category"), source=asked.get("source"), scopes=scopes)
    rows = store.reader.filtered(found, filters)
    return {row: one for row, one in found.items() if row in rows}


def _told(store: Opened, more: Mapping[int, dict[str, Any]]) -> Records:
    """Return memories, in the order of `more`, each with what that says of it."""
    return [one | more[one["id"]] for one in store.memories([*more])]


def print_stale(records: Records) -> None:
    """Print what may be out of date, and why."""
    memories(records, why=lambda one: "; ".join(one["why"]))


def least(store: Opened, _: object = None, *, below: float = BOUND, limit: int | None = 20, **asked: Any) -> Records:
    """Return the current memories worth less than `below` and not immune, the least first, with `worth` and `why`."""
    now = now_ms()
    kept = quality.kept(store.reader, quality.standings(store.reader))
    kept = _asked(store, {row: one for row, one in kept.items() if not one.immune}, asked)
    valued = sorted((worth(one, now), row) for row, one in kept.items())
    first = [(value, row) for value, row in valued if value < below][:limit]
    return _told(store, {row: {"worth": round(value, 3), "why": reasons(kept[row], now)} for value, row in first})


def print_least(records: Records) -> None:
    """Print what is least worth keeping, and why."""
    memories(records, worth=lambda one: f"{one['worth']:.3f}", why=lambda one: "; ".join(one["why"]))


def about(store: Opened, name: str, *, limit: int = 20, **asked: Any) -> Records:
    """Return the newest memories that mention a name in their text, or as an entity."""
    if not compared(name):
        raise UsageError("there is no name to look for: give one, as it is written")
    filters = Filters(scopes=store.scopes_meant(asked.pop("scope", None)), **asked)
    return store.memories(store.about((name,), filters, limit))


def doubts(store: Opened, now: int) -> dict[int, dict[int, str]]:
    """Return since when, and why, each current memory may be out of date that may be."""
    reader, ages = store.reader, stale_ages(Settings.load(store.data))
    rows = quality.standings(reader)
    evidence = reader.evidence(row.id for row in rows)
    changes = reader.changed_files((row.id for row in rows), now)
    lasts = {category: int(days) * DAY_MS for category, days in ages.items()}
    found = {row.id: dict(_reasons(row, evidence.get(row.id, ()), changes.get(row.id), lasts, now)) for row in rows}
    return {row: why for row, why in found.items() if why}


def _reasons(
    row: quality.Standing,
    evidence: Sequence[tuple[str, str, int]],
    changed_at: int | None,
    lasts: Mapping[str, int],
    now: int,
) -> Iterator[tuple[int, str]]:
    """Yield since when a memory may be out of date, and why."""
    borne_out = quality.last_borne_out(row, evidence)
    old = borne_out + lasts[row.category] if row.category in lasts else now + 1
    if row.ends_at or changed_at:
        yield from ((at, label) for label, at in outdated(row.ends_at, changed_at, now).items())
    if evidence and (reported := [at for kind, _, at in evidence if kind in AGAINST and at > borne_out]):
        yield reported[0], "reported wrong or stale"
    if old <= now:
        yield old, f"{age(borne_out, now)} old, and not confirmed since"


def by_day(
    store: Opened,
    _: object = None,
    *,
    limit: int = 20,
    since: int | None = None,
    until: int | None = None,
    scope: str | None = None,
) -> Records:
    """Return the newest memories that came to hold from `since` on and before `until`, the newest last."""
    rows = [row for at, row in store.latest(until, limit) if _within(at, since, until)]
    there = store.within(rows, scope)
    return _described(store, [row for row in rows if row in there])


def around(
    store: Opened,
    part: str,
    *,
    limit: int = 20,
    since: int | None = None,
    until: int | None = None,
    scope: str | None = None,
) -> Records:
    """Return a memory amid those that came to hold just before and after it. Raises UsageError for a hidden one."""
    half, asked = limit // 2, store.row_of(part)
    found = store.around(asked, half, limit - 1 - half)
    there = store.within([row for _, row in found], scope)
    rows = [row for at, row in found if row == asked or (row in there and _within(at, since, until))]
    if asked not in rows:
        refuse_held(part, store.memories([asked])[0]["status"])
        raise UsageError(f"{part} is forgotten: `memman forget --undo {part}` brings it back")
    return _described(store, rows, asked)


def _within(at: int, since: int | None, until: int | None) -> bool:
    return (since is None or at >= since) and (until is None or at < until)


def _described(store: Opened, rows: Sequence[int], asked: int | None = None) -> Records:
    """Describe memories: what took the place of each, what it came of and led to, and whether it is one asked about."""
    memories = store.memories(rows)
    links = [
        (edge.near, "led_to" if edge.src == edge.near else "because_of", edge.far)
        for edge in store.reader.edges(rows)
        if edge.kind == "causal"
    ]
    others = {memory["superseded_by"] for memory in memories if memory["superseded_by"]} | {far for *_, far in links}
    uids = {other["id"]: other["uid"] for other in store.memories(sorted(others)) if other["status"] not in HIDDEN}
    session = next((memory["origin"] for memory in memories if memory["id"] == asked), _PLACE)
    return [
        {name: memory[name] for name in _FIELDS}
        | {
            "asked": memory["id"] == asked,
            "same_session": memory["origin"] == session and not session.startswith(_PLACE),
            "superseded_by": uids.get(memory["superseded_by"]),
        }
        | {
            name: [uids[far] for row, link, far in links if (row, link) == (memory["id"], name) and far in uids]
            for name in ("because_of", "led_to")
        }
        for memory in memories
    ]


def _print_days(entries: list[dict[str, Any]]) -> None:
    for day, of_day in groupby(entries, lambda entry: _local(entry, "%Y-%m-%d %A")):
        text(day)
        for entry in of_day:
            text(_line(entry))


def _line(entry: dict[str, Any]) -> str:
    """Write the memory asked about whole, of the others a summary or their beginning."""
    marks = [
        labelled(entry, holds(entry)),
        "same session" if entry["same_session"] and not entry["asked"] else "",
        f"superseded by {short(entry['superseded_by'])}" if entry["superseded_by"] else "",
        *(f"{said} {', '.join(map(short, entry[name]))}" for name, said in _LINKS.items() if entry[name]),
    ]
    sign = ">" if entry["asked"] else " "
    said = f"{entry['summary']}…" if entry["summary"] else entry["text"]
    said = clean(entry["text"], WIDE) if entry["asked"] else clean(said, _LONGEST)
    return f"{sign} {_local(entry, '%H:%M')} {short(entry['uid'])} {', '.join(filter(None, marks))}: {said}"


def _local(entry: dict[str, Any], form: str) -> str:
    return time.strftime(form, time.localtime(entry["valid_from"] / 1000))


_NARROWED, _DATED = ("category", "source", "scope"), ("since", "until")
# A form of the list, '' for the plain one -> how memories are found for it and printed, what is said of none, and which
# other options go with it.
_FORMS: dict[str, tuple[Callable[..., Records], Callable[[Records], None], str, tuple[str, ...]]] = {
    "": (listed, _print_listed, "no memories", (*_NARROWED, *_DATED, "status")),
    "stale": (stale, print_stale, NO_STALE, _NARROWED),
    "least": (least, print_least, NO_LEAST, (*_NARROWED, "below")),
    "about": (about, memories, "no memory mentions it", _NARROWED),
    "around": (around, _print_days, "no memories", (*_DATED, "scope")),
    "by_day": (by_day, _print_days, "no memories", _DATED),
}

# No function of Python's can have the verb's name; nor may this module name Python's own `list`.
globals()["list"] = listing
