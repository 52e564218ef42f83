"""A database of one server for all tests of a run, and a fresh store of each kind."""

from collections.abc import Callable, Iterator

import pytest

from tests.support.postgres import Cluster, Database
from tests.support.stores import KINDS, Subject, made


@pytest.fixture(scope="session")
def team(cluster: Cluster) -> Iterator[Database]:
    """Give a database with memman's tables."""
    with cluster.memman() as database:
        yield database


@pytest.fixture(scope="session")
def admin(team: Database) -> str:
    """Give the address of whoever owns the server."""
    return team.address


@pytest.fixture(scope="session")
def dsn(team: Database) -> str:
    """Give the address of a plain role, whom row-level security binds."""
    return team.role("member", "memman_writer")


@pytest.fixture
def fresh(dsn: str) -> Iterator[Callable[[str], Subject]]:
    """Make stores for one test."""
    with made(dsn) as make:
        yield make


@pytest.fixture(params=KINDS)
def store(request, fresh):
    """Give a store of each kind in turn."""
    return fresh(request.param)
