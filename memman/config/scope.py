"""Which repository or folder one works in, so that its clones and work trees are one. Safe on the hot path.

What is known of a folder is a line of `repositories` in the data folder: what tells it from others, its first commit,
the name that a person gave it, whether a session was told what it is joined with, and its identities, the newest first.
What was remembered under any of them is recalled there.
"""

import os

from memman.config.places import kept_still, make_folder, read_file, split_lines, text_at, write_file
from memman.config.repository import Repository, address, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PERSONAL, REPOSITORY = "personal", "repository"
# What a scope may be beside these two: a folder below a repository.
PATH = "path:"
# And, of what names another repository itself, that one's identity.
THERE = "in:"
# What a name is that a person gave.
_NAMED = "scope:"
_HASHES = (40, 64)
# Before the commit down to which history was read so far, before one of which none can be read, and before a first one
# that is the only one, and may be amended.
_UNKNOWN, _UNREAD, _ONLY = "-", "?", "="
# Where no session was told yet what a folder is joined with.
_NEWS = "new"
# Folders that are kept, of those that have no name and no more than one identity; seconds that others may write.
_MOST, _PATIENCE = 2_000, 0.2


class Here:
    """Where one stands: `repository` as `here` tells it, '' at home, and the folder below its root.

    `also` are other identities whose memories are recalled here, `news` those of them of which no session was told.
    """

    __slots__ = ("also", "known", "news", "path", "repository")

    def __init__(
        self, repository: str = "", path: str = "", also: "Iterable[str]" = (), news: "Iterable[str]" = ()
    ) -> None:
        self.repository, self.path, self.also, self.news = repository, path, tuple(also), tuple(news)
        self.known = frozenset(map(_plain, (repository, *self.also))) if repository else frozenset()

    @property
    def alone(self) -> bool:
        """Whether it is a folder without a repository."""
        return self.repository.endswith("/")


class Folder:
    """What is known of a folder, as its line tells."""

    __slots__ = ("identities", "name", "news", "place", "root")

    def __init__(self, place: str = "", root: str = "", name: str = "", news: str = "", *identities: str) -> None:
        self.place, self.root, self.name, self.news = place, root, name, news
        self.identities = [one for one in identities if one]

    @property
    def line(self) -> str:
        """The folder's line."""
        return "\t".join((self.place, self.root, self.name, self.news, *self.identities))

    @property
    def identity(self) -> str:
        """What it is known by: the name that a person gave it, or else what it is now."""
        return called(self.name) or self.identities[0]


def asked(said: str | None) -> str:
    """Return the scope that somebody asked for, '' for none. Raises UsageError."""
    if said is None or said in (PERSONAL, REPOSITORY):
        return said or ""
    path = os.path.normpath(said.removeprefix(PATH))
    if not said.startswith(PATH) or path[:1] in ("/", "\0") or path.startswith("..") or "\n" in path:
        from memman.model.errors import UsageError

        raise UsageError("--scope takes personal, repository, or path:FOLDER with a folder below the repository's root")
    return REPOSITORY if path == "." else PATH + path


def here(data: str, repository: Repository | None, cwd: str, *, keep: bool = False) -> Here:
    """Return where `cwd` is: in a repository, or else in a folder of its own, and what lies above that.

    A folder without a repository is kept only with `keep`. At home, and at /, what is said holds everywhere.
    """
    folders = around(data, repository, cwd, keep=keep)
    if not folders:
        return Here()
    path = os.path.relpath(cwd, repository.root) if cwd and repository else "."
    inside = "" if path == "." or path.startswith("..") else path
    identity = folders[0].identity
    also = [former for one in folders if not one.name for former in one.identities[1:]]
    news = [former for one in folders if one.news and not one.name for former in one.identities[1:]]
    return Here(identity, inside, (*also, *kin(data, identity)), news)


def around(data: str, repository: Repository | None, cwd: str, *, keep: bool = False) -> list[Folder]:
    """Return what is known of where `cwd` is, and of the folders above one without a repository; at home nothing."""
    if repository:
        return [known(data, repository, keep=keep)]
    folder = os.path.realpath(cwd) if cwd else "/"
    if folder in ("/", os.path.realpath(os.path.expanduser("~"))):
        return []
    found, text = [known(data, Repository(folder), alone=True, keep=keep)], text_at(data + "/repositories")
    for above in _above(folder + "/"):
        try:
            if _found("\n" + text, place(above[:-1])):
                found.append(known(data, Repository(above[:-1]), alone=True))
        except OSError:
            continue
    return found


