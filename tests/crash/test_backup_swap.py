"""A store put in its place by a restore: kills and errors at every renaming."""

import itertools
import os
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory

import pytest

from memman.model.errors import CannotWrite
from memman.recovery.backup import take
from memman.recovery.restore import restore
from memman.recovery.swap import finish, unsettled
from tests.support.box import PATIENCE

MEMORY = "/dev/shm"  # noqa: S108 - where there is one, another disk than that of tests
ASIDE = "store-1-20261121T120000Z"
# A process that is struck at a renaming, by itself: Python tells its audit hooks of each.
STRUCK = f"""
import os, signal, sys
from memman.recovery.swap import put
data, how, left = sys.argv[1], sys.argv[2], int(sys.argv[3])
def hook(event, args):
    global left
    left -= event == "os.rename"
    if event == "os.rename" and left == 0:
        if how == "error":
            raise OSError(5, "it is broken")
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
put(data, "store-1", data + "/removed/{ASIDE}")
"""
# The same for a whole restore, as the new store is about to take its place.
RESTORE = """
import os, signal, sys
from memman.recovery.restore import restore
data, how, strikes = sys.argv[1], sys.argv[2], 1
def hook(event, args):
    global strikes
    if event == "os.rename" and args[1] == data + "/data/default" and strikes:
        strikes = 0
        if how == "error":
            raise OSError(5, "it is broken")
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
restore(data, "latest")
"""


def folder(path, content):
    """Make a store's folder."""
    path.mkdir(0o700, parents=True, exist_ok=True)
    (path / "memman.db").write_text(content)


def content(data):
    """Return what lies where below the data folder."""
    files = [path for top in ("data", "removed") for path in (data / top).rglob("*") if path.is_file()]
    return {str(path.parent.relative_to(data)): path.read_text() for path in files}


def struck(data, how, number):
    """Put a store in its place, and strike at a renaming; return whether that was reached."""
    code = [sys.executable, "-c", STRUCK, str(data), how, str(number)]
    done = subprocess.run(code, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode in {0, 1, -signal.SIGKILL}, done.stderr
    assert how == "kill" or done.returncode == 0 or "it is broken" in done.stderr, done.stderr
    return done.returncode != 0


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "error"])
@pytest.mark.parametrize("there", [True, False])
def test_a_store_that_is_being_put_in_its_place_is_never_lost(tmp_path, how, there):
    """Struck at any renaming, the old store or the new is in force once it is settled, and the old one is kept."""
    old = {"data/store-1": "old"} if there else {}
    new = {"data/store-1": "new"} | ({f"removed/{ASIDE}": "old"} if there else {})
    for number in itertools.count(1):
        data = tmp_path / str(number)
        folder(data / "removed/.restoring-store-1", "new")
        if there:
            folder(data / "data/store-1", "old")
        hit = struck(data, how, number)
        if there and how == "error":
            assert content(data).get("data/store-1") in {"old", "new"}, number
        finish(str(data))
        assert content(data) in ((old, new) if hit else (new,)), number
        assert unsettled(str(data)) == []
        if not hit:
            break
    assert number > 3


@pytest.mark.slow
def test_a_restore_that_fails_or_dies_with_no_store_in_place_takes_nothing_away(box):
    """After an error the old store is there as it was; after a kill doctor says so, and the next drain ends it."""
    kept, forgotten = box.remember("Vite builds the frontend."), box.remember("Redis caches the invoices.")
    box.drain()
    take(str(box.data))
    assert box.memman("forget", forgotten).returncode == 0
    since = box.remember("Nginx serves the pages.")
    box.drain()
    told = [(kept, "current"), (forgotten, "forgotten")]
    for how, store in (("error", [*told, (since, "current")]), ("kill", told)):
        process = box.start(sys.executable, "-c", RESTORE, str(box.data), how)
        err = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == {"error": 1, "kill": -signal.SIGKILL}[how], err
        if how == "kill":
            assert os.listdir(box.data / "data") == []
            assert "a restore was interrupted" in box.memman("doctor", "--check", "backups").stdout
            assert box.memman("scheduler", "drain", "--wait").returncode == 0
        assert box.store("SELECT note, status FROM memory ORDER BY id") == store
        assert unsettled(str(box.data)) == []
        assert box.memman("doctor", "--check", "backups").returncode == 0


def test_a_folder_on_another_disk_is_told_before_anything_is_changed(box):
    """Where `removed` leads elsewhere neither the queue nor a store changes, and nothing is left there."""
    waiting = box.remember("Vite builds the frontend.")
    take(str(box.data))
    box.drain()
    box.queue("DELETE FROM note")
    with TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as other:
        if os.stat(other).st_dev == os.stat(box.data).st_dev:
            pytest.skip("there is one disk only")
        (box.data / "removed").symlink_to(other)
        with pytest.raises(CannotWrite, match="another disk"):
            restore(str(box.data), "latest")
        assert os.listdir(other) == []
    assert box.queue("SELECT uid FROM note") == []
    assert box.store("SELECT note FROM memory") == [waiting]
