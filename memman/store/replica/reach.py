"""When a replica was last up to date, whether its server is out of reach, and why. Safe on the hot path.

A file beside the store: Unix milliseconds, then `ok`, `away` or `filling` and what we may do; its second line says why.
"""

import os
import time

from memman.config.places import reach_path, text_at, write_file
from memman.model.text import duration, plain

# Seconds for which a replica counts as up to date.
FRESH = 50
_DIGITS = 13
OK, AWAY, FILLING = "ok", "away", "filling"
_AWAY = "the server of this store is out of reach"
# What we may do where we may not write: the store is for us to read, or its server is a copy of another.
READ, COPY = "read", "copy"


def state(path: str) -> "tuple[int, str]":
    """Return when the replica at `path` last was what its server had, and how it is: 0 and '' where it is none."""
    at, how, _, _ = _read(path)
    return at, how


def cause(path: str) -> str:
    """Return what keeps the server of the replica at `path` from being asked, '' where nothing does."""
    return _read(path)[3]


def last(path: str) -> "int | None":
    """Return when the replica at `path` last was what its server had; None where it is no replica."""
    at, how = state(path)
    return at if how else None


def may(path: str) -> str:
    """Return what we may do in the store of the replica at `path`, '' as long as that is not known."""
    return _read(path)[2]


def only_read(path: str) -> bool:
    """Whether we may only read the store of the replica at `path`, as far as is known."""
    return may(path) == READ


def stale(path: str) -> bool:
    """Whether the store at `path` is a replica, and it is some time since it was brought up to date, or that failed."""
    at, how = state(path)
    return bool(how) and (how == AWAY or not 0 <= time.time() - at / 1000 < FRESH)


def told(path: str, now: "int | None" = None) -> str:
    """Say what whoever reads the replica at `path` must know of it, '' for nothing: how old it is `now`, or of when."""
    at, how, _, why = _read(path)
    if how == FILLING:
        return "this store is still being filled from its server: there is more to come"
    if how == AWAY:
        then = time.strftime("at %Y-%m-%d %H:%M", time.localtime(at // 1000))
        old = then if now is None else f"{duration(max(0, now - at) / 1000)} ago"
        return f"{why.partition(': ')[0]}: this is what it had {old}"
    return ""


def filling(path: str) -> None:
    """Take note that the replica is being filled; nothing of it was up to date yet."""
    _write(path, 0, FILLING)


def reached(path: str, at: int, may: str) -> None:
    """Take note that the replica is what its server has, and what we may do there."""
    _write(path, at, OK, may)


def missed(path: str, why: str = _AWAY) -> None:
    """Take note that its server cannot be asked, and `why`, in one line for everybody."""
    at, how, may, before = _read(path)
    if how and (how == OK or why != before):
        _write(path, at, FILLING if how == FILLING else AWAY, may, why)


def forget(path: str) -> None:
    """Take note that the store at `path` is no replica any more."""
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
