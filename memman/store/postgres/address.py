"""The address of a server, which may hold a password: read, and named without any part that may be one."""

import os
import ssl
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

import certifi
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
# TLS that whoever wrote the address wants, and in which a password may be sent as it is.
_ENCRYPTED = frozenset({"require", "verify-ca", "verify-full"})
# Where systems keep the certificates of all authorities in one file.
_AUTHORITIES = """
    /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem
""".split()


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


def secured(said: Mapping[str, Any]) -> dict[str, str]:
    """Return what is added to an address so that no other machine gets the password in clear, or as another server.

    Without a word on TLS it is verified. Where the address, libpq's variables or a service file ask for less, a server
    that wants the password in clear does not get it. What is on this machine is asked as libpq does.
    """

    def told(name: str) -> str:
        return str(said.get(name) or os.environ.get("PG" + name.upper(), ""))

    if not told("service") and all(map(_is_here, (told("hostaddr") or told("host")).split(","))):
        return {}
    if told("sslmode") or told("service"):
        return {} if told("sslmode") in _ENCRYPTED else {"require_auth": "!password"}
    if told("sslrootcert") or os.path.exists(os.path.expanduser("~/.postgresql/root.crt")):
        return {"sslmode": "verify-full"}
    known = (ssl.get_default_verify_paths().cafile, *_AUTHORITIES)
    return {"sslmode": "verify-full", "sslrootcert": next(filter(os.path.isfile, filter(None, known)), certifi.where())}


def _is_here(host: str) -> bool:
    """Whether a host is this machine: a socket's folder, or loopback."""
    if host[:1] in {"", "/", "@"} or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


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
