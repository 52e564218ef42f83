"""The real clients, as the npm registry has them, in a cache that outlives a test run; as a program, fills it."""

import json
import os
import shutil
import subprocess
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from filelock import FileLock

WANTED = Path(__file__).with_name("package.json")
QUIET = (
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    "--no-update-notifier",
    "--omit=dev",
    "--loglevel=error",
    "--fetch-retries=1",
)
SCRIPTED = ("@anthropic-ai/claude-code", "opencode-ai")
LIMIT = 900.0  # seconds: a registry that hangs, not a machine with other work


class Unavailable(Exception):
    """The clients cannot be installed here; the message says in one line why."""


def cache() -> Path:
    """Return the folder that holds what was installed."""
    above = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("MEMMAN_E2E_CACHE") or f"{above}/memman-e2e").expanduser()


def versions() -> dict[str, str]:
    """Return the pinned version of each package."""
    return dict(json.loads(WANTED.read_text())["dependencies"])


def clients() -> str:
    """Return a PATH that has the clients and their node, installing them when they are not there yet."""
    place = cache() / blake2b(WANTED.read_bytes(), digest_size=6).hexdigest()
    place.mkdir(parents=True, exist_ok=True)
    path = f"{place}/node/node_modules/.bin:{place}/node_modules/.bin"
    with FileLock(place / "lock"):
        if not (place / "whole").exists():
            _node(place / "node")
            shutil.copy(WANTED, place)
            # Other scripts would fetch headers and compile; these two find the program for this machine.
            _npm(place, path, "install", "--ignore-scripts", *QUIET)
            _npm(place, path, "rebuild", "--foreground-scripts", *SCRIPTED)
            (place / "whole").touch()
    return f"{path}:/usr/bin:/bin"


def _node(place: Path) -> None:
    """Install the pinned node: a distribution's own is too old for some of the clients."""
    place.mkdir(exist_ok=True)
    (place / "package.json").write_text('{"private": true}')
    _npm(place, "", "install", *QUIET, f"node@{json.loads(WANTED.read_text())['engines']['node']}")


def _npm(place: Path, path: str, *words: str) -> None:
    npm = shutil.which("npm")
    if not npm:
        raise Unavailable("npm is not installed")
    environ = os.environ | {"PATH": f"{path}:{os.environ['PATH']}"}
    command = [npm, *words]
    try:
        done = subprocess.run(
            command, cwd=place, env=environ, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm {words[0]} took more than {LIMIT:.0f} s") from None
    if done.returncode:
        raise Unavailable(f"npm {words[0]} failed: {' '.join(done.stderr.split())[:300]}")


if __name__ == "__main__":
    with suppress(Unavailable):  # the tests say so
        clients()
