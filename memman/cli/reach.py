"""How old what is read of a shared store is, where its server cannot be asked: one line, and a field of each record."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memman.cli.show import complain
from memman.clock import now_ms
from memman.config.places import reach_path
from memman.sqlite import there
from memman.store.reach import told

if TYPE_CHECKING:
    from memman.govern.stores import Chosen


def aged(place: "Chosen", records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of a store as they are, or where it matters with how old they are, which is said too."""
    said = told(place.path, now_ms()) if there(reach_path(place.path)) else ""
    if not said:
        return list(records)
    complain(said)
    return [{**record, "replica": said} for record in records]
