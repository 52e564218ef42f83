"""A server: its address, which may hold a password, the connection, who may do what, and errors in memman's words.

Members of one role of the server may work with its tables. Membership of a store is a row (`memman.member`), not a
role: a role opens the tables, membership the rows in them. An address is named without any
part that may be a password.
"""

import os
import ssl
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, LiteralString, TypeVar

import certifi
import psycopg
from psycopg import sql
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict

from memman.model.errors import MemmanError, NewerSchema, NoServer, NotSetUp, ServerRefused, UsageError

T = TypeVar("T")
# The schema of the tables that `schema.sql` makes; what an earlier memman made, which was never released, is set aside.
VERSION = 9
# Seconds of silence after which a server counts as out of reach: a drain holds its lock meanwhile.
SILENCE_S = 300.0
_SCHEMA = __file__.removesuffix("server.py") + "schema.sql"
# What the address says of these holds before it. Seconds until a connection is there, or is known to be dead.
_PARAMETERS = {
    "application_name": "memman",
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 20_000,  # milliseconds
}
_KNOWN = "SELECT {}, session_user::text"
# Whether we may make tables as their owner: one row where there is that role, with the right to make a schema.
_MAY_BE_OWNER = """
SELECT 1 FROM pg_roles WHERE rolname = %(owner)s AND pg_has_role(oid, 'MEMBER')
    AND (has_database_privilege(oid, current_database(), 'CREATE')
        OR EXISTS (SELECT FROM pg_namespace WHERE nspname = 'memman' AND nspowner = pg_roles.oid))
    AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'memman' AND nspowner <> pg_roles.oid)
"""
# What the driver says of an address before it looks for the server.
_UNUSABLE = (
    "invalid integer value",
    "invalid port number",
    ' value: "',
    "port numbers to",
    "definition of service",
    "bad value for",
)
# What the driver says where it cannot connect -> what that means.
_CONNECTING = (
    ("password authentication failed", ServerRefused, "does not accept the password"),
    ("no password supplied", ServerRefused, "wants a password"),
    ("no pg_hba.conf entry", ServerRefused, "accepts this role only from elsewhere or by TLS"),
    ("certificate", ServerRefused, "has no certificate that can be verified: name its authority's, sslrootcert=FILE"),
    ("does not support SSL", ServerRefused, "does not offer TLS: only sslmode=prefer in its address does without"),
    ("method requirement", ServerRefused, "asks for the password in clear: let it use scram-sha-256, or TLS"),
    ("SSL", ServerRefused, "and this machine do not agree on TLS"),
    ("does not exist", ServerRefused, "has no such role or database"),
    *((words, NotSetUp, "has an address here that cannot be used") for words in _UNUSABLE),
)
_NO_TABLES = (psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedTable)
_Kinds = type[psycopg.Error] | tuple[type[psycopg.Error], ...]
_KINDS: tuple[tuple[_Kinds, type[MemmanError], str], ...] = (
    (psycopg.errors.InsufficientPrivilege, ServerRefused, "does not give this role the right to do that"),
    (_NO_TABLES, ServerRefused, "has no tables of memman: its owner runs `memman team upgrade`"),
    (psycopg.errors.DiskFull, NoServer, "has no disk space left"),
    (psycopg.errors.ReadOnlySqlTransaction, ServerRefused, "is a read-only copy: give the address of the primary"),
    ((psycopg.OperationalError, psycopg.InterfaceError), NoServer, "is out of reach"),
    # Of what is to be stored, and no reason to keep what comes after it.
    ((psycopg.DataError, psycopg.IntegrityError), MemmanError, "cannot store this"),
    (psycopg.Error, ServerRefused, "refused"),
)
OWNER, WRITER = "memman_owner", "memman_writer"
_TABLES = ", ".join(f"memman.{name}" for name in ("version", "server", "store", "member", "host", "subject", "record"))
_FUNCTIONS = ", ".join(f"memman.{name}" for name in "may seen pull again push redact make_store admit".split())
_GRANTS = f"""GRANT USAGE ON SCHEMA memman TO {WRITER};
GRANT SELECT ON {_TABLES} TO {WRITER};
GRANT EXECUTE ON FUNCTION {_FUNCTIONS} TO {WRITER};"""
# What hosts, ports and databases are called that can be nothing else.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_PLACE = _PLAIN | frozenset("/:,")
_LAST_PORT = 65_535
_NONE = (
    "this is no address of a Postgres server: write postgresql://user@host/database, and percent-encode signs in the"
    " user and the password (%2F for /, %40 for @)"
)
# TLS that whoever wrote the address wants, and in which a password may be sent as it is.
_ENCRYPTED = frozenset({"require", "verify-ca", "verify-full"})
# Where systems keep the certificates of all authorities in one file.
_AUTHORITIES = """
    /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem
""".split()


