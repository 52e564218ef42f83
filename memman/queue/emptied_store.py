"""A store that is an empty file, though notes were stored in it."""

import os
from contextlib import closing

from memman.config.places import queue_path, store_path
from memman.queue.schema import look
from memman.sqlite import TranslatedErrors, damaged

_STORED = "SELECT EXISTS (SELECT 1 FROM note WHERE store = ? AND state = 'done')"


def refuse_emptied(data: str, store: str) -> None:
    """Raise DamagedFile where a store's file is empty, but the queue has notes that are done with it."""
    path, queue = store_path(data, store), queue_path(data)
    if not os.path.isfile(path) or os.path.getsize(path):
        return
    with TranslatedErrors(queue), closing(look(queue)) as db:
        stored = db.execute(_STORED, (store,)).get
    if stored:
        raise damaged(path, "it is empty: 0 bytes")
