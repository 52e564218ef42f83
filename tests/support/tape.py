"""A tape of what memman writes and syncs, from which `tests.support.powercut` makes what a power cut leaves of it.

    python -m tests.support.tape ROOT TAPE <commands.json       # a list of command lines
    for event in read(tape): ...

It holds what SQLite does through a FaultVFS, and what Python does with folders and small files: an fsync is believed
only where it was seen. Folders that are renamed are not followed.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import IO, Any

from tests.support.vfs import FaultVFS

Event = tuple[Any, ...]


class Tape:
    """Writes down what happens below `root`, one JSON line an event; bytes as hexadecimal digits."""

    def __init__(self, root: str, file: IO[str]) -> None:
        self.root, self.file = root, file
        self.last, self.deaf = "", False

    def tell(self, event: str, path: str, *rest: object) -> None:
        """Hear of an event from the VFS, or from whoever knows more."""
        if path.startswith(self.root) and not path.endswith("-shm"):
            self.file.write(json.dumps([event, path, *rest], default=lambda data: bytes(data).hex()) + "\n")

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        """Hear of an event from Python."""
        if self.deaf or event not in {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"}:
            return
        path = os.fspath(args[0]) if not isinstance(args[0], int) else ""
        if isinstance(path, bytes) or not path.startswith(self.root):
            return
        if event == "open":
            self.last = path
            if isinstance(args[2], int) and args[2] & os.O_CREAT and not os.path.exists(path):
                self.tell("make", path)
        elif event == "os.mkdir":
            if not os.path.exists(path):
                self.tell("folder", path)
        elif os.path.exists(path):
            self.tell(*(("rename", path, os.fspath(args[1])) if event == "os.rename" else ("drop", path)))

    def profile(self, frame: FrameType, event: str, called: Any) -> None:  # noqa: ARG002 - Python's own signature
        """Hear of fsync, which no audit event tells of: it is of what was opened last."""
        if event != "c_return" or called is not os.fsync or not self.last:
            return
        if os.path.isdir(self.last):
            self.tell("settle", self.last)
            return
        self.deaf = True
        with open(self.last, "rb") as source:
            content = source.read()
        self.deaf = False
        self.tell("cut", self.last, 0)
        self.tell("write", self.last, 0, content)
        self.tell("sync", self.last)


class _Ear:
    """A standard output that puts what is printed on the tape, at that moment."""

    def __init__(self, tape: Tape, number: int) -> None:
        self.tape, self.number = tape, number

    def write(self, text: str) -> int:
        """Write."""
        self.tape.tell("said", self.tape.root, self.number, text)
        return len(text)

    def flush(self) -> None:
        """Flush."""


def record(commands: Sequence[Sequence[str]], root: str, tape: str) -> None:
    """Run memman's command lines one after the other, on tape. Only in a process that ends afterwards.

    `root` is the folder of the data folder. What a command prints is an event
    ("said", root, its number, text), and its end ("ended", root, its number, its exit code).
    """
    with open(tape, "w", encoding="utf-8") as file:
        on = Tape(root, file)
        FaultVFS(tell=on.tell)
        from memman import _entry

        sys.addaudithook(on.audit)
        for number, words in enumerate(commands):
            sys.argv = ["memman", *words]
            sys.stdout = _Ear(on, number)
            sys.setprofile(on.profile)
            code = _entry.main()
            sys.setprofile(None)
            on.tell("ended", root, number, code)
        on.deaf = True


def read(tape: str) -> Iterator[Event]:
    """Read a tape."""
    with open(tape, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event[0] == "write":
                event[3] = bytes.fromhex(event[3])
            yield tuple(event)


if __name__ == "__main__":
    record(json.load(sys.stdin), sys.argv[1], sys.argv[2])
