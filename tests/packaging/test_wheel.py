"""What the wheel carries."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="wheel", scope="module")
def _wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel as a release would and open it."""
    place = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    return zipfile.ZipFile(next(place.glob("*.whl")))


@pytest.mark.parametrize("folder", ["hooks", "systemd", "launchd"])
def test_it_carries_what_install_lays_down(wheel: zipfile.ZipFile, folder: str) -> None:
    """Every file of hooks, systemd and launchd is in the wheel, byte for byte."""
    sources = [path for path in (ROOT / folder).rglob("*") if path.is_file()]

    assert sources
    for path in sources:
        assert wheel.read(f"memman/share/{path.relative_to(ROOT)}") == path.read_bytes()


def test_it_carries_the_table_and_the_prompts(wheel: zipfile.ZipFile) -> None:
    """The embedding table and the prompts are data the code cannot do without."""
    names = wheel.namelist()

    assert "memman/embed/static.db" in names
    assert {"memman/pipeline/prompts/extract.md", "memman/pipeline/prompts/reconcile.md"} <= set(names)


def test_it_carries_the_judge_and_stays_small(wheel: zipfile.ZipFile) -> None:
    """The judge's weights are in it, and all of it is 40 MB at most."""
    names = ("judge.safetensors", "memory.safetensors", "vocabulary.txt", "manifest.json", "heads.json")
    assert {f"memman/judge/{name}" for name in names} <= set(wheel.namelist())
    assert sum(entry.compress_size for entry in wheel.infolist()) <= 40_000_000


def test_no_wheel_is_built_without_its_weights(tmp_path: Path) -> None:
    """Where a file that was trained is missing, the build fails and names it."""
    weights = ["embed/static.db", "judge/judge.safetensors", "judge/memory.safetensors", "judge/heads.json"]
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE", "memman/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)

    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", tmp_path]
    built = subprocess.run(build, check=False, capture_output=True, text=True)

    assert built.returncode != 0
    assert [name for name in weights if f"memman/{name}" not in built.stdout + built.stderr] == []


def test_it_installs_one_package_and_one_script(wheel: zipfile.ZipFile) -> None:
    """Nothing but the package memman and the script memman is laid down; tests and tools stay out."""
    tops = {name.split("/")[0] for name in wheel.namelist()}
    scripts = [name for name in wheel.namelist() if ".data/scripts/" in name]

    assert {top for top in tops if not top.startswith("memman-")} == {"memman"}
    assert [name.rsplit("/", 1)[1] for name in scripts] == ["memman"]
    assert wheel.read(scripts[0]).startswith(b"#!python\n")


def test_it_carries_the_licences(wheel: zipfile.ZipFile) -> None:
    """The licence, and the notice for the derived table, travel with it."""
    assert {name.rsplit("/", 1)[1] for name in wheel.namelist() if "/licenses/" in name} == {"LICENSE", "NOTICE"}


@pytest.mark.slow
@pytest.mark.promise("S16")
def test_two_builds_are_one_wheel(tmp_path: Path, kept: Callable[[str], None]) -> None:
    """Built twice, from copies with other times and under another umask, the bytes are the same."""
    digests = set()
    for number, umask in enumerate((0o022, 0o077)):
        copy = tmp_path / f"copy{number}"
        wanted = [
            *("memman", "hooks", "systemd", "launchd", "scripts"),
            *("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE"),
        ]
        for name in wanted:
            source, target = ROOT / name, copy / name
            target.parent.mkdir(exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copy)
            else:
                shutil.copy(source, target)
        build = [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            tmp_path / f"dist{number}",
            copy,
        ]
        env = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        subprocess.run(build, check=True, capture_output=True, umask=umask, env=env)
        built = next((tmp_path / f"dist{number}").glob("*.whl"))
        digests.add((built.name, hashlib.sha256(built.read_bytes()).hexdigest()))
    assert len(digests) == 1
    kept(f"2 builds: {len(digests)} wheel, sha256 {next(iter(digests))[1][:12]}")
