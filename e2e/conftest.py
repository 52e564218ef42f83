"""The installed wheel in a fresh environment and a fresh HOME: all that end-to-end tests may use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parents[1]
# What continuous integration sets says that nobody is there; tests that mean it set it themselves.
os.environ.pop("CI", None)
# Files each of whose tests has all it needs to itself; the longest come first, so that the workers end together.
APART = ("test_systemd.py", "test_as_model.py")


class Files(LoadScopeScheduling):
    """Has one worker take a whole file, for what its tests share, and any worker a test of those that stand apart."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if file.endswith(APART) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Files:
    """Hand tests to workers as above."""
    return Files(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put those that stand apart first."""
    order = {name: place for place, name in enumerate(APART)}
    items.sort(key=lambda item: order.get(item.path.name, len(APART)))


@pytest.fixture(name="bin", scope="session")
def _bin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, install it into an environment of its own, and return that environment's bin folder.

    Workers that run at once share it.
    """
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "installed"
    with FileLock(f"{place}.lock"):
        if not (place / "whole").exists():
            build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place, ROOT]
            subprocess.run(build, check=True, capture_output=True)
            subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
            wheel = next(place.glob("*.whl"))
            subprocess.run([place / "venv/bin/python", "-m", "pip", "install", "--quiet", wheel], check=True)
            (place / "whole").touch()
    return place / "venv/bin"


@pytest.fixture(name="user", scope="module")
def _user(bin: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:  # noqa: A002 - the fixture's name
    """Return the environment of somebody who has just installed memman, and says when a drain runs."""
    home = str(tmp_path_factory.mktemp("home"))
    return {"PATH": f"{bin}:{os.environ['PATH']}", "HOME": home, "MEMMAN_DRAIN": "off"}