class Silence(psycopg.OperationalError):
    """Nothing came or went for longer than is borne."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """Waits for its server as long as something comes or goes, and bears a silence of `SILENCE_S`.

    TCP's own timers find a peer that is gone; one that acknowledges and says nothing, as a proxy before a server that
    hangs, they do not. The driver asks every tenth of a second anyway, so this needs no timer of its own.
    """

    def wait(self, gen: PQGen[T], *args: Any, **given: Any) -> T:
        """Wait for what `gen` asks. Raises Silence, after which the connection is closed."""
        try:
            return super().wait(_attended(gen), *args, **given)
        except Silence:
            self.pgconn.finish()
            raise


def _attended(gen: PQGen[T]) -> Generator[Any, Any, T]:
    """Pass on what `gen` waits for. Raises Silence where none of it comes for `SILENCE_S`."""
    try:
        wanted = next(gen)
        since = time.monotonic()
        while True:
            ready = yield wanted
            if ready:
                since = time.monotonic()
            elif time.monotonic() - since > SILENCE_S:
                raise Silence(f"it sent nothing for {SILENCE_S:.0f} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        found: T = end.value
        return found


@dataclass(frozen=True, slots=True)
class Known:
    """What a server says of itself and of us: its schema, what it calls itself, and our role."""

    version: int
    id: str
    role: str


class Server:
    """One server, connected to when it is first needed."""

    def __init__(self, dsn: str) -> None:
        self.parameters = parsed(dsn)
        self._db: Connection | None = None
        self._known: Known | None = None

    def __str__(self) -> str:
        """Name the server as far as everybody may know it."""
        return shown(self.parameters)

    @property
    def db(self) -> Connection:
        """The connection; nothing of it outlives a transaction, so that it may go through a pooler."""
        if self._db is None or self._db.closed:
            self._known = None
            with self.translated():
                self._db = Connection.connect(
                    **{**_PARAMETERS, **secured(self.parameters), **self.parameters},
                    autocommit=True,
                    prepare_threshold=None,
                )
        return self._db

    @property
    def known(self) -> Known:
        """What the server says of itself; it is asked once for each connection."""
        db = self.db
        if self._known is None:
            with self.translated():
                try:
                    said = db.execute(
                        _KNOWN.format("(SELECT max(number) FROM memman.version), (SELECT id FROM memman.server)")
                    )
                except _NO_TABLES:
                    said = db.execute(_KNOWN.format("0, ''"))
                self._known = Known(*(said.fetchone() or (0, "", "")))
        return self._known

    def id(self) -> str:
        """Return what the server calls itself. Raises as `check` does."""
        self.check()
        return self.known.id

    def check(self) -> None:
        """Raise NewerSchema or ServerRefused where the server has not the tables that this memman knows."""
        version = self.known.version
        if version > VERSION:
            raise NewerSchema(
                f"the server {self} has schema {version}, but this memman only knows {VERSION}: upgrade memman;"
                " nothing was changed"
            )
        if version < VERSION:
            has = f"has schema {version} of memman and needs {VERSION}" if version else "has no tables of memman"
            raise ServerRefused(f"the server {self} {has}: its owner runs `memman team upgrade`")

    def cause(self, error: MemmanError) -> str:
        """Say why it cannot be asked, without where it is and what the driver says."""
        return str(error).partition(" (")[0].replace(f"the server {self}", "the server of this store")

    def rows(self, asked: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
        """Return what the server answers. Raises NoServer and ServerRefused."""
        with self.translated():
            return self.db.execute(asked, values or None).fetchall()

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Let no error of the driver escape as it is."""
        try:
            yield
        except psycopg.Error as error:
            raise translated(error, self) from error

    def upgrade(self) -> tuple[int, int]:
        """Bring the server to the newest schema, all steps or none; return the schema it had, and has.

        The tables are of `memman_owner`, which is made with the other role, where we may, and else ours.
        """
        before = self.known.version
        if before > VERSION:
            self.check()
        with self.translated(), self.db.transaction():
            self.db.execute("SELECT pg_advisory_xact_lock(hashtext('memman schema'))")
            found = self.db.execute("SELECT to_regclass('memman.version') IS NOT NULL").fetchone()
            if found and found[0]:
                (before,) = self.db.execute("SELECT max(number) FROM memman.version").fetchone() or (0,)
            self._make_roles()
            if self.db.execute(_MAY_BE_OWNER, {"owner": OWNER}).fetchone():
                self.db.execute(f"SET LOCAL ROLE {OWNER}")
            if before < VERSION:
                if before:
                    self.db.execute(f"ALTER SCHEMA memman RENAME TO memman_before_{VERSION}")
                with open(_SCHEMA, encoding="utf-8") as file:
                    self.db.execute(sql.SQL(file.read()))
                self.db.execute("INSERT INTO memman.version(number) VALUES (%s)", (VERSION,))
            if WRITER in self._roles():
                self.db.execute(_GRANTS)
        self._known = None
        return before, max(before, VERSION)

    def _make_roles(self) -> None:
        """Make the roles that are missing, where we may."""
        there = self._roles()
        with suppress(psycopg.errors.InsufficientPrivilege), self.db.transaction():
            for role in {OWNER, WRITER} - there:
                self.db.execute(f"CREATE ROLE {role} NOLOGIN NOBYPASSRLS")
            if OWNER not in there:
                self.db.execute(f"GRANT {OWNER} TO CURRENT_USER")
            database = sql.Identifier(self.db.info.dbname)
            self.db.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(database, sql.Identifier(OWNER)))

    def _roles(self) -> set[str]:
        """Return which of memman's roles there are."""
        found = self.db.execute("SELECT rolname FROM pg_roles WHERE rolname IN (%s, %s)", (OWNER, WRITER)).fetchall()
        return {role for (role,) in found}

    def store(self, name: str, *, make: bool = False) -> int | None:
        """Return the number of a store that we are a member of, None where there is none; made if asked."""
        with self.translated():
            found = self.db.execute("SELECT id FROM memman.store WHERE name = %s", (name,)).fetchone()
            if found is None and make:
                try:
                    found = self.db.execute("SELECT memman.make_store(%s)", (name,)).fetchone()
                except psycopg.errors.UniqueViolation as error:
                    says = f"has a store {name!r} that {self.known.role} is no member of: its owner can change that"
                    raise ServerRefused(f"the server {self} {says}") from error
        return None if found is None else int(found[0])

    def close(self) -> None:
        """Close the connection."""
        if self._db is not None:
            self._db.close()


