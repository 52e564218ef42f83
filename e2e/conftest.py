"""The installed wheel in a fresh environment and a fresh HOME: all that end-to-end tests may use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[1]


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
