"""The name that a person gives to a repository, and that an undo takes back."""

import os
import shlex
from collections.abc import Sequence
from typing import Any

from memman.config.scope import called, kept, write
from memman.model.errors import CannotWrite

# A repository's git folder, its name before and the one it was given, '' for none; JSON keeps it as a list.
Naming = Sequence[str]


def give(data: str, common: str, name: str) -> None:
    """Give a repository, by its git folder, a name; '' takes it away. Raises CannotWrite."""
    try:
        folder = kept(data, common)
        folder.name = name
        write(data, folder)
    except OSError as error:
        raise CannotWrite(f"the name of {common} cannot be kept in {data} ({error.strerror})") from error


def name_of(data: str, common: str) -> str:
    """Return the name that a person gave to a repository, by its git folder, '' for none."""
    try:
        return kept(data, common).name
    except OSError:  # it is gone
        return ""


def back(naming: Naming) -> Naming:
    """Return what takes a naming back."""
    common, before, after = naming
    return common, after, before


def due(data: str, naming: Naming) -> bool:
    """Whether a naming is to be done: the repository is here, and has the name that it had before."""
    common, before, after = naming
    return before != after and os.path.isdir(common) and name_of(data, common) == before


def told(data: str, naming: Naming, repositories: Sequence[str]) -> list[dict[str, Any]]:
    """Say what becomes of a repository's name, or by which command it sees again what is moved away from that."""
    common, before, name = naming
    now = name_of(data, common)
    if due(data, naming):
        became = f"is named {name!r} again" if name else "has no name again"
    elif now and any(repository != called(now) for repository in repositories):
        command = f"memman scope name {shlex.quote(name)}" if name and name != before else "memman scope name --unset"
        became = f"is still named {now!r}, and sees none of this until you run `{command}` there"
    else:
        return []
    return [{"folder": common.removesuffix("/.git"), "became": became}]
