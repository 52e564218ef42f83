"""`memman log --since last`: what changed since you were last here, a few lines or a page by how long that is ago."""

import time
from math import log
from typing import Any

from memman.clock import now_ms
from memman.commands import inbox
from memman.commands.log import changed
from memman.commands.place import Place, reading
from memman.commands.printing import labelled, short, text
from memman.config.scope import PERSONAL
from memman.model.text import duration
from memman.model.vocabulary import WISHES
from memman.store.sqlite.sessions import sitting

# Lines after an hour and after a month; between them, by the logarithm of the hours.
_FEWEST, _MOST, _MONTH_HOURS = 3, 40, 720
_HOUR_MS = 3_600_000


def told(place: Place) -> dict[str, Any]:
    """Return since when something is told, how long ago the last sitting ended, and what changed, most telling first.

    What replaced something says what; that is not told by itself. `left` is how much more there is.
    """
    now = now_ms()
    with reading(place) as catalogue:
        last = sitting(catalogue.reader.db, place.session)
        if not last:
            return {"since": None, "away_ms": None, "changes": [], "left": 0, "waiting": inbox.count(catalogue)}
        changes = changed(place, catalogue, last[0])
        before = catalogue.reader.before([one["id"] for one in changes])
        changes = [one | {"replaced": before.get(one["id"])} for one in changes]
        new = {one["id"] for one in changes}
        changes = [one for one in changes if one["superseded_by"] not in new]
        room = lines(now - last[1]) - 1
        room -= len(changes) > room
        first = sorted(changes, key=_telling)[:room]
        return {
            "since": last[0],
            "away_ms": now - last[1],
            "changes": first,
            "left": len(changes) - len(first),
            "waiting": inbox.count(catalogue),
        }


def lines(away_ms: int) -> int:
    """Say how many lines an absence is worth."""
    hours = min(max(away_ms / _HOUR_MS, 1), _MONTH_HOURS)
    return _FEWEST + round((_MOST - _FEWEST) * log(hours) / log(_MONTH_HOURS))


def _telling(change: dict[str, Any]) -> tuple[bool, int, bool, int, int]:
    """Order what replaced something first, what came before what went, wishes before facts, the newest of them."""
    return (
        not change["replaced"],
        "+-~".index(change["sign"]),
        change["category"] not in WISHES,
        -change["importance"],
        -change["recorded_at"],
    )


def show(found: dict[str, Any]) -> None:
    """Print it."""
    if found["since"] is None:
        text("nobody was here yet")
        return
    since = time.strftime("%Y-%m-%dT%H:%M", time.localtime(found["since"] / 1000))
    waits = sum(found["waiting"].values())
    review = f"; {waits} wait{'s' * (waits == 1)} for you: memman review list" if waits else ""
    count = len(found["changes"]) + found["left"]
    text(f"away for {duration(found['away_ms'] / 1000)}; {count or 'nothing'} changed since {since}{review}")
    for one in found["changes"]:
        before = f' (before: "{one["replaced"]}")' if one["replaced"] else ""
        how = f"  ({', '.join(dict.fromkeys(one['verbs']))})" if one["sign"] != "+" else ""
        text(
            f"{one['sign']} {short(one['uid'])}  {labelled(one, one['scope'] or PERSONAL)}  {one['text']}{before}{how}"
        )
    if found["left"]:
        text(f"and {found['left']} more: memman log diff --since {since}")
