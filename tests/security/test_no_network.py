"""Remember, recall, status, prime and the hooks work the same with no network at all, and open no socket."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.support.kinds import KINDS, over

PAYLOAD = '{"session_id": "s", "prompt": "where is billing deployed by the team?"}'
CALLS = (
    ("recall", "where is billing deployed"),
    ("recall", "where is billing deployed", "--json"),
    ("status",),
    ("prime",),
    ("list", "--by-day"),
    *(("hook", event, "--host", "codex") for event in ("session-start", "user-prompt", "stop")),
    ("remember", "The heron is grey."),
)
AUDITED = """
import sys
seen = []
sys.addaudithook(lambda event, _: seen.append(event) if event.startswith("socket.") else None)
from memman._entry import main
code = main()
sys.stdout.flush()
open({report!r}, "a").write(f"{{code}} {{len(seen)}} {{'_socket' in sys.modules}}\\n")
"""


def closed():
    """Return what runs a command where there is no network, not even loopback."""
    for way in (("unshare", "-rn"), ("unshare", "-n")):
        if shutil.which(way[0]) and not subprocess.run([*way, "true"], capture_output=True, check=False).returncode:
            return way
    return pytest.skip("this kernel lets nobody have a network namespace")


@pytest.fixture(name="stored")
def _stored(box, kind):  # noqa: ARG001 - the store is of that kind
    """Give a box with a memory, and with providers configured that nothing may ask."""
    box.remember("Billing is deployed to Fly.io from the main branch.")
    box.drain()
    box.configure(
        LLM_API_KEY="sk-never-sent", EMBED_PROVIDER="openai", EMBED_MODEL="m", EMBED_ENDPOINT="https://x.invalid"
    )
    return box


def steady(done):
    """Return a run's results without what differs from one run to the next: ids and times."""
    return done.returncode, re.sub(r"[0-9a-f]{8,}|\d+[smhd]?(?: ago)?|just now|now", "#", done.stdout), done.stderr


@pytest.mark.promise("S10")
@over(*KINDS)
def test_a_network_that_denies_all_changes_nothing(stored, kept):
    """In a namespace without any interface each verb prints what it prints elsewhere, and the note is queued."""
    before, same = closed(), 0
    for number, call in enumerate(CALLS):
        # Hooks tell a session each memory once: each run is of a session of its own.
        runs = [
            stored.memman(*call, before=way, input=PAYLOAD.replace('"s"', f'"s{number}{len(way)}"'))
            for way in ((), before)
        ]
        assert steady(runs[0]) == steady(runs[1]), call
        assert runs[0].returncode == 0
        same += 1
    assert stored.states()["pending"] + stored.states()["done"] >= 2
    kept(f"{same} commands under a deny-all namespace: {same} unchanged")


@pytest.mark.promise("S10")
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_no_socket_is_opened(stored, tmp_path, call):
    """Python raises no event of a socket, and the hot verbs do not even load the module."""
    report = str(tmp_path / "report")
    command = [sys.executable, "-c", AUDITED.format(report=report), *call]
    done = subprocess.run(command, input=PAYLOAD, env=stored.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with open(report, encoding="utf-8") as said:
        code, events, loaded = said.read().split()
    assert (code, events) == ("0", "0")
    assert loaded == "False" or call[0] not in {"remember", "recall", "hook"}


def test_the_audit_sees_a_socket(tmp_path):
    """The event that the test above counts is raised by whoever opens one."""
    code = "import sys, socket; n = []; sys.addaudithook(lambda e, _: n.append(e)); socket.socket().close(); print(n)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "socket.__new__" in done.stdout
    assert os.path.isdir(tmp_path)
