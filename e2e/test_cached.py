"""`uvx memman install` and `pipx run memman install`, by the real ones: what they leave outlives their caches."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import attended

SAID = "The web shop is deployed on Fly.io."
ASKED = '{"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Where is the web shop deployed?"}'
# Each is given the wheel; a release is run by its name alone.
RUNNERS = {
    "uvx": lambda wheel: ("uv", "tool", "run", "--python", sys.executable, "--from", str(wheel), "memman"),
    "pipx": lambda wheel: ("pipx", "run", "--python", sys.executable, "--spec", str(wheel), "memman"),
}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(name="environ")
def _environ(tmp_path: Path) -> dict[str, str]:
    """Return the environment of somebody who has uv and pipx, and Claude Code's folder, and no memman."""
    (tmp_path / ".claude").mkdir()
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("uv", "pipx"):
        (tools / name).symlink_to(Path(sys.executable).parent / name)
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    (tmp_path / ".profile").write_text('PATH="$HOME/.local/bin:$PATH"\n')
    path = f"{tmp_path}/.local/bin:{tools}:/usr/local/bin:/usr/bin:/bin"
    return kept | {"PATH": path, "HOME": str(tmp_path), "MEMMAN_DRAIN": "off", "SHELL": "/bin/sh"}


@pytest.mark.parametrize("runner", RUNNERS)
def test_what_it_installs_outlives_the_cache(
    runner: str,
    bin: Path,  # noqa: A002 - the fixture's name
    environ: dict[str, str],
    tmp_path: Path,
) -> None:
    """The cache cleared, hooks recall, shells find memman by its name, and uninstall leaves nothing."""
    cached = RUNNERS[runner](next(bin.parents[1].glob("*.whl")))
    data, home = tmp_path / ".memman", {"env": environ, "cwd": tmp_path}

    def memman(*command: str | Path, **more: str) -> str:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600, **home, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    planned = memman(*cached, "install", "--dry-run", "--target", "claude-code")
    assert f"keep a copy of it in {data}/program" in planned
    assert not (data / "program").exists()
    memman(*cached, "install", "--no-wizard", "--target", "claude-code")
    (copy,) = (data / "program").iterdir()
    memman(*cached, "install", "--no-wizard", "--target", "claude-code")
    assert list((data / "program").iterdir()) == [copy]
    shutil.rmtree(tmp_path / ".cache")

    launcher = data / "bin/memman"
    assert f"program={copy}/bin/memman" in launcher.read_text()
    assert (tmp_path / ".local/bin/memman").resolve() == launcher
    memman(launcher, "remember", SAID)
    memman(launcher, "scheduler", "drain")
    assert SAID in memman(launcher, "hook", "user-prompt", "--host", "claude-code", input=ASKED)
    assert "as a copy of what uvx or pipx ran" in memman(launcher, "self-update")
    checks = ("folder", "launcher", "agents")
    memman(launcher, "doctor", *(word for check in checks for word in ("--check", check)))

    done = attended(["memman", "uninstall"], environ, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert not (data / "program").exists()
    assert not launcher.exists()
    assert not (tmp_path / ".claude/settings.json").exists()


@pytest.mark.parametrize("installer", ["uv tool", "pipx"])
def test_what_is_installed_for_good_stays_where_it_is(
    installer: str,
    bin: Path,  # noqa: A002 - the fixture's name
    environ: dict[str, str],
    tmp_path: Path,
) -> None:
    """No copy is kept of it, and it knows what updates it."""

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(*installer.split(), "install", "--python", sys.executable, next(bin.parents[1].glob("*.whl")))
    run("memman", "install", "--no-wizard", "--target", "claude-code")

    assert not (tmp_path / ".memman/program").exists()
    assert f"to update: {installer} upgrade memman" in run("memman", "self-update")
