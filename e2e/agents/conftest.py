"""Real clients, a fresh HOME, the installed wheel, and a loopback model for each."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import registry
from clients import CLIENTS, Desk, left
from house import House, installed
from model_server import ModelServer


@pytest.fixture(name="path", scope="session")
def _path() -> str:
    """Return a PATH with the real clients; where they cannot be had, say so, in the gate as a failure."""
    try:
        return registry.clients()
    except registry.Unavailable as why:
        said = f"not tried with {', '.join(CLIENTS)}: {why}"
        if os.environ.get("MEMMAN_NOTHING_SKIPPED"):
            pytest.fail(said)
        pytest.skip(said)


@pytest.fixture(name="house", scope="module")
def _house(bin: Path, path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:  # noqa: A002
    """Return a house; the programs it installs may be broken or removed without harm to others."""
    home = tmp_path_factory.mktemp("home")
    with ExitStack() as models:
        desks = {
            name: Desk(client, home, path, models.enter_context(ModelServer())) for name, client in CLIENTS.items()
        }
        house = House(home, installed(bin, home), desks)
        house.wire()
        try:
            yield house
        finally:
            for process in left(home):
                os.kill(process, signal.SIGKILL)
