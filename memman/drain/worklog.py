"""The worker's log: one JSON line for what a drain did, no text of any note or memory below level debug.

Only the holder of the drain lock writes. A log that cannot be written is
given up silently: memory matters more.
"""

import json
import os
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from memman.clock import now_ms
from memman.config.places import FILE_MODE, LOG_FILES, log_path, make_folder, open_file, text_at
from memman.model.errors import (
    BadConfig,
    Busy,
    CannotWrite,
    DamagedFile,
    MemmanError,
    NewerSchema,
    OldLibrary,
    ProviderError,
    SchedulerStopped,
)
from memman.model.objects import parsed
from memman.model.text import clean
from memman.model.vocabulary import WITHHELD
from memman.secrets.matcher import redact

if TYPE_CHECKING:
    from memman.drain.report import Report
    from memman.pipeline.plan import Plan

# Each file's size, and how many there are: about two months of steady use.
LARGEST = 5 * 2**20
LEVELS = ("debug", "info")
# Characters of a fact at level debug.
_SHOWN = 80
# Errors whose message is made of names, paths and codes; any other may quote a note.
_PLAIN = (ProviderError, CannotWrite, Busy, BadConfig, DamagedFile, NewerSchema, OldLibrary)

Line = dict[str, Any]


class Worklog:
    """The log, opened for one drain; a context manager that also logs what breaks the drain off."""

    def __init__(self, data: str, largest: int = LARGEST) -> None:
        self.data, self.largest = data, largest
        self.level = "info"
        self._size = 0
        self._file: BinaryIO | None = None
        with suppress(OSError, MemmanError):
            self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, SchedulerStopped):
            self.write("drain failed", **failure(error))
        self._close()

    def write(self, event: str, level: str = "info", **fields: object) -> None:
        """Add a line, if there is a log and its level asks for it."""
        if self._file is None or LEVELS.index(level) < LEVELS.index(self.level):
            return
        record = {"at": now_ms(), "level": level, "event": event} | fields
        line = json.dumps(record, ensure_ascii=False).encode(errors="replace") + b"\n"
        try:
            if self._size + len(line) > self.largest:
                self._rotate()
            written = self._file.write(line)
            self._size += written
            if written < len(line):  # the disk is full: the next drain begins a line of its own
                self._close()
        except (OSError, MemmanError):
            self._close()

    def stage(self, stage: str, plan: "Plan") -> None:
        """Add at level debug what a note has come to by a stage, without secrets and what is held back."""
        if self.level == "debug":
            facts = [WITHHELD if fact.held else redact(clean(fact.text, _SHOWN)) for fact in plan.facts]
            verdicts = [f"{one.action} {one.memory}" for one in plan.verdicts]
            told = {"facts": facts, "verdicts": verdicts, "edges": len(plan.edges)}
            self.write("stage", "debug", note=plan.note.uid, stage=stage, **told)

    def started(self, waiting: int) -> None:
        """Log that a drain begins."""
        self.write("drain started", "info" if waiting else "debug", waiting=waiting)

    def ended(self, report: "Report", seconds: float) -> None:
        """Log what a drain did; that it found nothing to do is worth a line at level debug only."""
        counts = {name: value for name, value in asdict(report).items() if name != "errors"}
        self.write("drain ended", "info" if any(counts.values()) else "debug", seconds=seconds, **counts)

    def _open(self) -> None:
        make_folder(f"{self.data}/logs")
        handle = open_file(log_path(self.data), os.O_CREAT | os.O_APPEND | os.O_RDWR)
        self._file = os.fdopen(handle, "ab", buffering=0)
        os.fchmod(handle, FILE_MODE)
        self._size = os.fstat(handle).st_size
        if self._size and os.pread(handle, 1, self._size - 1) != b"\n":  # a line torn by a crash or a full disk
            self._size += self._file.write(b"\n")

    def _rotate(self) -> None:
        self._close()
        for number in range(LOG_FILES - 1, 0, -1):
            with suppress(FileNotFoundError):
                os.replace(log_path(self.data, number - 1), log_path(self.data, number))
        self._open()

    def _close(self) -> None:
        log, self._file = self._file, None
        if log is not None:
            with suppress(OSError):
                log.close()


def failure(error: Exception) -> Line:
    """Return what may be said of an error: its class and code, and its message where that quotes no note."""
    said = {"message": redact(str(error))} if isinstance(error, _PLAIN) else {}
    return {"error": type(error).__name__, "code": getattr(error, "exit_code", None)} | said


def lines(data: str, limit: int, since: int | None = None) -> list[Line]:
    """Return the newest `limit` lines, oldest first; `since` is Unix milliseconds. Torn lines are passed over."""
    found: list[Line] = []
    for number in range(LOG_FILES):
        if len(found) >= limit:
            break
        read = map(_line, text_at(log_path(data, number)).split("\n"))
        found = [line for line in read if line and (since is None or line["at"] >= since)] + found
    return found[-limit:]


def _line(text: str) -> Line | None:
    line = parsed(text) or {}
    sound = isinstance(line.get("at"), int) and isinstance(line.get("event"), str)
    return line if sound else None
