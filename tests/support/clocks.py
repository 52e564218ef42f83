"""A clock for other processes that a test may set while they run: libfaketime, by LD_PRELOAD."""

import os
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

DAY = 86_400
# What a clock has in the environment that a process heeds only as it starts; where the clock is, it looks up each time.
PRELOADED = ("LD_PRELOAD", "FAKETIME_NO_CACHE", "DONT_FAKE_MONOTONIC", "NO_FAKE_STAT")


def library() -> str:
    """Return the path of libfaketime as its package from PyPI brings it, '' where there is none for this machine."""
    try:
        found = files("libfaketime") or ()
    except PackageNotFoundError:
        return ""
    return next((str(path.locate()) for path in found if path.name == "libfaketime.so.1"), "")


class Clock:
    """What processes started with `environ` take for the time of day; monotonic clocks and files' times stay true."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "clock"
        self.environ = {
            "LD_PRELOAD": library(),
            "FAKETIME_TIMESTAMP_FILE": str(self.path),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }
        self.jump(0)

    def jump(self, seconds: int) -> None:
        """Set the clock so many seconds ahead of the true one, or behind, for those that run too."""
        fresh = self.path.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        os.replace(fresh, self.path)
