"""`memman log`: what was done to memories, what was learned, by which sessions, and what it cost."""

import math
import time
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from typing import Any

import click

from memman.clock import now_ms
from memman.commands import review
from memman.commands.place import Opened, Records, standing
from memman.commands.printing import WIDE, holds, labelled, lines, pairs, short, table, tallied, text, when
from memman.commands.printing import listed as limited
from memman.commands.verb import Group, Told, limit_option, store_option
from memman.config.scope import PERSONAL, label
from memman.hot.grammar import moment
from memman.model.errors import UnknownId, UsageError
from memman.model.plural import counted
from memman.model.text import duration
from memman.model.vocabulary import WISHES
from memman.queue.ledger import Ledger
from memman.store.sqlite import sessions as sql
from memman.store.sqlite.sessions import sitting
from memman.store.sqlite.topics import last_session, superseded_texts

# What names the last session that left something where one stands, but for one's own.
LAST = "last"
# Verbs of the log that bring a memory in, held back or not.
_NEW = {"add", "hold"}
_GONE = {"superseded", "forgotten"}
# What a person may do with what a session left.
_DECIDE = {
    "keep": "memman insights verify ID; of what is in review: memman review approve ID",
    "wrong": "memman undo ID brings back what it replaced; memman forget ID",
    "everywhere": "memman scope move ID --to personal",
}
_BESIDE = ("at", "event", "level", "note")

# Verbs whose line is of an undo or of what one takes back: such an id is told as a note's is.
_OF_NO_MEMORY = ("undo", "rename", "consolidate")

since_option = click.option(
    "--since", metavar="TIME", help="Show only what is newer: 7d, 12h, yesterday, or `last`: since you were last here."
)


newer_option = click.option(
    "--since",
    metavar="TIME",
    default="7d",
    show_default=True,
    help="Start: 2026-11-01, 7d, 12h, or `last`: since you were last here.",
)


class Listing(Group):
    """A group that lists where no verb is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the group's own options."""
        bare = "".join(args[:1])[:1] in {"", "-"} and not {*self.commands, "--help"}.intersection(args)
        return super().parse_args(ctx, ["list", *args] if bare and not ctx.resilient_parsing else args)


@click.group(cls=Listing)
@store_option
def log() -> None:
    """Show changes to memories, what was learned, by which sessions, and the cost.

    Without a verb it lists changes.
    """


@log.verb("list", opened=True, shows=Told)
@limit_option
@since_option
@click.option("--memory", metavar="ID", help="Show only changes to this memory.")
@click.option("--session", metavar="S", help="Show what a session stored: its id, or `last` for the last one here.")
@click.option("--stats", "counts", is_flag=True, help="Show counts by verb and day.")
def listing(
    store: Opened, limit: int, since: str | None, memory: str | None, session: str | None, *, counts: bool = False
) -> Told:
    """List changes, newest first."""
    if since == LAST and not (session or memory or counts):
        return Told(since_last(store), _print_since_last)
    if session is not None:
        if counts or since or memory:
            raise UsageError("--session shows a whole session: leave out --since, --memory and --stats")
        return Told(left(store, session), _print_session)
    after = None if since is None else _since(store, since)
    if counts:
        if memory is not None:
            raise UsageError("--stats counts the whole store and cannot be combined with --memory")
        return Told(stats(store, since=after), _print_stats)
    return Told(limited(lambda most: listed(store, limit=most, since=after, memory=memory), limit), _print_lines)


def _print_stats(tally: dict[str, Any]) -> None:
    pairs({"in all": tallied(tally["verbs"])} | {day: tallied(counts) for day, counts in tally["days"].items()})


def _print_lines(records: Records) -> None:
    for record in records:
        said = f"{short(record['memory'], note=record['verb'] in _OF_NO_MEMORY)} {labelled(record, holds(record))}"
        text(f"{when(record['at'])}  {record['verb']:<9}  {said.rstrip()}  {change(record)}")
    if not records:
        text("no changes")


def _print_session(one: dict[str, Any]) -> None:
    who = {name: one[name] for name in ("session", "agent", "repository", "notes")}
    pairs(who | {"began": when(one["began"]), "last": when(one["last"]), "tokens": one["tokens"]})
    if rows := [(side, *_left(memory)) for side in ("made", "shown") for memory in one[side]]:
        table(rows, WIDE)
    if one["made"]:
        text("")
        pairs(_DECIDE)


