"""The address of a server, which may hold a password: read, and named without any part that may be one."""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from memman.model.errors import NotSetUp

# What hosts, ports and databases are called that can be nothing else.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_PLACE = _PLAIN | frozenset("/:,")
_ENCODE = "percent-encode signs in the user and the password (%2F for /, %40 for @)"
_BLURRED = f"the parts of this address of a server cannot be told apart: {_ENCODE}"
_LAST_PORT = 65_535
_PORT = f"the port in this address of a server is no number from 1 to {_LAST_PORT}: {_ENCODE}"
_NONE = f"this is no address of a Postgres server: write postgresql://user@host/database, and {_ENCODE}"


def parsed(dsn: str) -> Mapping[str, Any]:
    """Read a server's address. Raises NotSetUp, without telling what it holds."""
    try:
        said: Mapping[str, Any] = conninfo_to_dict(dsn)
    except (psycopg.Error, UnicodeError) as error:
        raise NotSetUp(_NONE) from error
    if _blurred(dsn, said):
        raise NotSetUp(_BLURRED)
    if not _numbered(said):
        raise NotSetUp(_PORT)
    return said


def shown(said: Mapping[str, Any]) -> str:
    """Name a server as far as everybody may know it."""
    host = _plain(said.get("host") or said.get("hostaddr"), _PLACE) or "this machine"
    port, database = _plain(said.get("port"), _PLACE), _plain(said.get("dbname"), _PLAIN)
    return f"{host}{':' + port if port else ''}/{database}".rstrip("/")


def _plain(part: Any, allowed: frozenset[str]) -> str:
    text = str(part or "")
    return text if allowed.issuperset(text) else "…"


def _blurred(dsn: str, said: Mapping[str, Any]) -> bool:
    """Whether a password with a sign that ends it was taken for a host, a port or a database."""
    place = f"{said.get('host') or ''} {said.get('port') or ''}"
    _, uri, rest = dsn.partition("://")
    path = rest.partition("/")[2].partition("?")[0]
    return "@" in place or (bool(uri) and "@" in path)


def _numbered(said: Mapping[str, Any]) -> bool:
    ports = [port for port in str(said.get("port") or "").split(",") if port]
    return all(port.isdecimal() and 0 < int(port) <= _LAST_PORT for port in ports)
