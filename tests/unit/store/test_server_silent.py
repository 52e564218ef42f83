"""A server of a shared store that falls silent amid a connection: it counts as out of reach, and others are drained."""

from contextlib import closing

import pytest

from memman.model.errors import NoServer
from memman.store.postgres import server as postgres
from memman.store.postgres.server import Server
from tests.support.machines import done, to_server
from tests.support.proxy import proxied

FACT = "The lighthouse lamp is serviced every May."
# Seconds of silence that a test waits for, where the server may be slow to answer.
SILENCE_S = 1.5


@pytest.fixture
def proxy(database, monkeypatch):
    """Give a way to the server that may fall silent, which is noticed soon."""
    monkeypatch.setattr(postgres, "SILENCE_S", SILENCE_S)
    with proxied(int(Server(database.role("alice", "memman_writer")).parameters["port"])) as made:
        yield made


@pytest.fixture
def shared(box, database, proxy):
    """Give a box whose default store is on the server behind the proxy, beside a store of its own."""
    done(box, "store", "create", "own")
    box.remember(FACT)
    box.drain()
    to_server(box, database.dsn("alice", port=proxy.port))
    return box


@pytest.mark.parametrize("after", [0, 1_500])
def test_a_drain_goes_on_without_a_server_that_says_nothing(shared, proxy, after):
    """Notes are stored meanwhile, and once it speaks it hears of each once."""
    shared.remember("The tide table hangs in the hall.")
    shared.remember("The boathouse key is under the third step.", store="own")
    proxy.hush(after)
    report = shared.drain()
    assert (report.done, report.failed, report.exit_code) == (2, 0, 17)
    assert shared.recall("boathouse key", store="own")
    assert "out of reach: this is what it had" in shared.memman("recall", "lighthouse lamp").stderr
    proxy.relay()
    assert shared.drain().exit_code == 0
    assert shared.store("SELECT text FROM memory ORDER BY id") == [FACT, "The tide table hangs in the hall."]
    assert not shared.memman("recall", "lighthouse lamp").stderr


@pytest.mark.parametrize("after", range(400, 4_000, 400))
def test_wherever_it_falls_silent_a_note_is_there_once(shared, proxy, database, after):
    """Amid an exchange, at its end or after it: both sides have each record once when it speaks again."""
    shared.remember("The tide table hangs in the hall.")
    proxy.hush(after)
    assert shared.drain().failed == 0
    proxy.relay()
    assert shared.drain().exit_code == 0
    assert shared.store("SELECT text FROM memory ORDER BY id") == [FACT, "The tide table hangs in the hall."]
    records = "SELECT n, memory, kind FROM {}record ORDER BY n"
    assert shared.store(records.format("")) == database.sql(records.format("memman."))
    assert shared.states() == {"done": 2}


def test_a_connection_is_given_up_where_nothing_comes(database, monkeypatch):
    """A server that works for longer than that on a question is out of reach, and the next question connects again."""
    monkeypatch.setattr(postgres, "SILENCE_S", 0.5)
    with closing(Server(database.role("alice", "memman_writer"))) as server:
        with pytest.raises(NoServer, match="out of reach"), server.translated():
            server.db.execute("SELECT pg_sleep(60)")
        assert server.known.role.endswith("alice")
