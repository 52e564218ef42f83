"""Who is a member of a store of a server, and may do what there; by roles of the server, never by their passwords."""

from typing import Any

from psycopg import sql

from memman.model.errors import ServerRefused, UsageError
from memman.store.postgres.roles import READER, WRITER
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
            raise UsageError(f"the server {server} has no role {role!r}: `memman team roles` prints how one is made")
        server.db.execute("SELECT memman.admit(%s, %s, %s)", (store, role, may))
        needs = "pull(bigint, json, integer)" if may == "read" else "push(bigint, text, json)"
        has = server.db.execute(
            "SELECT has_function_privilege(%s, 'memman.' || %s, 'EXECUTE')", (role, needs)
        ).fetchone()
        granted = sql.SQL("GRANT {} TO {}").format(
            sql.Identifier(READER if may == "read" else WRITER), sql.Identifier(role)
        )
        return "" if has and has[0] else granted.as_string(server.db)


def remove(server: Server, store: int, role: str) -> bool:
    """End a role's membership; False where it was no member. What it shared stays; what it did not nobody sees."""
    _refuse(server, store, role, leaves=True)
    with server.translated():
        done = server.db.execute("SELECT memman.admit(%s, %s, '')", (store, role)).fetchone()
        return bool(done and done[0])


def leave(server: Server, store: int) -> None:
    """End our own membership, and delete from the server all that we did not share. Raises ServerRefused."""
    _refuse(server, store, server.known.role, leaves=True)
    with server.translated():
        server.db.execute("SELECT memman.leave(%s)", (store,))


def _refuse(server: Server, store: int, role: str, *, leaves: bool) -> None:
    """Raise ServerRefused where this is not ours to decide, or the store would be nobody's."""
    may = {one["role"]: one["may"] for one in members(server, store)}
    us = server.known.role
    if may.get(us) != "own" and not (leaves and role == us):
        raise ServerRefused(
            f"{us} does not own this store of the server {server}: only its owner says who its members are"
        )
    if leaves and may.get(role) == "own" and list(may.values()).count("own") == 1:
        raise ServerRefused(f"{role} is the only owner of this store: make somebody else an owner first")