def translated(error: psycopg.Error, server: Server) -> MemmanError:
    """Turn an error of the driver into memman's own; in one line, and without the password."""
    said = (str(error).strip() or type(error).__name__).splitlines()[0]
    if isinstance(error, psycopg.OperationalError | psycopg.ProgrammingError) and error.sqlstate is None:
        for words, becomes, says in _CONNECTING:
            if words in str(error):
                return becomes(f"the server {server} {says} ({said})")
    made, says = next((made, says) for kind, made, says in _KINDS if isinstance(error, kind))
    if isinstance(error, psycopg.errors.InsufficientPrivilege) and any(
        one in str(error) for one in ("schema memman", "make_store")
    ):  # a member of no role of memman's
        says += f": its administrator runs `GRANT {WRITER} TO` the role"
    return made(f"the server {server} {says} ({said})")


def parsed(dsn: str) -> Mapping[str, Any]:
    """Read a server's address. Raises NotSetUp, without telling what it holds."""
    try:
        said: Mapping[str, Any] = conninfo_to_dict(dsn)
    except (psycopg.Error, UnicodeError) as error:
        raise NotSetUp(_NONE) from error
    if _blurred(dsn, said) or not _numbered(said):
        raise NotSetUp(_NONE)
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


def members(server: Server, store: int) -> list[dict[str, Any]]:
    """Return the members of a store, and which of them we are. Raises ServerRefused where we are none."""
    us = server.known.role
    rows = server.rows("SELECT role, may FROM memman.member WHERE store = %s ORDER BY role", store)
    if not rows:
        raise ServerRefused(f"{us} is no member of this store of the server {server}")
    return [{"role": role, "may": may, "you": role == us} for role, may in rows]


def admit(server: Server, store: int, role: str, may: str) -> str:
    """Make a role a member, or change what it may do; return what an administrator has yet to grant it, if anything.

    Raises ServerRefused where we do not own the store.
    """
    _refuse(server, store, role, leaves=may != "own")
    if not server.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", role):
        raise UsageError(f"the server {server} has no role {role!r}: its administrator makes one by CREATE ROLE")
    server.rows("SELECT memman.admit(%s, %s, %s)", store, role, may)
    pull = "memman.pull(bigint, json, integer)"
    ((has,),) = server.rows("SELECT has_function_privilege(%s, %s, 'EXECUTE')", role, pull)
    granted = sql.SQL("GRANT {} TO {}").format(sql.Identifier(WRITER), sql.Identifier(role))
    return "" if has else granted.as_string(server.db)


def dismiss(server: Server, store: int, role: str) -> bool:
    """End a role's membership; False where it was no member. What it shared stays; what it did not nobody sees."""
    _refuse(server, store, role, leaves=True)
    ((done,),) = server.rows("SELECT memman.admit(%s, %s, '')", store, role)
    return bool(done)


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
