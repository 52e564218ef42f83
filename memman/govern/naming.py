"""The name that a person gives to a repository, and that an undo takes back: a file in its git folder."""

import shlex
from collections.abc import Sequence
from typing import Any

from memman.config.places import fsync_folder, make_file, put_file
from memman.config.repository import MARKER, folder, marker
from memman.config.scope import called
from memman.model.errors import CannotWrite
from memman.store.sqlite.rescoped import Move

# A repository's git folder, its name before and the one it was given, '' for none; JSON keeps it as a list.
Naming = Sequence[str]


def give(common: str, name: str) -> None:
    """Give a repository, by its git folder, a name; '' takes it away. Raises CannotWrite."""
    path = f"{common}/{MARKER}"
    try:
        make_file(path)
        put_file(path, name + "\n" if name else "")
        fsync_folder(common)
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written ({error.strerror})") from error


def back(naming: Naming) -> Naming:
    """Return what takes a naming back."""
    common, before, after = naming
    return common, after, before


def due(naming: Naming) -> bool:
    """Whether a naming is to be done: the repository is here, and has the name that it had before."""
    common, before, after = naming
    return before != after and marker(common) == before


def told(naming: Naming, moves: Sequence[Move]) -> list[dict[str, Any]]:
    """Say what becomes of a repository's name, or by which command it sees again what is moved away from that."""
    common, before, name = naming
    now = marker(common)
    if due(naming):
        became = f"is named {name!r} again" if name else "has no name again"
    elif now and any(repository != called(now) for *_, (repository, _) in moves):
        command = f"memman scope name {shlex.quote(name)}" if name and name != before else "memman scope name --unset"
        became = f"is still named {now!r}, and sees none of this until you run `{command}` there"
    else:
        return []
    return [{"folder": folder(common), "became": became}]
