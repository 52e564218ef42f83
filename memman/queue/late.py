"""What hooks did not get done, mostly for lack of time: the file `late`, one line each, kept short by drains. Hot."""

import os
import time

from memman.config.places import open_file, text_at

# What a line may say was missing when a hook ended, and what a person is told of it.
MISSING = {
    "answer": "answers not given",
    "late": "turns kept late",
    "queued": "turns left to a drain",
    "prompt": "prompts lost",
    "turn": "turns lost",
    "large": "payloads above 4 MB not read",
}
_LONGEST, _KEPT = 65_536, 32_768


def late_path(data: str) -> str:
    """Return the path of the record of what came too late."""
    return data + "/late"


def record(data: str, event: str, missing: str) -> None:
    """Add a line. May fail silently."""
    try:
        file = open_file(late_path(data), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{int(time.time())} {missing} {event}\n".encode())
        os.close(file)
    except OSError:
        return


def counts(data: str, seconds: float) -> "dict[str, int]":
    """Return how often each was missing in the last seconds; a line that is torn counts as none."""
    found, since = dict.fromkeys(MISSING, 0), time.time() - seconds
    for line in text_at(late_path(data)).split("\n"):
        at, missing, *_ = (*line.split(), "", "")
        if missing in found and at.isdecimal() and int(at) >= since:
            found[missing] += 1
    return found


def shorten(data: str) -> None:
    """Keep the newest lines of a long record. May fail silently, and lose a line that is added meanwhile."""
    try:
        with open(late_path(data), "r+b", opener=lambda path, _: open_file(path, os.O_RDWR)) as file:
            if file.seek(0, os.SEEK_END) <= _LONGEST:
                return
            file.seek(-_KEPT, os.SEEK_END)
            newest = file.read().partition(b"\n")[2]
            file.seek(0)
            file.write(newest)
            file.truncate()
    except OSError:
        return
