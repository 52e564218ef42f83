"""The server of a shared store: its address, when the store last was what it has, and what is in the way. Hot.

A file beside the store says so: Unix milliseconds, then `ok` or `away` and what we may do there; its second line why.
"""

import os
import time

from memman.config.places import reach_path, store_path, text_at, write_file
from memman.model.text import duration, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.model.errors import ServerRefused

# The setting, of each store for itself, that names its server.
DSN = "MEMMAN_STORE_DSN"
# Seconds for which a shared store counts as up to date.
FRESH = 50
_DIGITS = 13
OK, AWAY = "ok", "away"
READ = "read"
_AWAY = "the server of this store is out of reach"


def address(data: str, name: str) -> str:
    """Return the address of a store's server, '' where none is set. Not for the hot path."""
    from memman.config.env import own

    return own(data, name).get(DSN, "")


def connected(data: str) -> list[str]:
    """Return the stores that are on a server. Not for the hot path."""
    from memman.config.stores import exists, names

    return [name for name in names(data) if address(data, name) and exists(data, name)]


def refuse_reading(data: str, name: str) -> None:
    """Raise ServerRefused where we may only read a store, so that nobody would hear of what is written to it."""
    if address(data, name) and only_read(store_path(data, name)):
        raise only_readable(name)


def only_readable(name: str) -> "ServerRefused":
    """Return the error of a store that is not for us to write to."""
    from memman.model.errors import ServerRefused

    return ServerRefused(f"store {name!r} is one that you may only read; its owner can change that")


def state(path: str) -> "tuple[int, str]":
    """Return when the store at `path` last was what its server had, and how it is: 0 and '' where it has none."""
    at, how, _, _ = _read(path)
    return at, how


def cause(path: str) -> str:
    """Return what keeps the server of the store at `path` from being asked, '' where nothing does."""
    return _read(path)[3]


def only_read(path: str) -> bool:
    """Whether we may only read the store at `path`, as far as is known."""
    return _read(path)[2] == READ


def stale(path: str) -> bool:
    """Whether the store at `path` is shared, and it is some time since it was brought up to date, or that failed."""
    at, how = state(path)
    return bool(how) and (how == AWAY or not 0 <= time.time() - at / 1000 < FRESH)


def told(path: str, now: "int | None" = None) -> str:
    """Say what whoever reads the store at `path` must know of it, '' for nothing: how old it is `now`, or of when."""
    at, how, _, why = _read(path)
    if how != AWAY:
        return ""
    then = time.strftime("at %Y-%m-%d %H:%M", time.localtime(at // 1000))
    old = then if now is None else f"{duration(max(0, now - at) / 1000)} ago"
    return f"{why.partition(': ')[0]}: this is what it had {old}"


def reached(path: str, at: int, may: str) -> None:
    """Take note that the store has what its server has, and what we may do there."""
    _write(path, at, OK, may)


def missed(path: str, why: str = _AWAY) -> None:
    """Take note that its server cannot be asked, and `why`, in one line for everybody."""
    at, how, may, before = _read(path)
    if how and (how == OK or why != before):
        _write(path, at, AWAY, may, why)


def forget(path: str) -> None:
    """Take note that the store at `path` is shared no more."""
    try:
        os.unlink(reach_path(path))
    except FileNotFoundError:
        return


def _read(path: str) -> "tuple[int, str, str, str]":
    state, _, why = text_at(reach_path(path)).partition("\n")
    at, how, may = (*state.split(), "", "", "")[:3]
    return (int(at) if at.isdecimal() and len(at) <= _DIGITS else 0), how, may, plain(why) or _AWAY * (how == AWAY)


def _write(path: str, at: int, how: str, may: str = "", why: str = "") -> None:
    write_file(reach_path(path), f"{at} {how} {may}".rstrip() + "\n" + (f"{plain(why)}\n" if why else ""))
