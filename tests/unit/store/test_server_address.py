"""The address of a server: what of it is shown, and what of it is refused."""

import shutil
import socket
import ssl
import struct
import subprocess
from contextlib import closing, contextmanager, suppress
from threading import Thread

import pytest

from memman.model.errors import NotSetUp, ServerRefused
from memman.store.postgres.server import Server
from tests.support.machines import to_server
from tests.support.terminal import typed

BLURRED = (
    "postgresql://alice:hunter/2@127.0.0.1/team",
    "postgresql://alice:hunter@2@127.0.0.1/team",
    "postgresql://alice:hun/ter@2@127.0.0.1:5432/team",
    "postgresql://alice:hunter/2/3@127.0.0.1:5432/team?sslmode=disable",
    "postgresql://alice:1/hunter@127.0.0.1:5432/team",
    "postgresql://alice:hunter?2/3@127.0.0.1/team",
    "postgres://alice@example.org:hunter2@127.0.0.1/team",
    "host=hunter@127.0.0.1 dbname=team",
)


@pytest.mark.parametrize("dsn", BLURRED)
def test_an_address_whose_parts_cannot_be_told_apart_is_refused(box, dsn):
    """One line says how to write it, and shows nothing of it; nothing is kept."""
    ran = box.memman("team", "connect", "team", "--dsn", "-", input=f"{dsn}\n")
    assert (ran.returncode, ran.stderr.count("\n")) == (78, 1), ran.stderr
    assert "percent-encode" in ran.stderr
    assert not [part for part in ("hun", "alice", "127") if part in ran.stderr + ran.stdout]
    assert not (box.data / "env.team").exists()


NONE = (
    "hunter2 and nonsense",
    "https://alice:hunter@127.0.0.1",
    "postgresql://alice@127.0.0.1:99999/team",
    "host=127.0.0.1 port=hunter dbname=team",
)


@pytest.mark.parametrize("dsn", [*BLURRED, *NONE])
def test_an_address_that_is_none_is_not_set_either(box, dsn):
    """`config set` refuses what `team connect` does, before it asks, and shows nothing of it."""
    ran = box.memman("config", "set", "MEMMAN_STORE_DSN", "-", input=f"{dsn}\n")
    assert (ran.returncode, ran.stderr.count("\n")) == (78, 1), ran.stderr
    assert "percent-encode" in ran.stderr
    assert not [part for part in ("hun", "alice", "127") if part in ran.stderr + ran.stdout]
    assert not (box.data / "env").exists() or "DSN" not in (box.data / "env").read_text()


def test_a_role_without_a_grant_is_told_which_is_missing(box, database):
    """In one line, with the SQL that an administrator runs."""
    dsn = database.role("alice")
    ran = box.memman("team", "connect", "team", "--create", "--dsn", "-", input=f"{dsn}\n")
    assert (ran.returncode, ran.stderr.count("\n")) == (18, 1), ran.stderr
    assert "GRANT memman_writer TO" in ran.stderr


ASKING = (
    ("team", "connect", "team", "--create", "--dsn", "-"),
    ("team", "connect", "team", "--create"),
    ("team", "upgrade", "--dsn", "-"),
    ("migrate", "--to", "postgres"),
    ("migrate", "--to", "postgres", "--dsn", "-"),
)


@pytest.mark.parametrize("verb", ASKING, ids=" ".join)
def test_at_a_terminal_an_address_is_asked_for_and_not_shown(box, database, verb):
    """With `--dsn -` or without: the password is seen neither as it is typed nor afterwards."""
    box.remember("The lighthouse lamp is serviced every May.")
    box.drain()
    dsn = database.address if verb[0] == "server" else database.role("alice", "memman_writer")
    code, seen = typed((box.script, *verb), box.environ, box.data.parent, dsn)
    assert code == 0, seen
    assert seen.startswith("Address of the server: ")
    assert "dbname" not in seen


def test_a_store_whose_server_is_known_goes_on_without_being_asked(box, dsn):
    """A migration that was cut short, and a second one, take the address that is kept."""
    box.remember("The lighthouse lamp is serviced every May.")
    box.drain()
    to_server(box, dsn)
    code, seen = typed((box.script, "migrate", "--to", "postgres"), box.environ, box.data.parent, "")
    assert (code, "already" in seen, "Address" in seen) == (0, True, False), seen


def test_without_a_terminal_a_migration_says_what_it_lacks(box):
    """Nothing is asked of nobody."""
    box.remember("The lighthouse lamp is serviced every May.")
    box.drain()
    ran = box.memman("migrate", "--to", "postgres")
    assert (ran.returncode, "which server?" in ran.stderr) == (2, True), ran.stderr


