"""`memman timeline`."""

import time
from itertools import groupby
from typing import Any

import click

from memman.commands.printing import WIDE, aged, holds, labelled, listed, printed, short, text
from memman.commands.verb import Command, data_options, place
from memman.model.errors import UsageError
from memman.model.text import clean

_MOST = 500
_COUNT = click.IntRange(0, _MOST)
_LINKS = {"because_of": "because of", "led_to": "led to"}
_LONGEST = 200


@click.command(cls=Command)
@click.option("--around", "id_", metavar="ID", help="Show what happened around this memory.")
@click.option(
    "--limit", type=click.IntRange(1, _MOST), default=20, show_default=True, help="Maximum number of memories."
)
@click.option("--before", type=_COUNT, help="With --around: how many before it (default: half of --limit).")
@click.option("--after", type=_COUNT, help="With --around: how many after it (default: the rest of --limit).")
@click.option("--since", metavar="TIME", help="Show only what is newer: 2026-11-01T10:00, 7d, 12h, yesterday.")
@click.option("--until", metavar="TIME", help="Show only what is older.")
@data_options
def timeline(
    id_: str | None,
    limit: int,
    before: int | None,
    after: int | None,
    since: str | None,
    until: str | None,
    as_json: bool,
) -> None:
    """Show memories by day: those around one memory, or the newest.

    The newest comes last; `>` marks the memory asked about, shown in full. Superseded memories are
    shown with what replaced them.
    """
    from memman.govern import timeline as govern

    where = place()
    times = {name: _moment(said, name) for name, said in (("since", since), ("until", until))}
    if id_ is None:
        if before is not None or after is not None:
            raise UsageError("--before and --after need --around ID")
        entries = listed(lambda most: govern.latest(where, limit=most, **times), limit)
    else:
        half = limit // 2
        before, after = half if before is None else before, limit - 1 - half if after is None else after
        entries = govern.around(where, id_, before=before, after=after, **times)
    entries = aged(where, entries)
    if not printed(entries, as_json=as_json):
        _print(entries)


def _moment(said: str | None, option: str) -> int | None:
    from memman.hot.moment import moment

    return None if said is None else moment(said, option)


def _print(entries: list[dict[str, Any]]) -> None:
    for day, of_day in groupby(entries, lambda entry: _local(entry, "%Y-%m-%d %A")):
        text(day)
        for entry in of_day:
            text(_line(entry))


def _line(entry: dict[str, Any]) -> str:
    marks = [
        labelled(entry, holds(entry)),
        "same session" if entry["same_session"] and not entry["asked"] else "",
        f"superseded by {short(entry['superseded_by'])}" if entry["superseded_by"] else "",
        *(f"{said} {', '.join(map(short, entry[name]))}" for name, said in _LINKS.items() if entry[name]),
    ]
    sign = ">" if entry["asked"] else " "
    head = f"{sign} {_local(entry, '%H:%M')} {short(entry['uid'])} {', '.join(filter(None, marks))}"
    return f"{head}: {_said(entry)}"


def _said(entry: dict[str, Any]) -> str:
    """Give the memory asked about whole, of the others a summary or their beginning."""
    if entry["asked"]:
        return clean(entry["text"], WIDE)
    return clean(f"{entry['summary']}…" if entry["summary"] else entry["text"], _LONGEST)


def _local(entry: dict[str, Any], form: str) -> str:
    return time.strftime(form, time.localtime(entry["valid_from"] / 1000))
