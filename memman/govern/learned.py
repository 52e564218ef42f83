"""What was learned since a moment, by day and scope."""

from itertools import groupby
from typing import Any

from memman.govern.held import veiled
from memman.govern.stores import Chosen, answering, reading
from memman.store.sqlite import recent


@answering
def learned(place: Chosen, since: int, limit: int) -> list[dict[str, Any]]:
    """Return day, scope ('' for everywhere), count and memories of each group, the newest day first.

    Forgotten ones do not count; of all groups together the first `limit` memories are told.
    """
    with reading(place) as catalogue:
        days = recent.came(catalogue.reader.db, since)
        records = [veiled(place, catalogue.reader, record["uid"], record) for record in catalogue.memories([*days])]
    records.sort(key=lambda record: record["scope"])
    records.sort(key=lambda record: days[record["id"]], reverse=True)
    groups, left = [], limit
    for (day, scope), these in groupby(records, key=lambda record: (days[record["id"]], record["scope"])):
        memories = [*these]
        groups.append({"day": day, "scope": scope, "count": len(memories), "memories": memories[:left]})
        left -= len(groups[-1]["memories"])
    return groups
