"""A VFS that counts what SQLite does to its files, fails the operation a test chose, and tells what was written.

    with FaultVFS(Fault(IO, at=12)):      # whatever this process opens from here on
        ...

It stands on the default VFS and becomes the default itself, so the code under test needs no hook. Where that code
loads a shim such as cksumvfs, make this one first: the shim then stands on it, and what is told is what the disk gets.
The shared memory beside a log (`-shm`) is mapped, not read and written, and is out of its reach.
"""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import apsw

SECTOR = 512
# What may fail, and as what: a file system that answers each call with an error of its kind, ...
IO: Mapping[str, int] = {
    "open": apsw.SQLITE_CANTOPEN,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "size": apsw.SQLITE_IOERR_FSTAT,
    "access": apsw.SQLITE_IOERR_ACCESS,
    "lock": apsw.SQLITE_IOERR_LOCK,
}
# ... one that has no room left, and one on which somebody else holds the lock.
FULL: Mapping[str, int] = {"write": apsw.SQLITE_FULL}
BUSY: Mapping[str, int] = {"lock": apsw.SQLITE_BUSY}
ERRORS: Mapping[str, Mapping[str, int]] = {"io": IO, "full": FULL, "busy": BUSY}
# What a process may be killed at: what SQLite does to a disk, and what Python does, by the names of its audit events.
CHANGES = frozenset(("write", "sync", "truncate", "delete", "os.rename", "os.remove", "os.mkdir", "os.truncate"))


@dataclass(slots=True)
class Fault:
    """Fails the `at`-th of the operations that `codes` names, and if it is `lasting` all after it; 0 fails none."""

    codes: Mapping[str, int] = field(default_factory=lambda: IO)
    at: int = 0
    lasting: bool = False
    seen: int = 0
    struck: int = 0

    def meet(self, operation: str, before: Callable[[], None] = lambda: None) -> None:
        """Count an operation, or do `before` and raise the error it fails with."""
        if operation not in self.codes:
            return
        self.seen += 1
        if self.at and (self.seen == self.at or (self.lasting and self.seen > self.at)):
            self.struck += 1
            before()
            raise apsw.exception_for(self.codes[operation])


class Kill(Fault):
    """Ends the process at the `at`-th of CHANGES; a write is cut short halfway."""

    def meet(self, operation: str, before: Callable[[], None] = lambda: None) -> None:
        """Count an operation, or end here."""
        if operation in CHANGES:
            self.seen += 1
            if self.seen == self.at:
                before()
                os.kill(os.getpid(), signal.SIGKILL)


# Hears of each operation that changes what is on disk: its name, the path, then what it was done with.
Tell = Callable[..., None]


class FaultVFS(apsw.VFS):
    """The default VFS from its making until `close`; a context manager.

    Nobody waits in it, unless it is `patient`: what is busy stays so.
    """

    def __init__(self, fault: Fault | None = None, tell: Tell = lambda *_: None, name: str = "memman-faults") -> None:
        self.fault, self.tell, self.name, self.patient = fault or Fault(), tell, name, False
        self.base, self._complain = apsw.vfs_names()[0], sys.unraisablehook
        sys.unraisablehook = self._hear
        super().__init__(name, self.base, makedefault=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let the VFS below be the default again; every connection must be closed. Raises ValueError under a shim."""
        if apsw.vfs_names()[0] != self.name:
            raise ValueError("another VFS stands on this one, for as long as the process lasts")
        self.unregister()
        sys.unraisablehook = self._complain

    def _hear(self, heard: "sys.UnraisableHookArgs") -> None:
        """Let those errors pass that SQLite lets pass."""
        if not isinstance(heard.exc_value, apsw.Error):
            self._complain(heard)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "FaultFile":  # noqa: N802
        """Open a file."""
        self.fault.meet("open")
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        fresh = bool(flags[0] & apsw.SQLITE_OPEN_CREATE) and bool(path) and not os.path.exists(path)
        file = FaultFile(self, name, flags, path)
        if fresh:
            self.tell("make", path)
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Delete a file."""
        self.fault.meet("delete")
        super().xDelete(filename, syncdir)
        self.tell("drop", filename)
        if syncdir:
            self.tell("settle", filename.rpartition("/")[0])

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802
        """Look whether a file is there."""
        self.fault.meet("access")
        return super().xAccess(pathname, flags)

    def xSleep(self, microseconds: int) -> int:  # noqa: N802
        """Say that the time has passed, or let it pass."""
        return super().xSleep(microseconds) if self.patient else microseconds


class FaultFile(apsw.VFSFile):
    """A file of a FaultVFS."""

    def __init__(self, vfs: FaultVFS, name: str | apsw.URIFilename | None, flags: list[int], path: str) -> None:
        self.fault, self.tell, self.path = vfs.fault, vfs.tell, path
        # SQLite's own VFS syncs the folder with the first sync of a log or journal that it opened to create it.
        beside = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
        self.unsettled = bool(flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & beside)
        super().__init__(vfs.base, name, flags)
        self.read_only = bool(flags[1] & apsw.SQLITE_OPEN_READONLY)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        """Read."""
        self.fault.meet("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        """Write; where that fails, half of the sectors are written all the same."""
        half = len(data) // SECTOR // 2 * SECTOR
        self.fault.meet("write", lambda: self._write(bytes(data[:half]), offset))
        self._write(data, offset)

    def _write(self, data: Any, offset: int) -> None:
        super().xWrite(data, offset)
        self.tell("write", self.path, offset, data)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Sync."""
        self.fault.meet("sync")
        super().xSync(flags)
        self.tell("sync", self.path)
        if self.unsettled:
            self.unsettled = False
            self.tell("settle", self.path.rpartition("/")[0])

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        """Truncate."""
        self.fault.meet("truncate")
        super().xTruncate(newsize)
        self.tell("cut", self.path, newsize)

    def xFileSize(self) -> int:  # noqa: N802
        """Return the size."""
        self.fault.meet("size")
        return super().xFileSize()

    def xLock(self, level: int) -> None:  # noqa: N802
        """Take a lock."""
        self.fault.meet("lock")
        try:
            super().xLock(level)
        except apsw.IOError:
            # What is open to be read cannot be locked for oneself, which whoever closes a log tries. SQLite minds that
            # as little as a lock that is held; apsw would raise it, but for the latter.
            if not self.read_only:
                raise
            raise apsw.BusyError from None
