"""The files that a service manager reads: where they are shipped, and how they are laid down."""

import os

import memman
from memman.config.places import open_file, write_file
from memman.model.errors import BadConfig, CannotWrite

# They hold no secret, and systemd complains of units that not everybody can read.
_MODE = 0o644


def shipped(name: str) -> bytes:
    """Return a shipped file: packed in the wheel, or beside the package in a checkout."""
    package = os.path.dirname(os.path.abspath(memman.__file__))
    for place in (f"{package}/share/{name}", f"{os.path.dirname(package)}/{name}"):
        if os.path.isfile(place):
            with open(place, "rb") as source:
                return source.read()
    raise BadConfig(f"this installation lacks {name}: reinstall memman")


def lay(folder: str, texts: dict[str, str]) -> list[str]:
    """Write those of `texts` that are not there as they should be; return their names. Raises CannotWrite."""
    changed = [name for name, text in texts.items() if held(f"{folder}/{name}") != text]
    if masked := [name for name in changed if os.path.realpath(f"{folder}/{name}") == os.devnull]:
        raise CannotWrite(f"{folder}/{masked[0]} is masked: run systemctl --user unmask {masked[0]}")
    for name in changed:
        write_file(f"{folder}/{name}", texts[name], _MODE)
    return changed


def held(path: str) -> str | None:
    """Return what a file holds, None where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="", opener=open_file) as source:
            return source.read()
    except OSError:
        return None


def take(path: str) -> bool:
    """Remove a file; whether there was one."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
