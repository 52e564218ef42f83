"""`memman log`."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from memman.commands.printing import WIDE, holds, labelled, listed, pairs, printed, short, table, tallied, text, when
from memman.commands.verb import Group, data_options, limit_option, place, store_option
from memman.config.scope import PERSONAL, label
from memman.model.errors import UsageError

# What a person may do with what a session left.
_DECIDE = {
    "keep": "memman insights verify ID; of what is in review: memman review approve ID",
    "wrong": "memman undo ID brings back what it replaced; memman forget ID",
    "everywhere": "memman scope move ID --to personal",
}
_BESIDE = ("at", "event", "level", "note")

# Verbs whose line is of an undo or of what one takes back: such an id is told as a note's is.
_OF_NO_MEMORY = ("undo", "rename")

since_option = click.option(
    "--since", metavar="TIME", help="Show only what is newer: 2026-11-01T10:00, 7d, 12h, yesterday."
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
    """Show the history of changes to memories; without a verb, list them."""


@log.command("list")
@limit_option
@since_option
@click.option("--memory", metavar="ID", help="Show only changes to this memory.")
@click.option("--session", metavar="S", help="Show what a session left: `last` is the last one here, or one by its id.")
@click.option("--stats", "counts", is_flag=True, help="Show counts by verb and day.")
@data_options
def list_(limit: int, since: str | None, memory: str | None, session: str | None, counts: bool, as_json: bool) -> None:
    """List changes, newest first."""
    if session is not None:
        if counts or since or memory:
            raise UsageError("--session shows a whole session: leave out --since, --memory and --stats")
        _session(session, as_json=as_json)
        return
    if counts:
        _count(_after(since), memory, as_json=as_json)
        return
    from memman.govern.log import lines

    records = listed(lambda most: lines(place(), limit=most, since=_after(since), memory=memory), limit)
    if not printed(records, as_json=as_json):
        for record in records:
            said = f"{short(record['memory'], note=record['verb'] in _OF_NO_MEMORY)} {labelled(record, holds(record))}"
            text(f"{when(record['at'])}  {record['verb']:<9}  {said.rstrip()}  {change(record)}")


@log.command()
@limit_option
@since_option
@data_options
def worker(limit: int, since: str | None, as_json: bool) -> None:
    """Show what drains did, newest last."""
    from memman.drain.worklog import lines

    records = listed(lambda most: lines(place().data, most, _after(since)), limit)
    if not printed(records, as_json=as_json):
        for record in records:
            text(worker_line(record))


def worker_line(record: dict[str, Any]) -> str:
    """Write a line of the worker's log for people."""
    note = f" {short(str(record['note']), note=True)}" if record.get("note") else ""
    rest = (f"{name}={value}" for name, value in record.items() if value and name not in _BESIDE)
    return f"{when(record['at'])}  {record['event']}{note}  {' '.join(rest)}".rstrip()


def _session(part: str, *, as_json: bool) -> None:
    from memman.govern.recent import session

    one = session(place(), part)
    if printed(one, as_json=as_json):
        return
    pairs({name: one[name] for name in ("session", "agent", "repository")} | {"notes": one["notes"]})
    pairs({"began": when(one["began"]), "last": when(one["last"]), "tokens": one["tokens"]})
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


def _after(since: str | None) -> int | None:
    from memman.hot.moment import moment

    return None if since is None else moment(since, "since")


def _count(since: int | None, memory: str | None, *, as_json: bool) -> None:
    from memman.govern.log import stats

    if memory is not None:
        raise UsageError("--stats counts the whole store and cannot be combined with --memory")
    record = stats(place(), since=since)
    if not printed(record, as_json=as_json):
        days = {day: tallied(counts) for day, counts in record["days"].items()}
        pairs({"in all": tallied(record["verbs"])} | days)


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


def _scope(scope: Sequence[str]) -> str:
    return label(*scope) or PERSONAL


# How a field is written, where not as it is.
_WRITTEN: dict[str, Callable[[Any], str]] = {
    "valid_from": when,
    "valid_to": when,
    "ends_at": when,
    "scope": _scope,
}
