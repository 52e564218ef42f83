"""What a replica knows of itself, in settings of its own that no other host sees."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import apsw

from memman.model.errors import ServerRefused
from memman.model.vocabulary import CONNECTED, OTHERS, OWN
from memman.store.sqlite.traces import Gone

if TYPE_CHECKING:
    from memman.store.postgres.server import Server

_AT, _STORE, _MOVE, _LEAVING, _DROPPED = OWN + "at", CONNECTED, OWN + "move", OWN + "leaving", OWN + "dropped"
_GONE = OWN + "gone"
# The number of a turn, and the table and the group in it.
Position = tuple[int, str, str]
# As the table of a position: the whole of a turn has been seen. Sorts behind the names of all tables.
WHOLE = "~"
# Behind all changes.
END: Position = (2**63 - 1, "", "")


def position(db: apsw.Connection) -> Position:
    """Return the last change that the replica has."""
    seq, table, group = json.loads(_said(db, _AT) or '[0, "", ""]')
    return seq, table, group


def move(db: apsw.Connection, to: Position) -> None:
    """Take note of how far the replica has come."""
    _say(db, _AT, json.dumps(to))


def heard(db: apsw.Connection, to: Position) -> None:
    """Take note that other hosts changed memories."""
    _say(db, OTHERS, str(to[0]))


def store(db: apsw.Connection) -> tuple[str, int] | None:
    """Return the server, by what it calls itself, and the number of the store there; None before it is connected."""
    said = _said(db, _STORE)
    if not said:
        return None
    server, number, _ = json.loads(said)
    return server, number


def same_store(db: apsw.Connection, server: "Server", called: str) -> int:
    """Return the number of the store `called` so on its server; raise ServerRefused if it is not the same any more."""
    if moving(db):
        raise ServerRefused(f"{called} is on its way to a server: `memman migrate --to postgres` goes on with it")
    known = store(db)
    if known is None:
        raise ServerRefused(f"{called} is connected to no store yet: run `memman store connect`")
    identity, number = known
    if identity != server.id():
        raise ServerRefused(f"the server {server} is not the server that {called} is a replica of")
    return number


def connect(db: apsw.Connection, server: str, number: int, role: str) -> None:
    """Take note of which store of which server this is a replica, and of who we are there."""
    _say(db, _STORE, json.dumps([server, number, role]))


@dataclass(frozen=True, slots=True)
class Move:
    """How far a store is on its way to a server: `token` tells it from others', `backup` was made before."""

    token: str
    backup: str
    table: str = ""
    group: int | str | None = None
    seq: int = 0


def moving(db: apsw.Connection) -> Move | None:
    """Return how far the store is on its way to a server; None where it is not."""
    said = _said(db, _MOVE)
    return Move(**json.loads(said)) if said else None


def keep_moving(db: apsw.Connection, move: Move) -> None:
    """Take note of how far the store is on its way."""
    _say(db, _MOVE, json.dumps(asdict(move)))


def arrive(db: apsw.Connection, seq: int) -> None:
    """Take note that the store is on its server, which has all of it in the turn `seq`."""
    db.execute("DELETE FROM meta WHERE key = ?", (_MOVE,))
    move(db, (seq, WHOLE, ""))


def leave(db: apsw.Connection) -> None:
    """Take note that the replica has all that its server has, and leaves it."""
    _say(db, _LEAVING, "1")


def leaving(db: apsw.Connection) -> bool:
    """Whether the replica was leaving its server."""
    return bool(_said(db, _LEAVING))


def drop(db: apsw.Connection) -> None:
    """Take note that something was deleted by others whose bytes are in the file still."""
    _say(db, _DROPPED, "1")


def dropped(db: apsw.Connection) -> bool:
    """Whether something was deleted by others whose bytes may be in the file still."""
    return bool(_said(db, _DROPPED))


def wiped(db: apsw.Connection) -> None:
    """Take note that somebody sees to it that those bytes go."""
    db.execute("DELETE FROM meta WHERE key = ?", (_DROPPED,))


def lose(db: apsw.Connection, lost: Mapping[int, Gone]) -> None:
    """Take note of memories that others took from us, of which rows that only we see may say something yet."""
    _say(db, _GONE, json.dumps([*map(list, ({**gone(db), **lost}).items())]))


def gone(db: apsw.Connection) -> dict[int, Gone]:
    """Return, by their rows, the memories that others took from us since `settled`."""
    return {memory: Gone(*one) for memory, one in json.loads(_said(db, _GONE) or "[]")}


def settled(db: apsw.Connection) -> None:
    """Take note that nothing here says anything of those."""
    db.execute("DELETE FROM meta WHERE key = ?", (_GONE,))


def forget(db: apsw.Connection) -> None:
    """Have the store be a replica of nothing."""
    db.execute("DELETE FROM meta WHERE key GLOB ?", (OWN + "*",))


def _said(db: apsw.Connection, key: str) -> str:
    said: Any = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).get
    return said or ""


def _say(db: apsw.Connection, key: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