def _left(memory: dict[str, Any]) -> tuple[str, str, str]:
    """Write a memory's id, whose word it is, how it stands where it is not recalled, where it holds, what it says."""
    stands = [] if memory["status"] == "current" else [memory["status"]]
    said = f'{memory["text"]} (before: "{memory["replaced"]}")' if memory.get("replaced") else memory["text"]
    return short(memory["uid"]), labelled(memory, *stands, holds(memory)), said


def _since(store: Opened, said: str) -> int:
    """Return the moment that --since says; the LAST is when the last sitting began, or ever where there was none."""
    if said != LAST:
        return moment(said, "since")
    last = sitting(store.db, store.place.session)
    return last[0] if last else 0


def change(record: dict[str, Any]) -> str:
    """Write what a line of the log says has changed, and which agent did it, in which session."""
    before, after = record["before"] or {}, record["after"] or {}
    names = dict.fromkeys((*before, *after))
    # What names a memory that was purged says nothing on either side.
    sides = {name: (before.get(name), after.get(name)) for name in names}
    changes = [f"{name}: {_shift(name, *said)}" for name, said in sides.items() if said != (None, None)]
    note = f"note {short(record['note'], note=True)}" if record["note"] else ""
    who = " ".join(filter(None, (record.get("agent"), record.get("session"))))
    return "  ".join(filter(None, (note, "; ".join(changes), who)))


def _shift(name: str, before: object, after: object) -> str:
    written = _WRITTEN.get(name, str)
    before, after = (None if value is None else written(value) for value in (before, after))
    return f"{after}" if before is None else f"{before} → {'-' if after is None else after}"


# How a field is written, where not as it is.
_WRITTEN: dict[str, Callable[[Any], str]] = {
    "valid_from": when,
    "valid_to": when,
    "ends_at": when,
    "scope": lambda scope: label(*scope) or PERSONAL,
}


@log.verb(
    opened=True,
    shows=lambda records: lines(map(_worker_line, records)),
    counts=len,
    none="no drain has written to the log",
)
@since_option
def worker(store: Opened, *, since: str | None = None, limit: int = 20) -> Records:
    """Show what drains did, newest last."""
    from memman.drain import worklog

    return worklog.lines(store.data, limit, None if since is None else _since(store, since))


def _worker_line(record: dict[str, Any]) -> str:
    note = f" {short(str(record['note']), note=True)}" if record.get("note") else ""
    rest = (f"{name}={value}" for name, value in record.items() if value and name not in _BESIDE)
    return f"{when(record['at'])}  {record['event']}{note}  {' '.join(rest)}".rstrip()


def _print_learned(groups: Records) -> None:
    for group in groups:
        text(f"{group['day']}  {group['scope'] or PERSONAL}  {counted(group['count'], 'memory')}")
        for one in group["memories"]:
            text(f"  {short(one['uid'])}  {labelled(one)}  {one['text']}")


@log.verb(
    opened=True,
    shows=_print_learned,
    counts=lambda groups: sum(len(group["memories"]) for group in groups),
    none="nothing learned since then",
)
@newer_option
def learned(store: Opened, *, since: str = "7d", limit: int = 20) -> Records:
    """Show what was learned, by day and repository."""
    days = store.came(_since(store, since))
    scopes = {row: label(*scope) for row, scope in store.reader.scope_of(days).items()}
    rows = sorted(store.within(days), key=lambda row: scopes.get(row, ""))
    rows.sort(key=lambda row: days[row], reverse=True)
    told = {one["id"]: one for one in store.memories(rows[:limit])}
    groups = []
    for (day, scope), these in groupby(rows, key=lambda row: (days[row], scopes.get(row, ""))):
        memories = [*these]
        shown = [told[row] for row in memories if row in told]
        groups.append({"day": day, "scope": scope, "count": len(memories), "memories": shown})
    return groups


def _print_diff(changes: Records) -> None:
    for scope, these in groupby(changes, key=lambda one: str(one["scope"])):
        text(scope or PERSONAL)
        lines(_changed_line(one) for one in these)


