"""Lessons of sessions whose transcripts a hand-over names, queued as notes where a person wants them."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from memman.belief import AGENT
from memman.config.places import handovers_path, text_at
from memman.config.repository import repository
from memman.config.stores import valid_name
from memman.drain.worklog import Worklog, failure
from memman.lessons import lessons
from memman.model.objects import parsed
from memman.model.uid import kept_uid
from memman.queue.append import insert_all
from memman.queue.entry import entry
from memman.queue.notes import Queue
from memman.transcripts import events

# Lessons of a session, the first that it holds, and bytes of a transcript from which on it is read no more.
_MOST, _LARGEST = 3, 16_777_216
# Queue setting: when sessions were last looked at, in ns; and how much later a change may be dated that was before.
_LOOKED, _ROUNDED = "lessons", 2_000_000_000
_HEAD = ("agent", "session", "repository", "folder", "transcript", "store")


def learn(data: str, queue: Queue, log: Worklog) -> int:
    """Queue what sessions learned that went on since they were last looked at; return how many notes are new."""
    began, fresh = time.time_ns(), 0
    for path in _changed(data, int(queue.meta(_LOOKED) or 0) - _ROUNDED):
        try:
            rows = [*_rows(path)]
        except Exception as error:  # noqa: BLE001 - whatever a transcript holds, drains go on
            log.write("lessons failed", **failure(error))
        else:
            fresh += sum(new for _, new in insert_all(data, rows)) if rows else 0
    queue.set_meta(_LOOKED, str(began))
    if fresh:
        log.write("lessons learned", values=fresh)
    return fresh


def _changed(data: str, since: int) -> Iterator[str]:
    """Yield what sessions left that went on since."""
    with suppress(OSError), os.scandir(handovers_path(data)) as files:
        yield from [file.path for file in files if "." not in file.name and file.stat().st_mtime_ns > since]


def _rows(path: str) -> Iterator[dict[str, str | int | None]]:
    """Yield the first lessons of a session as rows of the queue; the same lesson has the same uid in a repository."""
    head = parsed(text_at(path).partition("\n")[0].encode()) or {}
    agent, session, whose, folder, transcript, store = (str(head.get(name, "")) for name in _HEAD)
    if not (whose and folder[:1] == "/" and valid_name(store) and _size(transcript) <= _LARGEST):
        return
    here = repository(folder)
    origin = {"source": AGENT, "agent": agent, "session": session, "cwd": folder, "repository": whose, "revision": ""}
    machine = {"host": os.uname().nodename, "user": os.environ.get("USER") or str(os.getuid())}
    plain = {"category": "insight", "importance": None, "entities": "", "replaces": ""}
    for lesson in islice(lessons(events(transcript, _LARGEST), here.root if here else folder), _MOST):
        row = entry({**origin, **machine, **plain, "store": store, "text": f"Seen in tool events: {lesson}"})
        yield row | {"uid": kept_uid(f"lesson\n{store}\n{whose}\n{lesson}")}


def _size(path: str) -> int:
    """Return how large a file is, more than any where there is none."""
    return os.path.getsize(path) if os.path.isfile(path) else _LARGEST + 1