SHOWN = {
    "postgresql://alice:hunter%2F2@127.0.0.1/team": "127.0.0.1/team",
    "postgresql://alice:hunter%402@[::1]:5432/team": "::1:5432/team",
    "postgresql://alice:hunter?2@example.org/te%40m": "example.org/…",
    "postgresql://alice@/team?host=/run/postgresql&password=hunter@2": "/run/postgresql/team",
    "host=a.example,b.example port=1,2 password=hunter": "a.example,b.example:1,2",
    "dbname=postgresql://alice:hunter2@127.0.0.1/team": "this machine/…",
    "": "this machine",
}


@pytest.mark.parametrize("dsn", SHOWN)
def test_a_server_is_called_by_where_it_is(dsn):
    """Host, port and database are shown, where they can be nothing else."""
    assert str(Server(dsn)) == SHOWN[dsn]


@pytest.mark.parametrize("dsn", ["postgresql://alice@[bad", "postgresql://alice:p%@x/team", "alice:hunter2@x/team"])
def test_what_is_no_address_is_not_repeated(dsn):
    """Whatever it holds, the error does not."""
    with pytest.raises(NotSetUp, match="no address of a Postgres server") as caught:
        Server(dsn)
    assert "alice" not in str(caught.value)


def test_an_address_may_say_otherwise_how_a_dead_connection_is_noticed(database):
    """What the address sets of keepalives holds before what memman sets."""
    dsn = database.role("alice", "memman_writer")
    with closing(Server(f"{dsn} keepalives_idle=77")) as server:
        parameters = server.db.info.get_parameters()
        assert parameters["keepalives_idle"] == "77"
        assert int(parameters["tcp_user_timeout"]) > 0


ELSEWHERE = "0.0.0.0"  # noqa: S104 - it is only called, and no address of loopback
_WANTS_TLS = struct.pack("!I", 80_877_103)
_IN_CLEAR = b"R" + struct.pack("!II", 8, 3)


class Listener:
    """A server that offers TLS if it has a certificate, asks for the password in clear, and keeps what it is sent."""

    def __init__(self, certificate):
        self.certificate, self.sent = certificate, b""
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = Thread(target=self._serve)
        self.thread.start()

    def close(self):
        """End it, whoever it waits for."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()

    def _serve(self):
        while True:
            try:
                line = self.socket.accept()[0]
            except OSError:
                return
            with line, suppress(OSError):
                self._talk(line)

    def _talk(self, line):
        asked = line.recv(8)
        if asked[4:] == _WANTS_TLS and self.certificate:
            line.sendall(b"S")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
            with context.wrap_socket(line, server_side=True) as hidden:
                self._ask(hidden)
        elif asked[4:] == _WANTS_TLS:
            line.sendall(b"N")
            self._ask(line)
        else:
            self.sent += asked
            self._ask(line)

    def _ask(self, line):
        if start := line.recv(4096):
            line.sendall(_IN_CLEAR)
            self.sent += start + line.recv(4096)


@contextmanager
def asked(dsn, error, says, certificate=None):
    """Connect to a listener by `dsn` with its port, expecting an error; give what it was sent."""
    listener = Listener(certificate)
    try:
        with pytest.raises(error, match=says):
            _ = Server(f"{dsn} port={listener.port} user=alice password=hunter2 dbname=team").db
    finally:
        listener.close()
    yield listener.sent


@pytest.mark.parametrize(
    ("dsn", "says"),
    [
        (f"host={ELSEWHERE}", "does not offer TLS"),
        (f"hostaddr={ELSEWHERE} host=localhost", "does not offer TLS"),
        (f"host=/run/none,{ELSEWHERE}", "does not offer TLS"),
        (f"host={ELSEWHERE} sslmode=disable", "asks for the password in clear"),
        (f"host={ELSEWHERE} sslmode=prefer", "asks for the password in clear"),
    ],
)
def test_another_machine_gets_no_password_in_clear(dsn, says):
    """Without TLS nothing is said to it, unless the address allows that; the password is not, whatever it allows."""
    with asked(dsn, ServerRefused, says) as sent:
        assert b"hunter2" not in sent
        assert (b"alice" in sent) == ("sslmode" in dsn)


def test_this_machine_is_asked_as_ever():
    """By loopback a server without TLS gets what it asks for."""
    with asked("host=127.0.0.1", Exception, "closed") as sent:
        assert b"hunter2" in sent


@pytest.mark.skipif(not shutil.which("openssl"), reason="a certificate has to be made")
def test_another_machine_shows_a_certificate_first(tmp_path, monkeypatch):
    """One that no authority known here has signed gets nothing; one whose authority the address names is believed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    made = tmp_path / "certificate"
    names = f"subjectAltName=IP:{ELSEWHERE}"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=here -addext {names} -keyout - -out -"
    made.write_bytes(subprocess.run(command.split(), check=True, capture_output=True).stdout)
    with asked(f"host={ELSEWHERE}", ServerRefused, "no certificate that can be verified", made) as sent:
        assert not sent
    with asked(f"host={ELSEWHERE} sslrootcert={made}", Exception, "SSL error", made) as sent:
        assert b"hunter2" in sent
