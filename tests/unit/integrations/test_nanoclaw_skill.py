"""The skill that puts memman into NanoClaw's container image: its scripts, run on a checkout of the same shape."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.box import PATIENCE

SKILL = Path(__file__).parents[3] / "hooks/nanoclaw"
DOCKERFILE = """FROM node:24-trixie-slim
ARG BUN_VERSION=1.3.12
RUN apt-get update && apt-get install -y tini

# ---- Bun runtime -------------------------------------------------------------
RUN install-bun
USER node
ENTRYPOINT ["/usr/bin/tini", "--", "/app/entrypoint.sh"]
"""
ENTRYPOINT = """#!/bin/bash
# The agent container's entrypoint.
set -e

cat > /tmp/input.json

exec bun run /app/src/index.ts < /tmp/input.json
"""


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path) -> Path:
    """Return a checkout that has the skill and a wheel."""
    root = tmp_path / "nano claw"
    (root / "container/memman").mkdir(parents=True)
    (root / "container/memman/memman-1-py3-none-any.whl").touch()
    (root / "container/Dockerfile").write_text(DOCKERFILE)
    (root / "container/entrypoint.sh").write_text(ENTRYPOINT)
    (root / "container/entrypoint.sh").chmod(0o755)
    shutil.copytree(SKILL, root / ".claude/skills/add-memman")
    return root


def apply(checkout: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the skill's script from the checkout."""
    script = ["sh", ".claude/skills/add-memman/apply.sh", *args]
    return subprocess.run(script, cwd=checkout, capture_output=True, text=True, timeout=PATIENCE, check=False)


def files(checkout: Path) -> dict[str, bytes]:
    """Return what the container folder holds."""
    return {str(path): path.read_bytes() for path in (checkout / "container").rglob("*") if path.is_file()}


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, a minute at most."""
    limit = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.05)


@pytest.mark.parametrize("name", ["apply.sh", "memman-start.sh"])
def test_scripts_are_programs_a_plain_sh_can_read(name: str) -> None:
    """Each script parses and may be executed."""
    assert os.access(SKILL / name, os.X_OK)
    subprocess.run(["sh", "-n", SKILL / name], check=True, timeout=PATIENCE)


def test_the_image_gets_memman_and_the_entrypoint_starts_it(checkout: Path) -> None:
    """The part comes before the Bun runtime, the call right after `set -e`, before standard input is read."""
    done = apply(checkout)
    assert done.returncode == 0, done.stderr
    dockerfile = (checkout / "container/Dockerfile").read_text()
    part = (SKILL / "Dockerfile.part").read_text()
    assert dockerfile == DOCKERFILE.replace("# ---- Bun", part + "# ---- Bun")
    assert "MEMMAN_DATA_DIR=/home/node/.claude/" in part
    lines = (checkout / "container/entrypoint.sh").read_text().splitlines()
    assert lines[lines.index("set -e") + 1] == "sh /app/memman-start.sh || true # memman"
    assert stat.S_IMODE((checkout / "container/entrypoint.sh").stat().st_mode) == 0o755
    assert (checkout / "container/memman/memman-start.sh").read_bytes() == (SKILL / "memman-start.sh").read_bytes()


def test_applied_twice_is_applied_once(checkout: Path) -> None:
    """A second run changes nothing, and an older part is replaced by the newer."""
    apply(checkout)
    once = files(checkout)
    again = apply(checkout)
    assert (again.returncode, again.stdout) == (0, "")
    assert files(checkout) == once
    dockerfile = checkout / "container/Dockerfile"
    dockerfile.write_text(dockerfile.read_text().replace("COPY memman/memman-start.sh", "COPY memman/older.sh"))
    apply(checkout)
    assert files(checkout) == once


def test_undo_leaves_the_checkout_as_it_was(checkout: Path) -> None:
    """Both files are byte for byte what they were, and the wheel is gone."""
    apply(checkout)
    assert apply(checkout, "--undo").returncode == 0
    assert (checkout / "container/Dockerfile").read_text() == DOCKERFILE
    assert (checkout / "container/entrypoint.sh").read_text() == ENTRYPOINT
    assert not (checkout / "container/memman").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda root: (root / "container/Dockerfile").unlink(), "root of a NanoClaw checkout"),
        (lambda root: shutil.rmtree(root / "container/memman"), "no wheel"),
        (lambda root: (root / "container/Dockerfile").write_text("FROM scratch\n"), "add Dockerfile.part by hand"),
        (lambda root: (root / "container/entrypoint.sh").write_text("exec bun\n"), "add by hand: sh /app/memman"),
    ],
)
def test_a_checkout_of_another_shape_is_left_alone(checkout: Path, spoil: object, said: str) -> None:
    """One line says what to do, and no file is changed."""
    spoil(checkout)  # type: ignore[operator]
    before = files(checkout)
    done = apply(checkout)
    assert done.returncode == 1
    assert said in done.stderr
    assert files(checkout) == before


@pytest.mark.slow
def test_the_container_starts_with_memman_wired_and_drained(tmp_path: Path) -> None:
    """Hooks are wired, drains run, the shared store is linked, nothing reaches standard output or is read from it."""
    home = tmp_path / "home"
    shared = tmp_path / "global/memman"
    shared.mkdir(parents=True)
    (shared / "memman.db").touch()
    (home / ".claude").mkdir(parents=True)
    env = {"HOME": str(home), "MEMMAN_GLOBAL": str(shared), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    run = {"env": env, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.PIPE}
    script = ["sh", "-c", f'"{SKILL}/memman-start.sh"; cat', "entrypoint"]
    with subprocess.Popen(script, **run, start_new_session=True, text=True) as started:  # type: ignore[call-overload]
        try:
            assert started.stdin
            assert started.stdout
            started.stdin.write("the host's hand-shake")
            started.stdin.close()
            assert started.stdout.read() == "the host's hand-shake"
            data = home / ".claude/memman"
            settings = json.loads((home / ".claude/settings.json").read_text())
            [group] = settings["hooks"]["UserPromptSubmit"]
            assert f"{data}/bin/memman" in group["hooks"][0]["command"]
            assert (data / "data/global").resolve() == shared
            until(lambda: "kind=serve" in (data / "schedule").read_text())
            text = (home / ".claude/settings.json").read_bytes()
            again = subprocess.run(
                [SKILL / "memman-start.sh"], env=env, capture_output=True, timeout=PATIENCE, check=True
            )
            assert again.stdout == b""
            assert (home / ".claude/settings.json").read_bytes() == text
            note = ["memman", "remember", "The staging database is Postgres 16."]
            subprocess.run(
                note, env=env | {"MEMMAN_DATA_DIR": str(data)}, check=True, timeout=PATIENCE, capture_output=True
            )
            until((data / "data/default/memman.db").exists)
        finally:
            os.killpg(started.pid, signal.SIGKILL)


def test_an_image_without_memman_still_starts(tmp_path: Path) -> None:
    """The script says so on standard error and succeeds."""
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [SKILL / "memman-start.sh"], env=env, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert (done.stdout, "not in this image" in done.stderr) == ("", True)
