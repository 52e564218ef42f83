"""A connection to a server, and what it says in memman's words."""

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.abc import PQGen

from memman.model.errors import MemmanError, NewerSchema, NoServer, NotSetUp, ServerRefused
from memman.store.postgres.address import parsed, secured, shown
from memman.store.postgres.roles import GRANTS, OWNER, READER, ROLES, WRITER

T = TypeVar("T")


class Silence(psycopg.OperationalError):
    """Nothing came or went for longer than is borne."""


class Patient(psycopg.Connection[tuple[Any, ...]]):
    """Waits for its server as long as something comes or goes, and bears a silence of `silence_s`.

    TCP's own timers find a peer that is gone; one that acknowledges and says nothing, as a proxy before a server that
    hangs, they do not. The driver asks every tenth of a second anyway, so this needs no timer of its own, nothing of
    the server, and goes through any pooler.
    """

    silence_s: float

    def wait(self, gen: PQGen[T], *args: Any, **given: Any) -> T:
        """Wait for what `gen` asks. Raises Silence, after which the connection is closed."""
        try:
            return super().wait(_attended(gen, self.silence_s), *args, **given)
        except Silence:
            self.pgconn.finish()
            raise


def _attended(gen: PQGen[T], seconds: float) -> Generator[Any, Any, T]:
    """Pass on what `gen` waits for. Raises Silence where none of it comes for so many seconds."""
    try:
        wanted = next(gen)
        since = time.monotonic()
        while True:
            ready = yield wanted
            if ready:
                since = time.monotonic()
            elif time.monotonic() - since > seconds:
                raise Silence(f"nothing came from it for {seconds:.0f} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        found: T = end.value
        return found


# The schema of the tables that `schema.sql` makes; what an earlier memman made, which was never released, is set aside.
VERSION = 9
_TABLES = __file__.removesuffix("server.py") + "schema.sql"
# Seconds of silence after which a server counts as out of reach; where all of a store is read or written at one time.
SILENCE_S = 20.0
UNHURRIED_S = 3600.0
# What the address says of these holds before it. Seconds until a connection is there, or is known to be dead.
_PARAMETERS = {
    "application_name": "memman",
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 20_000,  # milliseconds
}
Connection = Patient
_KNOWN = "SELECT {}, session_user::text"
# Whether we may make tables as their owner: one row where there is that role, with the right to make a schema.
_MAY_BE_OWNER = """
SELECT 1 FROM pg_roles WHERE rolname = %(owner)s AND pg_has_role(oid, 'MEMBER')
    AND (has_database_privilege(oid, current_database(), 'CREATE')
        OR EXISTS (SELECT FROM pg_namespace WHERE nspname = 'memman' AND nspowner = pg_roles.oid))
    AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'memman' AND nspowner <> pg_roles.oid)
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What a server says of itself and of us: its schema, what it calls itself, and our role."""

    version: int
    id: str
    role: str


class Server:
    """One server, connected to when it is first needed; what it may be silent for, in seconds, is for its user."""

    def __init__(self, dsn: str, silence_s: float | None = None) -> None:
        self.parameters = parsed(dsn)
        self.silence_s = SILENCE_S if silence_s is None else silence_s
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
            self._db.silence_s = self.silence_s
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
                except (psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedTable):
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

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Let no error of the driver escape as it is."""
        try:
            yield
        except psycopg.Error as error:
            raise translated(error, self) from error

    def upgrade(self, *, dry_run: bool = False) -> tuple[int, int]:
        """Bring the server to the newest schema, all steps or none; return the schema it had, and has.

        The tables are of `memman_owner`, which is made with the other roles, where we may, and else ours. `dry_run`
        does all of it and takes it back.
        """
        before = self.known.version
        if before > VERSION:
            self.check()
        with self.translated(), self.db.transaction(force_rollback=dry_run):
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
                with open(_TABLES, encoding="utf-8") as file:
                    self.db.execute(sql.SQL(file.read()))
                self.db.execute("INSERT INTO memman.version(number) VALUES (%s)", (VERSION,))
            for role in self._there(GRANTS):
                self.db.execute(GRANTS[role])
        self._known = None
        return before, max(before, VERSION)

    def _make_roles(self) -> None:
        """Make the roles that are missing, where we may."""
        missing = [role for role in ROLES if role not in self._there(ROLES)]
        with suppress(psycopg.errors.InsufficientPrivilege), self.db.transaction():
            for role in missing:
                within = f" IN ROLE {ROLES[role]}" if ROLES[role] else ""
                self.db.execute(f"CREATE ROLE {role} NOLOGIN NOBYPASSRLS{within}")
            if OWNER in missing:
                self.db.execute(f"GRANT {OWNER} TO CURRENT_USER")
            database = sql.Identifier(self.db.info.dbname)
            self.db.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(database, sql.Identifier(OWNER)))

    def _there(self, roles: Iterable[str]) -> list[str]:
        found = self.db.execute("SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)", (list(roles),)).fetchall()
        return [role for (role,) in found]

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
    ("no pg_hba.conf entry", ServerRefused, "lets this role in from elsewhere or by TLS only"),
    ("certificate", ServerRefused, "has no certificate that can be verified: name its authority's, sslrootcert=FILE"),
    ("does not support SSL", ServerRefused, "does not offer TLS: only sslmode=prefer in its address does without"),
    ("method requirement", ServerRefused, "asks for the password in clear: let it use scram-sha-256, or TLS"),
    ("SSL", ServerRefused, "and this machine do not agree on TLS"),
    ("does not exist", ServerRefused, "has no such role or database"),
    *((words, NotSetUp, "has an address here that cannot be used") for words in _UNUSABLE),
)
_Kinds = type[psycopg.Error] | tuple[type[psycopg.Error], ...]
_KINDS: tuple[tuple[_Kinds, type[MemmanError], str], ...] = (
    (psycopg.errors.InsufficientPrivilege, ServerRefused, "does not give this role the right to do that"),
    (
        psycopg.errors.InvalidSchemaName,
        ServerRefused,
        "has no tables of memman: its owner runs `memman team upgrade`",
    ),
    (psycopg.errors.UndefinedTable, ServerRefused, "has no tables of memman: its owner runs `memman team upgrade`"),
    (psycopg.errors.DiskFull, NoServer, "has no disk space left"),
    (psycopg.errors.ReadOnlySqlTransaction, ServerRefused, "is a read-only copy: give the address of the primary"),
    ((psycopg.OperationalError, psycopg.InterfaceError), NoServer, "is out of reach"),
    # Of what is to be stored, and no reason to keep what comes after it.
    ((psycopg.DataError, psycopg.IntegrityError), MemmanError, "cannot store this"),
    (psycopg.Error, ServerRefused, "refused"),
)


def translated(error: psycopg.Error, server: Server) -> MemmanError:
    """Turn an error of the driver into memman's own; in one line, and without the password."""
    said = (str(error).strip() or type(error).__name__).splitlines()[0]
    if isinstance(error, psycopg.OperationalError | psycopg.ProgrammingError) and error.sqlstate is None:
        for words, becomes, says in _CONNECTING:
            if words in str(error):
                return becomes(f"the server {server} {says} ({said})")
    made, says = next((made, says) for kind, made, says in _KINDS if isinstance(error, kind))
    if _ungranted(error):
        says += f": its administrator runs `GRANT {WRITER} TO` the role, or {READER} where it is only to read"
    return made(f"the server {server} {says} ({said})")


def _ungranted(error: psycopg.Error) -> bool:
    """Whether a role is a member of no role of memman's, or of the reader and is to make a store."""
    said = str(error)
    return isinstance(error, psycopg.errors.InsufficientPrivilege) and ("schema memman" in said or "make_store" in said)
