"""A real client in a container-like root: no service manager, no bus, an empty /run, processes of its own."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp

import pytest
from clients import CLAUDE_CODE, LIMIT, Desk
from model_server import ModelServer

# The first process, like a container's: it reaps what it inherits, and reads until it is told to end.
INIT = "mount -t tmpfs tmpfs /run && echo up && while read -r _; do :; done"
NAMESPACES = ("unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc")
# Somebody without an entry in passwd, who may read what the tests have put into folders of root's.
NOBODY = 4711
READS = "+dac_read_search"
PERSONS = {
    "root": (),
    "no entry in passwd": (
        *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *("--inh-caps", READS, "--ambient-caps", READS),
    ),
}
CORRECTION, QUESTION, MARK = (
    "No, the billing service runs on Nomad, not on Kubernetes.",
    "Which host runs the billing service?",
    "Nomad",
)


@dataclass(frozen=True)
class Container:
    """A root without a service manager, and somebody in it with a HOME and memman installed."""

    enter: tuple[str, ...]
    home: Path
    program: Path

    def run(self, *words: str) -> str:
        """Run a command in it, and return what it printed."""
        environ = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        command = (*self.enter, *words)
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def memman(self, *words: str) -> str:
        """Run memman in it."""
        return self.run(str(self.program), *words)

    def stored(self) -> list[str]:
        """Return what recall shows of what is stored."""
        hits = json.loads(self.memman("recall", "--json", QUESTION))["hits"]
        return [hit["text"] for hit in hits if not hit["pending"]]


def lacking() -> str:
    """Say what keeps the container from being made here, '' for nothing."""
    if os.geteuid() != 0:
        return "the container needs root"
    missing = [program for program in ("unshare", "nsenter", "setpriv") if not shutil.which(program)]
    if missing:
        return f"{', '.join(missing)} missing"
    tried = subprocess.run((*NAMESPACES, "mount", "-t", "tmpfs", "tmpfs", "/run"), capture_output=True, check=False)
    return tried.stderr.decode().strip()


@pytest.fixture(name="container", params=PERSONS)
def _container(request: pytest.FixtureRequest, bin: Path) -> Iterator[Container]:  # noqa: A002
    if why := lacking():
        pytest.skip(why)
    person = PERSONS[request.param]
    # Below what anybody may pass through.
    home = Path(mkdtemp(prefix="memman-home-", dir="/var/tmp"))
    (home / "proj").mkdir(mode=0o700)
    for folder in (home, home / "proj") if person else ():
        os.chown(folder, NOBODY, NOBODY)
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen((*NAMESPACES, "bash", "-c", INIT), text=True, **streams) as outer:
        try:
            assert outer.stdout is not None
            assert outer.stdout.readline() == "up\n"
            first = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().strip()
            enter = ("/usr/bin/nsenter", f"--target={first}", "--mount", "--pid", "--ipc", *person)
            yield Container(enter, home, bin / "memman")
        finally:
            with suppress(ProcessLookupError):
                outer.send_signal(signal.SIGKILL)
            outer.wait()
            shutil.rmtree(home, ignore_errors=True)


def test_a_turn_is_stored_without_any_service_manager(container: Container, path: str) -> None:
    """Installed, a correction is told to Claude Code, and recall shows it stored; nothing is left that runs."""
    assert "each write starts a drain" in container.memman("install", "--no-wizard", "--target", "claude-code")
    assert "by each write" in container.memman("scheduler", "status")
    assert "each write starts a drain" in container.memman("doctor", "--check", "scheduler")
    with ModelServer() as model:
        client = replace(CLAUDE_CODE, argv=(*container.enter, *CLAUDE_CODE.argv))
        desk = Desk(client, container.home, path, model)
        desk.prepare()
        turn = desk.ask(CORRECTION)
        assert turn.code == 0, turn.errors
        ended = time.monotonic()
        while not (stored := container.stored()):
            assert time.monotonic() < ended + LIMIT, "waited in vain"
        print(f"stored {time.monotonic() - ended:.1f} s after the client ended")
        assert MARK in stored[0]
        assert MARK in desk.ask("What does the billing service run on?").whole
    # Neither a drain nor one that has ended and that the first process has not reaped.
    while "--handed" in (running := container.run("ps", "-eo", "stat=,args=")) or "<defunct>" in running:
        assert time.monotonic() < ended + LIMIT, running
