"""Repairs in forks of one process, each ended, or answered with an error, at the n-th step that it takes on disk.

A line [data, queue?, "kill" or "error", n] is answered by [exit code, steps taken]; n = 0 strikes nowhere.
"""

import errno
import json
import os
import signal
import sys
import time
from importlib import import_module

from tests.support.vfs import IO, Fault, FaultVFS

CHANGES = {name: IO[name] for name in ("write", "sync", "truncate", "delete")}
EVENTS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate"}


class Patient(FaultVFS):
    """Waits for locks as SQLite's own does."""

    def xSleep(self, microseconds):  # noqa: N802
        """Sleep."""
        time.sleep(microseconds / 1e6)
        return microseconds


class Strike(Fault):
    """Counts what SQLite and Python do to the disk alike."""

    kind = "kill"

    def meet(self, operation, before=lambda: None):
        """Meet an operation of SQLite's; one that writes is cut short halfway."""
        if self.kind == "kill" and operation in CHANGES and self.seen + 1 == self.at:
            before()
            os.kill(os.getpid(), signal.SIGKILL)
        super().meet(operation, before)

    def hear(self, event, args):
        """Meet what Python is about to do."""
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        if event not in EVENTS and not writes:
            return
        self.seen += 1
        if self.seen == self.at:
            if self.kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(errno.EIO, os.strerror(errno.EIO))


def main():
    """Serve until there are no more lines."""
    vfs = Patient()
    for name in ("_entry", "recovery.recover", "embed.builtin", "embed.cache", "store.sqlite.store", "config.env"):
        import_module(f"memman.{name}")
    for line in sys.stdin:
        told, tell = os.pipe()
        child = os.fork()
        if not child:
            run(vfs, tell, *json.loads(line))
        os.close(tell)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with open(told) as steps:
            sys.stdout.write(json.dumps([code, int(steps.read() or 0)]) + "\n")
        sys.stdout.flush()


def mended(data, queue):
    """Repair as the verb does once a person has agreed; return its exit code."""
    from memman import _entry
    from memman.recovery.recover import recover, recover_queue

    try:
        recover_queue(data) if queue else recover(data, "default")
    except OSError:
        return _entry._CANNOT_WRITE
    except Exception as error:  # noqa: BLE001 - as the entry point does
        return _entry._report(error)
    return 0


def run(vfs, tell, data, queue, kind, at):
    """Repair in this fork, and end it."""
    signal.alarm(120)
    os.environ["MEMMAN_DATA_DIR"] = data
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    vfs.fault = strike = Strike(CHANGES if kind == "kill" else IO, at)
    strike.kind = kind
    sys.addaudithook(strike.hear)
    code = mended(data, queue)
    os.write(tell, str(strike.seen).encode())
    os._exit(code)


if __name__ == "__main__":
    main()
