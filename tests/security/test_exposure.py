"""How much of the machine the drain's unit may touch, by systemd's own measure, and that nothing of memman listens."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memman.scheduler import systemd
from tests.support.box import PATIENCE, wait_until
from tests.support.kinds import KINDS, over
from tests.support.providers import ScriptedProvider

# systemd's scale goes from 0 to 10. Its offline reading takes the unit for root's, which counts for 0.4 of it.
MOST = 2.5
LISTENING = "0A"


def exposure(folder, text):
    """Return what `systemd-analyze security` says of a unit."""
    path = folder / "memman-drain.service"
    path.write_text(text)
    command = ("systemd-analyze", "security", "--offline=yes", "--no-pager", str(path))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout.splitlines()[-1].split(":")[1].split()[0])


@pytest.mark.promise("S14")
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is what measures")
def test_the_drain_s_unit_is_exposed_little(box, standin, tmp_path, kept):
    """With its sandbox the unit stays below the gate; what needs no namespace lowers it where there is none."""
    for name in ("systemctl", "loginctl", "systemd-run"):
        standin(name)
    texts = systemd.rendered(str(box.data))
    bare = "\n".join(texts["memman-drain.service"].splitlines())
    whole = exposure(tmp_path, f"{bare}\n{texts[systemd.SANDBOX]}")
    without = exposure(tmp_path, bare)
    plain = exposure(tmp_path, "[Service]\nType=oneshot\nExecStart=/bin/true\n")
    assert whole <= MOST
    assert without < plain
    kept(f"exposure {whole} of 10 with the sandbox, {without} where no user namespace can be made, {plain} without any")


def sockets(pid):
    """Return the inodes of the sockets that a process has open."""
    found = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        if target.startswith("socket:"):
            found.add(target[8:-1])
    return found


def listening():
    """Return the inodes of all sockets of this machine that wait for somebody to connect."""
    found = set()
    for table in ("tcp", "tcp6"):
        rows = [line.split() for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
        found |= {row[9] for row in rows if row[3] == LISTENING}
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return found | {row[6] for row in rows if int(row[3], 16) & 0x10000}


def family(pid):
    """Return a process and all below it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [str(pid), *(one for child in children for one in family(child))]


# On a slow machine the first call may come late: so many looks wait for it.
_PATIENT_LOOKS = 2_000


@pytest.mark.slow
@pytest.mark.promise("S9")
@over(*KINDS)
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's tables of sockets are Linux'")
def test_nothing_of_memman_listens(box, kind, rounds, kept):
    """There is no page or port to attack: while the loop serves and a drain asks providers, no socket is waiting."""
    looks, open_sockets, seen = 0, 0, set()
    with ScriptedProvider(latency=0.2) as provider:
        box.use(provider)
        loop = box.start(box.script, "scheduler", "serve", "--interval", "1")
        try:
            until = time.monotonic() + rounds(4, 60)
            while time.monotonic() < until or (not open_sockets and looks < _PATIENT_LOOKS):
                if looks % 20 == 0:
                    box.remember(f"Service {looks} listens on port {looks}.")
                ours = set()
                for pid in family(loop.pid):
                    try:
                        ours |= sockets(pid)
                    except OSError:
                        continue
                    seen.add(pid)
                assert not ours & listening()
                open_sockets = max(open_sockets, len(ours))
                looks += 1
                time.sleep(0.02)
            wait_until(lambda: box.states().keys() <= {"done"})
        finally:
            loop.terminate()
            loop.communicate(timeout=PATIENCE)
        assert provider.calls.total()
    assert open_sockets
    kind.agree()
    most = f"{open_sockets} open at most, to provider and server"
    kept(f"{looks} looks at {len(seen)} processes: 0 listening sockets ({most})")