def known(data: str, repository: Repository, *, alone: bool = False, keep: bool = False) -> Folder:
    """Return what is known of a repository's folder, or of one that is `alone`, and keep what has changed.

    It is its address, or else its folder, and behind a # its first commit. An address alone anybody can claim: while no
    first commit is known, a digest of the folder is in its place. Where that changes, or the folder is moved, it is
    joined with what it was, and so is the first repository of a folder with what was said there before; but not with
    an address that others have.
    """
    try:
        where = place(repository.common)
        text = "\n" + read_file(data + "/repositories")
    except Exception:  # noqa: BLE001 - what cannot be read is found out again
        where, text = "", ""
    found = _found(text, where)
    keeps = keep or not alone or bool(found)
    root = "" if alone else _root(repository, found.root if found else "", keep=keep)
    own = repository.folder + "/" if alone else repository.name
    own = own if own.isprintable() else "".join([char if char.isprintable() else " " for char in own])
    if found and found.root == root and [parted(one)[0] for one in found.identities[:1]] == [own]:
        return found
    first = root.removeprefix(_ONLY) if root[:1] not in (_UNKNOWN, _UNREAD) else ""
    if not (first or alone or own == repository.folder):
        from hashlib import blake2b

        first = blake2b(os.fsencode(repository.folder), digest_size=_HASHES[0] // 2).hexdigest()
    own += f"#{first}" if first else ""
    if keeps and (found is None or found.identities[:1] != [own]):
        from memman.secrets import screened

        own = screened(own)
    if found and found.root == root and found.identities[:1] == [own]:
        return found
    before = found.identities if found else [] if alone or not where else _before(text, repository)
    was = parted(before[0])[0] if found and before else ""
    if was[:1] not in ("", "/") and was != parted(own)[0] and _others(text, where, before[0]):
        before = before[1:]
    former = [one for one in dict.fromkeys(before) if _plain(one) != _plain(own)]
    news = _NEWS if former and before[0] != own else found.news if found else ""
    found = Folder(where, root, found.name if found else "", news, own, *former)
    if where and keeps and (keep or os.path.isdir(data)) and not kept_still():
        try:
            write(data, found)
        except Exception:  # noqa: BLE001 - it is found out again next time
            return found
    return found


def write(data: str, *folders: Folder) -> None:
    """Keep what is known of folders. Raises OSError, UnsafePlace and CannotWrite."""
    from memman.config.lockfile import acquired
    from memman.config.places import ensure_safe_folder

    path, new = data + "/repositories", {one.place: one.line for one in folders}
    ensure_safe_folder(data)
    make_folder(data)
    handle = os.open(data, os.O_RDONLY | os.O_CLOEXEC)
    try:
        acquired(handle, _PATIENCE)
        lines = [line for line in split_lines(read_file(path)) if line.partition("\t")[0] not in new]
        telling = [line for line in lines[:-_MOST] if (one := Folder(*line.split("\t"))).name or one.identities[1:]]
        write_file(path, "\n".join((*telling, *lines[-_MOST:], *new.values(), "")))
    finally:
        os.close(handle)


def part(data: str, folders: "Iterable[Folder]") -> list[str]:
    """Have folders, and whatever else is known by the same, hold nothing but their own; return what was joined.

    Raises OSError, UnsafePlace and CannotWrite.
    """
    every = [one for folder in folders for one in (folder, *_known_by(data, folder.identities[0]))]
    parted = dict.fromkeys(identity for one in every for identity in one.identities[1:])
    for one in every:
        one.identities, one.news = one.identities[:1], ""
    write(data, *every)
    return list(parted)


def told(data: str, repository: Repository | None, cwd: str) -> None:
    """Keep that a session was told what the folder is joined with. Raises OSError and CannotWrite."""
    folders = around(data, repository, cwd)
    for one in folders:
        one.news = ""
    if not kept_still():
        write(data, *folders)


def kept(data: str, common: str) -> Folder:
    """Return what is kept of the folder that work trees share. Raises OSError and CannotWrite."""
    where = place(common)
    return _found("\n" + read_file(data + "/repositories"), where) or Folder(where)


def kin(data: str, identity: str) -> tuple[str, ...]:
    """Return the identities whose memories are recalled where `identity` is: whatever one of its clones was, too."""
    known = [identity, *_above(identity)]
    also = (former for name in known for one in _known_by(data, name) if not one.name for former in one.identities[1:])
    return tuple(dict.fromkeys((*known, *also)))


def mentioned(data: str, stored: "Iterable[str]", text: str) -> list[str]:
    """Return the repositories whose name stands in a text, of those of sessions, as they are now, and of `stored`."""
    lines = (Folder(*line.split("\t")) for line in split_lines(text_at(data + "/repositories")))
    folders = [one for one in lines if one.name or one.identities]
    now = dict.fromkeys(one.identity for one in folders)
    former = {_plain(identity) for one in folders for identity in one.identities}
    others = (one for one in stored if _plain(one) not in former)
    said = text.casefold()
    named = [one for one in (*now, *others) if one[-1] != "/" and label(one, "").casefold() in said]
    return list({_plain(one): one for one in named}.values())


def calls(name: str, identity: str) -> bool:
    """Whether a name is a repository's, alone or behind its owner's; in another case only one that is no plain word."""
    address = "/" + parted(identity)[0].removeprefix(_NAMED)
    return address.endswith("/" + name) or (not name.isalpha() and address.lower().endswith("/" + name.lower()))


def called(name: str) -> str:
    """Return the identity of the repositories of a name that a person gave, '' for none."""
    return _NAMED + " ".join(name.split()) if name else ""


def is_name(identity: str) -> bool:
    """Whether an identity is a name that a person gave."""
    return identity.startswith(_NAMED)


def parted(identity: str) -> tuple[str, str]:
    """Return name and first commit of an `identity`, '' where that is not known."""
    name, _, root = identity.rpartition("#")
    known = name and len(root) in _HASHES and not root.strip("0123456789abcdef")
    return (name, root) if known else (identity, "")


def same(one: str, other: str) -> bool:
    """Whether two identities are of one repository: their address and their first commit are the same."""
    return one == other or _plain(one) == _plain(other)


def _plain(identity: str) -> str:
    """Write an identity so that those of one repository are equal, however its address is written."""
    if identity.startswith(_NAMED):
        return identity
    name, root = parted(identity)
    return f"{address(name)}#{root}"


def sees(here: Here, repository: str, path: str, *, inside: bool) -> bool:
    """Whether what belongs to a repository, or to a folder of it, is for one who is `here`.

    With `inside` what belongs to a folder is only for those who work in it.
    """
    if _plain(repository) not in here.known:
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


def missing(scope: str | None, repository: Repository | None) -> str:
    """Return the path of the folder that a scope asks for in a repository, where it is not there, otherwise ''."""
    folder = path_of(asked(scope))
    path = f"{repository.root}/{folder}" if folder and repository else ""
    return "" if not path or os.path.isdir(path) else path


def label(repository: str, path: str) -> str:
    """Write whose a memory is, for a person: the last part of an address or folder, and the folder below it."""
    name = parted(repository)[0].removeprefix(_NAMED).rstrip("/")
    return name.rpartition("/")[2] + (f"/{path}" if path else "")


def _known_by(data: str, identity: str) -> list[Folder]:
    """Return the folders that are known by an identity now, of those that were known by others."""
    text, joined = text_at(data + "/repositories"), f"\t{identity}\t"
    lines = [line for line in split_lines(text) if joined in line] if joined in text else []
    return [one for one in (Folder(*line.split("\t")) for line in lines) if one.identities[:1] == [identity]]


def _above(identity: str) -> list[str]:
    """Return the folders above one that has no repository: what is said in them holds below."""
    parts = identity.split("/")[1:-2] if identity.endswith("/") else []
    return ["/" + "/".join(parts[: n + 1]) + "/" for n in range(len(parts))]


def _found(text: str, where: str) -> Folder | None:
    """Return the folder of which a line of `text` tells."""
    at = text.find(f"\n{where}\t") if where else -1
    return None if at < 0 else Folder(*text[at + 1 :].partition("\n")[0].split("\t"))


def _others(text: str, where: str, identity: str) -> bool:
    """Whether another folder is known by an identity, or was."""
    lines = (line.split("\t") for line in split_lines(text))
    return any(place != where and identity in rest[3:] for place, *rest in lines)


def _before(text: str, repository: Repository) -> list[str]:
    """Return what a repository was of which there is no line yet: its folder, before there was a repository in it."""
    if repository.folder == repository.common:
        return []
    try:
        before = _found(text, place(repository.folder))
    except OSError:
        return []
    return before.identities if before else []


def _root(repository: Repository, before: str, *, keep: bool) -> str:
    """Return the repository's first commit, marked, given what that was before: '' for none here.

    History that could not be read is read again where something is to be kept.
    """
    if before and before[0] not in _ONLY + _UNREAD + _UNKNOWN:
        return before
    commit = "" if repository.shallow else repository.commit
    if not commit or before == _ONLY + commit or (before == _UNREAD + commit and not keep):
        return before if commit else ""
    from memman.config.history import first_commit

    root, done = first_commit(repository, before[1:] if before[:1] == _UNKNOWN else "")
    if done:
        return (_ONLY if root == commit else "") + root
    return _UNKNOWN + root if root else _UNREAD + commit