def _changed_line(one: dict[str, Any], *more: str) -> str:
    before = f' (before: "{one["replaced"]}")' if one.get("replaced") else ""
    how = "" if one["sign"] == "+" else f"  ({', '.join(dict.fromkeys(one['verbs']))})"
    return f"{one['sign']} {short(one['uid'])}  {labelled(one, *more)}  {one['text']}{before}{how}"


@log.verb(opened=True, shows=_print_diff, counts=len, none="nothing changed since then")
@newer_option
def diff(store: Opened, *, since: str = "7d", limit: int = 20) -> Records:
    """Show what was added (+), removed (-) and changed (~) since then, by scope."""
    changes = changed(store, _since(store, since))
    return sorted(changes[-limit:], key=lambda change: (change["scope"], "+-~".index(change["sign"])))


def changed(store: Opened, since: int) -> Records:
    """Return what is otherwise than it was at a moment, each with its sign and the verbs of its lines."""
    verbs = store.changed(since)
    there = store.within(verbs)
    return [
        {"sign": sign, "verbs": [*verbs[record["id"]]]} | record
        for record in store.memories([row for row in verbs if row in there])
        if (sign := _sign(verbs[record["id"]], record))
    ]


def _sign(verbs: tuple[str, ...], record: dict[str, Any]) -> str:
    new, gone = not _NEW.isdisjoint(verbs), record["status"] in _GONE
    if record["status"] == "current" and {*verbs} == {"supersede", "undo"}:
        return ""  # it stands as before
    return "" if new and gone else "+" if new else "-" if gone else "~"


def _print_sessions(records: Records) -> None:
    for one in records:
        counts = f"{counted(one['notes'], 'note')}, {counted(one['made'], 'memory')}, {one['shown']} shown"
        where = " ".join(filter(None, (one["agent"], one["session"], label(one["repository"], ""))))
        text(f"{when(one['last'])}  {where}  {counts}, {one['tokens']} tokens")


@log.verb(opened=True, shows=_print_sessions, counts=len, none="no sessions")
def sessions(store: Opened, *, limit: int | None = None) -> Records:
    """List the sessions that made or were shown memories, latest first."""
    return sql.listed(store.db)[:limit]


def _print_cost(record: dict[str, Any]) -> None:
    spent = [
        (one["day"], one["stage"], f"{one['provider']}/{one['model']}", one["repository"], _bill(one))
        for one in record["spent"]
    ]
    told = [
        (when(one["at"]), one["way"], one["agent"], one["session"], f"{one['memories']} shown, {one['tokens']} tokens")
        for one in record["shown"]
    ]
    for head, rows in (("spent", spent), ("shown", told)):
        text(head if rows else f"{head}: nothing")
        table(rows)


def _bill(one: dict[str, Any]) -> str:
    unpriced = " and calls of unknown price" if one["unpriced"] else ""
    tokens = f"{one['tokens_in']} tokens in, {one['tokens_out']} out"
    return f"{counted(one['calls'], 'call')}, {tokens}, {one['cost']:.4f} USD{unpriced}"


@log.verb(opened=True, shows=_print_cost)
@newer_option
def cost(store: Opened, *, since: str = "7d") -> dict[str, Any]:
    """Show what models cost, and how many tokens of memories were shown.

    Cost is counted by day (UTC), stage, model and repository, over all stores. Tokens shown are those of the
    memories' lines alone; the last hooks are counted at the next drain.
    """
    begun = _since(store, since)
    spent = Ledger(store.queue.db).spent_since(time.strftime("%Y-%m-%d", time.gmtime(begun / 1000)))
    named = [entry | {"repository": label(entry["repository"], "") or entry["repository"]} for entry in spent]
    return {"spent": named, "shown": sql.costs(store.db, begun)}


def last_here(store: Opened) -> str:
    """Return the last session that stored something here, but for the caller's. Raises UnknownId."""
    if last := last_session(store.db, standing(), store.place.session, newest=store.reader.last()):
        return last[1]
    raise UnknownId("no session has stored anything here yet")


