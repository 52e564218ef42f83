"""Whether a drain would find nothing to do, told without loading what drains."""

import os
from collections.abc import Collection
from contextlib import closing

from memman.clock import now_ms
from memman.config import stores, synced
from memman.config.places import shown_path, store_path
from memman.config.schedule import silence
from memman.model.objects import parsed
from memman.queue import arrivals
from memman.queue.view import QueueView
from memman.store.reach import stale
from memman.store.sqlite import screened

# Seconds that may pass without a drain that tidies up, and bytes recall may leave to be counted meanwhile.
TIDY = 3600
SHOWN = 16_384
# Queue setting: a drain has left some of an upgrade's work to the next.
UPGRADING = "upgrading"
# Queue setting: the stores that the last drain could not screen, or make vectors for. The hourly drain tries again.
PASSED_OVER = "passed over"
# Queue setting: the stores out of whose files, and the queue's, something must go that was purged.
SCRUBBING = "scrubbing"


def idle(data: str) -> bool:
    """Silence the bell; whether no note waits, nothing is left to do, and a drain has tidied up not long ago."""
    silence(data)
    with closing(QueueView(data)) as queue:
        if (
            queue.due()
            or arrivals.waiting(data)
            or queue.meta(UPGRADING)
            or queue.meta(SCRUBBING)
            or any(stale(store_path(data, name)) for name in stores.names(data))
            or synced.came(data)
            or lagging(data, queue.meta(PASSED_OVER).split())
        ):
            return False
        return _tidy(queue.meta("last_drain")) and _size(shown_path(data)) < SHOWN


def lagging(data: str, but: Collection[str] = ()) -> list[str]:
    """Return the stores with a memory that today's rules for secrets have not screened, or with outdated vectors."""
    return [name for name in stores.names(data) if name not in but and screened.due(store_path(data, name))]


def _tidy(last_drain: str) -> bool:
    at = (parsed(last_drain) or {}).get("at")
    return isinstance(at, int) and 0 <= now_ms() - at < TIDY * 1000


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
