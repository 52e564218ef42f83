"""How agents, and the hints in messages, call memman. Safe on the hot path."""

import os
import sys

NAME = "memman"


def launcher_path(data: str) -> str:
    """Return the launcher's path."""
    return data + "/bin/memman"


def command(data: str) -> str:
    """Return how agents call memman, as words for a shell: by its name where ours is what a shell like this one finds.

    Otherwise by the launcher, which is a dozen tokens longer each time.
    """
    path, first = launcher_path(data), os.path.realpath(found(os.environ.get("PATH", "")))
    ours = [path, sys.argv[0]] if data == os.path.abspath(os.path.expanduser("~/.memman")) else [path]
    return quoted(path) if os.path.exists(path) and first not in map(os.path.realpath, ours) else NAME


def quoted(path: str) -> str:
    """Write a path for a shell."""
    plain = path.replace("/", "").replace(".", "").replace("-", "").replace("_", "")
    return path if plain.isascii() and plain.isalnum() else "'" + path.replace("'", "'\\''") + "'"


def found(path: str, name: str = NAME) -> str:
    """Return the program that a shell with this PATH finds, '' for none."""
    places = (f"{folder}/{name}" for folder in path.split(":") if folder[:1] == "/")
    return next((place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)), "")


def runnable(hint: str) -> str:
    """Have the commands in a message name memman by its path where the shell that it is read in does not find it."""
    program = sys.argv[0]
    if f"`{NAME} " not in hint or os.path.basename(program) != NAME or found(os.environ.get("PATH", "")):
        return hint
    return hint.replace(f"`{NAME} ", f"`{quoted(os.path.abspath(program))} ")
