"""Which wheel a system takes, and that all of what it asks for is to be had there. Needs the package registry."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(name="dist", scope="module")
def _dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both wheels as a release does."""
    place = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place, ROOT]
    for which in ({}, {"MEMMAN_WHEEL": "any"}):
        subprocess.run(build, check=True, capture_output=True, env=os.environ | which)
    return place


def asked(wheel: Path) -> set[str]:
    """Return the names of what a wheel depends on, its extras apart."""
    with zipfile.ZipFile(wheel) as opened:
        name = next(name for name in opened.namelist() if name.endswith("/METADATA"))
        lines = opened.read(name).decode().splitlines()
    wanted = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    return {one.split(">")[0] for one in wanted if "extra ==" not in one}


def fetched(place: Path, *args: str | Path, platform: str) -> set[str]:
    """Have pip fetch for another system; return the names of the wheels."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", place, "--only-binary=:all:"]
    done = subprocess.run(
        [*command, "--python-version", VERSION, "--platform", platform, *args],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {path.name for path in place.iterdir()}


@pytest.mark.slow
def test_the_wheels_differ_in_one_dependency(dist: Path) -> None:
    """The wheel for the systems that sqlite-vec is built for asks for it, the other for the rest."""
    anywhere, built = sorted(dist.iterdir(), key=lambda path: len(path.name))
    assert anywhere.name.endswith("-py3-none-any.whl")
    assert asked(built) - asked(anywhere) == {"sqlite-vec"}
    assert asked(anywhere) > {"apsw", "numpy", "click"}


SYSTEMS = {
    "manylinux_2_17_x86_64": True,
    "manylinux_2_17_aarch64": True,
    "macosx_11_0_arm64": True,
    "musllinux_1_2_x86_64": False,
    "musllinux_1_2_aarch64": False,
    "linux_riscv64": False,
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_takes_the_wheel_that_fits(dist: Path, tmp_path: Path, system: str) -> None:
    """Where both are offered, the tags decide."""
    offered = ("--no-index", "--no-deps", "--find-links", dist, "memman")
    (name,) = fetched(tmp_path, *offered, platform=system)
    assert name.endswith("-any.whl") is not SYSTEMS[system]


def test_all_of_it_is_to_be_had_on_alpine(dist: Path, tmp_path: Path) -> None:
    """What the wheel for any system asks for, and what that asks for, has a wheel for musl."""
    wheel = next(dist.glob("*-any.whl"))
    names = fetched(tmp_path, wheel, platform="musllinux_1_2_x86_64")
    assert {name.split("-")[0] for name in names} >= {"memman", "apsw", "numpy", "click", "httpx"}
    assert not [name for name in names if name.startswith("sqlite_vec")]
