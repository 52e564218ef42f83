"""Who is a member of a store of a server, and may do what there; by roles of the server, never by their passwords."""

from typing import Any

from psycopg import sql

from memman.model.errors import ServerRefused, UsageError
from memman.store.postgres.roles import READER, WRITER
from memman.store.postgres.schema import ROWS
from memman.store.postgres.server import Server


def members(server: Server, store: int) -> list[dict[str, Any]]:
    """Return the members of a store, and which of them we are. Raises ServerRefused where we are none."""
    us = server.known.role
    with server.translated():
        rows = server.db.execute(
            "SELECT role, may FROM memman.member WHERE store = %s ORDER BY role", (store,)
        ).fetchall()
    if not rows:
        raise ServerRefused(f"{us} is no member of this store of the server {server}")
    return [{"role": role, "may": may, "you": role == us} for role, may in rows]


def add(server: Server, store: int, role: str, may: str) -> str:
    """Make a role a member, or change what it may do; return what an administrator has yet to grant it, if anything.

    Raises ServerRefused where we do not own the store.
    """
    _refuse(server, store, role, leaves=may != "own")
    with server.translated():
        if not server.db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
            raise UsageError(f"the server {server} has no role {role!r}: `memman server roles` prints how one is made")
        server.db.execute(
            "INSERT INTO memman.member VALUES (%s, %s, %s) ON CONFLICT (store, role) DO UPDATE SET may = excluded.may",
            (store, role, may),
        )
        needs = "SELECT" if may == "read" else "INSERT"
        has = server.db.execute("SELECT has_table_privilege(%s, 'memman.memory', %s)", (role, needs)).fetchone()
        granted = sql.SQL("GRANT {} TO {}").format(
            sql.Identifier(READER if may == "read" else WRITER), sql.Identifier(role)
        )
        return "" if has and has[0] else granted.as_string(server.db)


def remove(server: Server, store: int, role: str) -> bool:
    """End a role's membership; False where it was no member. What it shared stays; what it did not nobody sees."""
    _refuse(server, store, role, leaves=True)
    with server.translated():
        return server.db.execute("DELETE FROM memman.member WHERE store = %s AND role = %s", (store, role)).rowcount > 0


def leave(server: Server, store: int) -> None:
    """End our own membership, and delete from the server all that we did not share. Raises ServerRefused."""
    role = server.known.role
    _refuse(server, store, role, leaves=True)
    with server.translated(), server.db.transaction():
        db = server.db
        db.execute("SELECT set_config('memman.store', %s, true)", (str(store),))
        if not any(one["you"] and one["may"] == "read" for one in members(server, store)):
            db.execute("SELECT 1 FROM memman.store WHERE id = %s FOR UPDATE", (store,))
            ours = "author = current_user AND visibility = 'private'"
            hidden = f"IN (SELECT memory FROM memman.authorship WHERE store = %s AND {ours})"
            for name in ROWS:
                for column in _NAMING.get(name, ()):
                    db.execute(f"DELETE FROM memman.{name} WHERE store = %s AND {column} {hidden}", (store, store))
                if name in _SIGNED:
                    db.execute(f"DELETE FROM memman.{name} WHERE store = %s AND {ours}", (store,))
            db.execute(f"DELETE FROM memman.authorship WHERE store = %s AND {ours}", (store,))
        db.execute("DELETE FROM memman.member WHERE store = %s AND role = %s", (store, role))


_SIGNED = ("receipt", "rule", "meta", "log")
# By which columns a table names memories.
_NAMING = {
    **dict.fromkeys(
        ("scoped", "mention", "alias", "freshness", "file", "evidence", "shown", "vector"),
        ("memory",),
    ),
    "link": ("src", "dst"),
    "memory": ("id",),
    **dict.fromkeys(("log", "meta"), ("about",)),
}


def _refuse(server: Server, store: int, role: str, *, leaves: bool) -> None:
    """Raise ServerRefused where this is not ours to decide, or the store would be nobody's."""
    may = {one["role"]: one["may"] for one in members(server, store)}
    us = server.known.role
    if may.get(us) != "own" and not (leaves and role == us) and not server.known.unbound:
        raise ServerRefused(
            f"{us} does not own this store of the server {server}: only its owner says who its members are"
        )
    if leaves and may.get(role) == "own" and list(may.values()).count("own") == 1:
        raise ServerRefused(f"{role} is the only owner of this store: make somebody else an owner first")
