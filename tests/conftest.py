"""Fixtures that all tests share: `box` is a data folder of the test's own, in a scrubbed environment."""

import os
import shutil

import pytest

from tests.support.box import SCRUBBED, Box, Standin


@pytest.fixture(scope="session")
def judge():
    """Give the judge that is shipped, loaded once."""
    from memman.judge.judge import Judge

    return Judge()


@pytest.fixture
def unjudged(monkeypatch):
    """Have the judge of this process find that nothing said bears on anything else: what is alike stays apart."""
    from memman.judge.judge import Judge, Relation

    apart = Relation(1, 0, 0, 0, 0)
    monkeypatch.setattr(Judge, "compared", lambda _, groups, most=None: [[apart] * len(olds) for _, olds in groups])  # noqa: ARG005


@pytest.fixture
def box(tmp_path, monkeypatch):
    """Give a data folder of its own to this test, in the environment of this process too."""
    for name in list(os.environ):
        if name.startswith(SCRUBBED):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    # Tests say themselves when a drain runs.
    monkeypatch.setenv("MEMMAN_DRAIN", "off")
    # A hook that the machine holds up has not failed; what happens then tests/unit/hot/test_late.py tries.
    monkeypatch.setenv("MEMMAN_HOOK_LIMIT", "30")
    # No test may reach the service manager of whoever runs it.
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/runtime/bus")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("MEMMAN_DATA_DIR", str(tmp_path / "memman"))
    return Box(tmp_path / "memman", dict(os.environ))


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """Fill a box as was done before: `filled(box, fill)` calls `fill(box)` once, and each time gives what that made."""
    made = {}

    def copied(box, fill):
        if fill not in made:
            fill(box)
            made[fill] = tmp_path_factory.mktemp("filled") / "memman"
            shutil.copytree(box.data, made[fill])
        else:
            shutil.copytree(made[fill], box.data)
        return box

    return copied


@pytest.fixture
def standin(tmp_path, monkeypatch, box):
    """Put programs of our own before the system's: `standin(name, script)`."""
    monkeypatch.setenv("PATH", f"{tmp_path}/standins:{os.environ['PATH']}")
    box.environ["PATH"] = os.environ["PATH"]
    return lambda name, script="": Standin(tmp_path / "standins", name, script)


@pytest.fixture(scope="session")
def cluster():
    """Give a Postgres server."""
    from tests.support.postgres import running

    with running() as made:
        yield made


@pytest.fixture
def database(cluster):
    """Give a database with memman's tables."""
    with cluster.memman() as made:
        yield made


@pytest.fixture
def dsn(database):
    """Give the address of a database with memman's tables, for a person who may write."""
    return database.role("alice", "memman_writer")


@pytest.fixture
def kind(request, box):
    """Have the default store of the box be of a kind, by itself unless the test is `over` others."""
    from tests.support.kinds import made

    return made(getattr(request, "param", "sqlite"), box, request.getfixturevalue)


@pytest.fixture
def home(box, tmp_path):
    """Give a data folder of its own to each person or machine: `home(name)`."""

    def made(name):
        data = tmp_path / name / "memman"
        (tmp_path / name).mkdir(exist_ok=True)
        environ = box.environ | {"HOME": str(tmp_path / name), "MEMMAN_DATA_DIR": str(data)}
        return Box(data, environ)

    return made
