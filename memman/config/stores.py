"""Which store a command means, and which names a store may have. Safe on the hot path."""

import os

from memman.config.places import read_file, split_lines, store_path, write_file
from memman.config.repository import repository
from memman.secrets import LONG, screened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.config.repository import Repository
    from memman.model.errors import UnknownStore

DEFAULT = "default"
MAX_NAME = 64
# Stores that an error names.
_TOLD = 12
_ALLOWED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def valid_name(name: str) -> bool:
    """Whether `name` may name a store: a letter or digit, then letters, digits, `_` or `-`, 64 at most."""
    return 0 < len(name) <= MAX_NAME and name[0] not in "_-" and _ALLOWED.issuperset(name)


def checked(name: str, what: str = "store name") -> str:
    """Return `name`, or raise UsageError saying what a name may be."""
    if not valid_name(name):
        from memman.model.errors import UsageError

        shown = ascii(name[:40])
        raise UsageError(f"{what} {shown} is not allowed: use 1 to 64 letters, digits, '-' or '_'")
    return name


def harmless(name: str, what: str = "store name") -> str:
    """Return a name that may be and holds no token, for it is written in many places; or raise UsageError."""
    return _harmless(checked(name, what), what)


def _harmless(text: str, what: str) -> str:
    """Return `text`, or raise UsageError where it holds a token."""
    # A short name, or one without a digit, holds no token: what loads the rules costs too much for `auth-service`.
    if len(text) >= LONG and any(map(str.isdigit, text)) and (shown := screened(text)) != text:
        from memman.model.errors import UsageError

        raise UsageError(f"{what} {shown} contains a secret: use another name")
    return text


def bindings(data: str) -> dict[str, str]:
    """Return the stores bound to repositories, by the repository's shared git folder."""
    pairs = (line.partition("\t") for line in split_lines(read_file(data + "/bindings")))
    return {place: store for store, _, place in pairs if place}


def bind(data: str, place: str, store: str | None) -> None:
    """Bind the repository whose shared git folder is `place` to `store`; None unbinds it."""
    table = bindings(data)
    table.pop(place, None)
    if store is not None:
        table[_harmless(place, "the folder's name")] = harmless(store)
    write_file(data + "/bindings", "".join(f"{name}\t{where}\n" for where, name in sorted(table.items())))


def active(data: str) -> str:
    """Return the store chosen with `store use`, or the default one."""
    return read_file(data + "/active").strip() or DEFAULT


def resolve(data: str, explicit: str | None, here: "Repository | None") -> str:
    """Name the store a command means: --store, MEMMAN_STORE, the repository's binding, active, default."""
    if explicit is not None:
        return harmless(explicit)
    name = os.environ.get("MEMMAN_STORE") or ""
    if not name and here is not None:
        name = bindings(data).get(here.common, "")
    return harmless(name or active(data))


def here() -> "Repository | None":
    """Return the repository around the working folder."""
    return repository(folder) if (folder := cwd()) else None


def cwd() -> str:
    """Return the working folder, '' where it is gone."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def names(data: str) -> list[str]:
    """Return the stores that have a database, by name."""
    try:
        found = os.listdir(data + "/data")
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in found if valid_name(name) and exists(data, name))


def exists(data: str, store: str) -> bool:
    """Whether the store has a database."""
    return os.path.exists(store_path(data, store))


def known(data: str, name: str) -> str:
    """Return the name of a store that there is. Raises UnknownStore, which says which there are, and UsageError."""
    if not exists(data, checked(name)):
        raise unknown(data, name)
    return name


def unknown(data: str, name: str) -> "UnknownStore":
    """Return an error that says which stores there are, and how to make this one."""
    from memman.model.errors import UnknownStore
    from memman.model.spelling import similar

    others = sorted({DEFAULT, *names(data)})
    told = ", ".join(others[:_TOLD]) + (", …" if len(others) > _TOLD else "")
    known = f"the stores are {told};" if others[1:] else f"there is only {told!r};"
    nearest = similar(name, [other for other in others if other != name])
    hint = f"did you mean {nearest!r}?" if nearest else known
    return UnknownStore(f"there is no store named {name!r}: {hint} `memman store create {name}` makes it")
