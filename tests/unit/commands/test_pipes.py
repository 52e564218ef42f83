"""A named pipe in the place of a file of ours is named or done without; nothing waits for somebody to write into it."""

import os
import subprocess

import pytest

from memman.config.places import open_file, read_file, write_file
from memman.model.errors import CannotWrite
from memman.scheduler.manager import lay
from tests.support.box import PATIENCE, wait_until

# Far longer than any of these takes, far shorter than the patience of who calls them.
FILES = (
    "env",
    "schedule",
    "active",
    "queue.db",
    "queue.db-journal",
    "data/default/memman.db",
    "shown.log",
    "shown.log.taken",
    "logs/worker.jsonl",
    "bin/memman",
    "doorbell",
    "heartbeat",
    "drain.lock",
    "serve.lock",
)
VERBS = (
    ("doctor", "--json"),
    ("remember", "The ibis nests too."),
    ("recall", "heron"),
    ("scheduler", "status"),
    ("log", "worker"),
    ("status",),
    ("scheduler", "drain"),
)
# Exit codes that say what is wrong: doctor's own, and that of a file that could not be used.
HONEST = {0, 1, 74}


@pytest.mark.parametrize("name", FILES)
def test_no_verb_waits_for_a_pipe(box, name):
    """Every verb comes to its end, doctor too."""
    box.remember("The heron nests.")
    box.drain()
    box.recall("heron")
    (box.data / "bin").mkdir(mode=0o700, exist_ok=True)
    (box.data / name).unlink(missing_ok=True)
    os.mkfifo(box.data / name, 0o600)
    for verb in VERBS:
        done = box.memman(*verb)
        assert done.returncode in HONEST, done.stderr
        assert "Traceback" not in done.stderr


def test_what_is_no_regular_file_is_not_read(tmp_path):
    """A pipe, a folder, a device and a socket are refused by name; an empty place and a plain file are as ever."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "plain").write_text("said")
    for name in ("pipe", "folder", "zero"):
        with pytest.raises(CannotWrite, match=f"{name} could not be read .it is not a regular file"):
            read_file(str(tmp_path / name))
    assert read_file(str(tmp_path / "plain")) == "said"
    assert read_file(str(tmp_path / "none")) == ""


def test_nothing_is_written_into_a_pipe(tmp_path):
    """Neither one that nobody reads nor one that somebody does."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe"):
        open_file(str(tmp_path / "pipe"), os.O_WRONLY)
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(OSError, match="not a regular file"):
            open_file(str(tmp_path / "pipe"), os.O_WRONLY)
    finally:
        os.close(reader)


def test_what_is_replaced_is_a_regular_file(tmp_path):
    """A pipe, a folder and a link to either stay what they are; a link to a file of one's own is written through."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("old")
    for name in ("pipe", "folder", "plain"):
        (tmp_path / f"to-{name}").symlink_to(name)
    for name in ("pipe", "folder", "to-pipe", "to-folder"):
        with pytest.raises(CannotWrite, match=f"{name} could not be written .it is not a regular file"):
            write_file(str(tmp_path / name), "new")
    assert (tmp_path / "pipe").is_fifo()
    write_file(str(tmp_path / "to-plain"), "new")
    assert (tmp_path / "to-plain").is_symlink()
    assert (tmp_path / "plain").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 6


def test_an_export_goes_into_a_pipe_and_to_a_terminal(box, tmp_path):
    """A pipe and a device get the lines and stay what they are, also by a link: nothing is put in their place."""
    box.remember("The heron nests.")
    box.drain()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE, text=True)
        try:
            assert box.memman("export", str(tmp_path / name)).returncode == 0
            assert (tmp_path / "pipe").is_fifo()
            assert "The heron nests." in reader.communicate(timeout=PATIENCE)[0]
        finally:
            reader.kill()
    mine, device = os.openpty()
    try:
        assert box.memman("export", os.ttyname(device)).returncode == 0
        assert b"memman" in os.read(mine, 4096)
    finally:
        os.close(mine)
        os.close(device)


def test_a_unit_that_is_masked_or_a_pipe_stays_so(tmp_path):
    """Install neither lifts a mask that a person set nor waits for a pipe; it writes nothing then."""
    (tmp_path / "b.timer").symlink_to(os.devnull)
    texts = {"a.service": "text", "b.timer": "text"}
    with pytest.raises(CannotWrite, match="is masked: run systemctl --user unmask"):
        lay(str(tmp_path), texts)
    assert not (tmp_path / "a.service").exists()
    (tmp_path / "b.timer").unlink()
    os.mkfifo(tmp_path / "b.timer")
    with pytest.raises(CannotWrite, match="not a regular file"):
        lay(str(tmp_path), texts)
    assert (tmp_path / "b.timer").is_fifo()


def test_a_drain_that_meets_a_pipe_still_hears_a_signal(box):
    """A pipe where the record of what was shown should be neither delays a drain nor its end."""
    box.remember("The heron nests.")
    os.mkfifo(box.data / "shown.log", 0o600)
    drain = box.start_drain()
    try:
        wait_until(lambda: drain.poll() is not None)
    except AssertionError:
        drain.terminate()
        raise
    finally:
        drain.communicate(timeout=PATIENCE)
    assert drain.returncode == 0
    assert box.states() == {"done": 1}
    assert not (box.data / "shown.log").exists()