def left(store: Opened, part: str) -> dict[str, Any]:
    """Return the session whose id begins with `part`, or the LAST, with the memories that it made and was shown.

    Each of those that it made says what it replaced. Raises UnknownId and AmbiguousId.
    """
    from memman.store.sqlite.undo import one_of

    known = {one["session"]: one for one in sessions(store)}
    part = last_here(store) if part == LAST else part
    one = known[one_of(known, part, "session")]
    ids, told = (find(store.db, one["session"]) for find in (sql.made, sql.shown))
    before = superseded_texts(store.db, ids)
    made = [record | {"replaced": before.get(record["id"])} for record in store.memories(ids)]
    return one | {"made": made, "shown": store.memories(told)}


def listed(store: Opened, *, limit: int = 20, since: int | None = None, memory: str | None = None) -> Records:
    """Return the newest lines, newest first; `memory` is an id, `since` Unix milliseconds."""
    uid = None if memory is None else str(store.memories([store.row_of(memory)])[0]["uid"])
    lines = store.log(limit=limit, since=since, memory=uid)
    if not memory and store.scopes_meant() is not None:
        there = store.reader.rows(store.within(store.reader.located([one["memory"] for one in lines]))).values()
        uids = {row.uid for row in there}
        lines = [one for one in lines if one["memory"] in uids]
    return lines


def stats(store: Opened, *, since: int | None = None) -> dict[str, Any]:
    """Count what was done, by verb and by day (local time), newest day first."""
    days = store.log_days(since=since)
    verbs: Counter[str] = Counter()
    for counts in days.values():
        verbs.update(counts)
    return {"verbs": dict(verbs.most_common()), "days": days}


# Lines after an hour and after a month; between them, by the logarithm of the hours.
_FEWEST, _MOST, _MONTH_HOURS = 3, 40, 720
_HOUR_MS = 3_600_000


def since_last(store: Opened) -> dict[str, Any]:
    """Return from when until when the last sitting was, how long ago it ended, and what changed since it began.

    What is most telling comes first. What replaced something says what; that is not told by itself. `left` is how much
    more there is.
    """
    now = now_ms()
    last = sitting(store.db, store.place.session)
    waiting = review.count(store)
    if not last:
        return {"since": None, "until": None, "away_ms": None, "changes": [], "left": 0, "waiting": waiting}
    changes = changed(store, last[0])
    before = superseded_texts(store.db, [one["id"] for one in changes])
    new = {one["id"] for one in changes}
    told = [one | {"replaced": before.get(one["id"])} for one in changes if one["superseded_by"] not in new]
    away = now - last[1]
    room = room_for(away) - 1
    room -= len(told) > room
    first = sorted(told, key=_telling)[:room]
    left = len(told) - len(first)
    return {"since": last[0], "until": last[1], "away_ms": away, "changes": first, "left": left, "waiting": waiting}


def room_for(away_ms: int) -> int:
    """Say how many lines an absence is worth."""
    hours = min(max(away_ms / _HOUR_MS, 1), _MONTH_HOURS)
    return _FEWEST + round((_MOST - _FEWEST) * math.log(hours) / math.log(_MONTH_HOURS))


def _telling(change: dict[str, Any]) -> tuple[bool, int, bool, int, int]:
    """Order what replaced something first, what came before what went, wishes before facts, the newest of them."""
    return (
        not change["replaced"],
        "+-~".index(change["sign"]),
        change["category"] not in WISHES,
        -change["importance"],
        -change["recorded_at"],
    )


def _minute(moment_ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M", time.localtime(moment_ms / 1000))


def _print_since_last(found: dict[str, Any]) -> None:
    if found["since"] is None:
        text("nobody was here yet")
        return
    since, until = (_minute(found[side]) for side in ("since", "until"))
    waits = sum(found["waiting"].values())
    review = f"; {waits} wait{'s' * (waits == 1)} for you: memman review list" if waits else ""
    count = len(found["changes"]) + found["left"]
    here = since if since == until else f"from {since} to {until}"
    away = duration(found["away_ms"] / 1000)
    text(f"last here {here}, {away} ago; {count or 'nothing'} changed since then{review}")
    lines(_changed_line(one, one["scope"] or PERSONAL) for one in found["changes"])
    if found["left"]:
        text(f"and {found['left']} more: memman log diff --since {since}")
