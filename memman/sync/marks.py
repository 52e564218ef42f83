"""What was purged in a data folder, as values that hosts tell one another: ids and keyed digests, and not a word."""

from collections.abc import Iterable, Iterator
from typing import Any

from memman.config import buried
from memman.config.tombstones import WHOLE, Tombstones, bury, dig_up
from memman.store.sqlite.registers import DIGEST, KEY, PURGED, Place
from memman.sync.bundle import Said

KINDS = (PURGED, DIGEST, KEY)


def of(data: str) -> Iterator[tuple[Place, Any]]:
    """Yield the values of a data folder. Raises DamagedFile."""
    for note, memory in dict.fromkeys(Tombstones.rows(data)):
        yield (PURGED, f"{note} {memory}", ""), 1
    keys, digests = buried.kept(data)
    for kind, kept in ((KEY, keys), (DIGEST, digests)):
        for one in dict.fromkeys(kept):
            yield (kind, one, ""), 1


def put(data: str, values: Iterable[Said], now: int) -> None:
    """Have a data folder know what was purged elsewhere, and let go of what a person has brought back there."""
    told = {kind: {one.place[1]: one.value for one in values if one.place[0] == kind} for kind in KINDS}
    known = set(Tombstones.rows(data))
    gone = [tuple(one.split(" ", 1)) for one, value in told[PURGED].items() if value]
    if new := [(note, memory) for note, memory in gone if (note, memory) not in known]:
        bury(data, new, now)
    back = [one.split(" ", 1) for one, value in told[PURGED].items() if not value]
    if back:
        whole = {note for note, memory in back if memory == WHOLE}
        dig_up(data, {memory for _, memory in back if memory != WHOLE}, whole)
    digests = [one for one, value in told[DIGEST].items() if value]
    if told[KEY] or digests:
        buried.keep(data, told[KEY], digests)
    if dropped := {one for one, value in told[DIGEST].items() if not value}:
        buried.let_go(data, dropped)
