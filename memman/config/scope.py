"""Which repository one works in, so that its clones, work trees and moved folders are one. Safe on the hot path."""

import os

from memman.config.places import kept_still, read_file, write_file
from memman.config.repository import address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.config.repository import Repository

PERSONAL, REPOSITORY = "personal", "repository"
# What a scope may be beside these two: a folder below a repository.
PATH = "path:"
# What a name is that a person gave.
_NAMED = "scope:"
_HASHES = (40, 64)
# Where the first commit cannot be had.
_UNKNOWN = "-"
_PRIME = 2**61 - 1


class Here:
    """Where one stands: `repository` as `identity` tells it, '' outside of any, and the folder below its root."""

    __slots__ = ("path", "repository")

    def __init__(self, repository: str = "", path: str = "") -> None:
        self.repository, self.path = repository, path


def asked(said: str | None) -> str:
    """Return the scope that somebody asked for, '' for none. Raises UsageError."""
    if said is None or said in (PERSONAL, REPOSITORY):
        return said or ""
    path = os.path.normpath(said.removeprefix(PATH))
    if not said.startswith(PATH) or path[:1] in ("/", "\0") or path.startswith("..") or "\n" in path:
        from memman.model.errors import UsageError

        raise UsageError("--scope takes personal, repository, or path:FOLDER with a folder below the repository's root")
    return REPOSITORY if path == "." else PATH + path


def here(data: str, repository: "Repository | None", cwd: str) -> Here:
    """Return where `cwd` is."""
    if repository is None:
        return Here()
    path = os.path.relpath(cwd, repository.root) if cwd else "."
    return Here(identity(data, repository), "" if path == "." or path.startswith("..") else path)


def identity(data: str, repository: "Repository") -> str:
    """Tell a repository by its address, or else its folder, and behind a # by its first commit.

    A name that a person gave it stands for both.
    """
    return called(repository.marker) or unnamed(data, repository)


def called(name: str) -> str:
    """Return the identity of the repositories of a name that a person gave, '' for none."""
    return _NAMED + " ".join(name.split()) if name else ""


def is_name(identity: str) -> bool:
    """Whether an identity is a name that a person gave."""
    return identity.startswith(_NAMED)


def unnamed(data: str, repository: "Repository") -> str:
    """Return the identity that a repository has of itself, whatever name it was given."""
    root = _first_commit(data, repository)
    return f"{repository.name}#{root}" if root else repository.name


def parted(identity: str) -> tuple[str, str]:
    """Return name and first commit of an `identity`, '' where that is not known."""
    name, _, root = identity.rpartition("#")
    known = name and len(root) in _HASHES and not root.strip("0123456789abcdef")
    return (name, root) if known else (identity, "")


def same(one: str, other: str) -> bool:
    """Whether two identities are of one repository: by their first commit, or by their address.

    Two folders without an address that begin alike are two while both are there: a template, or a copy. So is another
    repository that has moved into a folder.
    """
    (name, root), (other_name, other_root) = parted(one), parted(other)
    folders = name.startswith("/") and other_name.startswith("/")
    if address(name) == address(other_name):
        return not (folders and root and other_root and root != other_root)
    return root != "" and root == other_root and not (folders and os.path.isdir(name) and os.path.isdir(other_name))


def sees(here: Here, repository: str, path: str, *, inside: bool) -> bool:
    """Whether what belongs to a repository, or to a folder of it, is for one who is `here`.

    With `inside` what belongs to a folder is only for those who work in it.
    """
    if not (here.repository and same(here.repository, repository)):
        return False
    return not (path and inside) or f"{here.path}/".startswith(f"{path}/")


def holds(here: Here, repository: str, scope: str, *, inside: bool) -> bool:
    """Whether a note of a repository and a scope that was asked for, '' for none, is for one who is `here`."""
    if scope == PERSONAL or not repository:
        return True
    return sees(here, repository, path_of(scope), inside=inside)


def path_of(scope: str) -> str:
    """Return the folder of a scope that was asked for, '' where that is a whole repository."""
    return scope.removeprefix(PATH) if scope.startswith(PATH) else ""


def missing(scope: str | None, repository: "Repository | None") -> str:
    """Return the path of the folder that a scope asks for in a repository, where it is not there, otherwise ''."""
    folder = path_of(asked(scope))
    path = f"{repository.root}/{folder}" if folder and repository else ""
    return "" if not path or os.path.isdir(path) else path


def label(repository: str, path: str) -> str:
    """Write whose a memory is, for a person: the last part of an address or folder, and the folder below it."""
    name = parted(repository)[0].removeprefix(_NAMED)
    return name.rpartition("/")[2] + (f"/{path}" if path else "")


def _first_commit(data: str, repository: "Repository") -> str:
    """Return the repository's first commit, '' where it cannot be had; git is asked once for each folder."""
    if repository.shallow or not repository.commit:
        return ""
    try:
        # Not by its name, which may hold a secret; whatever else lies at the same place later has another inode.
        inode = os.stat(repository.common).st_ino
        place = f"{inode}-{int.from_bytes(os.fsencode(repository.common), 'big') % _PRIME}"
        known = dict(line.split() for line in read_file(data + "/repositories").splitlines())
    except Exception:  # noqa: BLE001 - what cannot be read is asked for again
        place, known = "", {}
    root = known.get(place)
    if root is None:
        from memman.config.history import first_commit

        root = first_commit(repository) or _UNKNOWN
        if place and os.path.isdir(data) and not kept_still():
            known[place] = root
            try:
                write_file(data + "/repositories", "".join(f"{where} {said}\n" for where, said in known.items()))
            except Exception:  # noqa: BLE001 - git is asked again next time
                return root.strip(_UNKNOWN)
    return root.strip(_UNKNOWN)
