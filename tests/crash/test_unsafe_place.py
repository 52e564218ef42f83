"""Where SQLite's log is not safe nothing is written: shared file systems, and a second kernel on the same files.

Whole processes are shown another mount table, boot or machine by mounts of their own in a namespace of their own.
"""

import json
import os
import shlex
import shutil
import subprocess
import time
import uuid

import pytest

from memman.config import filesystem
from memman.config.filesystem import Kernel, file_system, refuse_shared, second, shared, this_kernel
from memman.config.schedule import heartbeat_path
from memman.model.errors import UnsafePlace

REFUSED = UnsafePlace.exit_code
FUSED = ("fuse.sshfs", "fuse.gvfsd-fuse", "fuse.rclone", "fuse.vmhgfs-fuse", "fuse.glusterfs", "fuse.s3fs", "fuse")
LOCAL = ("ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "f2fs", "fuseblk", "ecryptfs", *sorted(filesystem.LAYERS))
KINDS = ("nfs4", "cifs", "9p", "fuse.sshfs", "virtiofs")
WRITERS = {
    "remember": ("remember", "The heron nests by the river."),
    "drain": ("scheduler", "drain"),
    "tick": ("scheduler", "drain", "--wait"),
    "serve": ("scheduler", "serve"),
    "install": ("install", "--no-wizard", "--target", "codex"),
    "dry install": ("install", "--dry-run"),
    "store create": ("store", "create", "other"),
}
ROOT = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--map-root-user", "--mount")
FAKED = {"mounts": "/proc/$$/mounts", "boot": "/proc/sys/kernel/random/boot_id", "machine": "/etc/machine-id"}


@pytest.fixture(name="elsewhere")
def _elsewhere(box, tmp_path):
    """Run memman as under another mount table, boot id or machine id: `elsewhere(words, mounts=…, boot=…)`."""
    if not shutil.which("unshare") or subprocess.run([*ROOT, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace can be made here")

    def run(words, also="true", **faked):
        lines = [also]
        for name, says in faked.items():
            (tmp_path / name).write_text(says)
            lines.append(f"mount --bind {shlex.quote(str(tmp_path / name))} {FAKED[name]}")
        script = " && ".join([*lines, f"exec {shlex.join((box.script, *words))}"])
        return box.memman(*words, before=(*ROOT, "sh", "-c", script))

    return run


def table(box, kind):
    """Return a mount table that has the home folder on `kind`."""
    point = str(box.data.parent).replace(" ", "\\040")
    return f"/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0\nserver:/home {point} {kind} rw,relatime 0 0\n"


def refused(done):
    """Assert that a command was refused in one line."""
    assert (done.returncode, done.stdout) == (REFUSED, ""), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.promise("R19")
def test_every_kind_of_shared_file_system_is_refused(box, tmp_path, kept):
    """Of each kind that a mount table may name, what several kernels may write to is refused, and a disk is not."""
    shown = tmp_path / "table"
    turned = []
    for kind in (*sorted(filesystem.SHARED), *FUSED, *LOCAL):
        shown.write_text(table(box, kind))
        assert file_system(str(box.data / "queue.db"), str(shown)) == kind
        try:
            refuse_shared(str(box.data), str(box.data / "queue.db"), str(shown))
        except UnsafePlace:
            turned.append(kind)
    assert turned == [*sorted(filesystem.SHARED), *FUSED]
    assert not any(map(shared, LOCAL))
    kept(f"{len(turned)} kinds of shared file system refused, {len(LOCAL)} of local disks accepted")


@pytest.mark.promise("R19")
def test_nothing_is_made_on_a_shared_file_system(box, elsewhere, kept, rounds):
    """Every verb that writes says so in one line with exit code 13, and leaves no file; looking is allowed."""
    turned = 0
    for kind in KINDS[: rounds(1, len(KINDS))]:
        for words in WRITERS.values():
            assert f"lies on {kind}" in refused(elsewhere(words, mounts=table(box, kind)))
            turned += 1
        assert not box.data.exists()
        doctor = elsewhere(("doctor", "--check", "folder"), mounts=table(box, kind))
        assert (doctor.returncode, f"lies on {kind}" in doctor.stdout) == (1, True)
        assert elsewhere(("recall", "heron"), mounts=table(box, kind)).returncode == 0
    kept(f"{turned} writes on shared file systems: {turned} refused with exit code {REFUSED}, 0 files made")


def test_a_folder_that_was_moved_to_a_shared_file_system_is_refused(box, elsewhere):
    """What was found safe once is looked at again when the folder lies on another device; it can still be read."""
    box.remember("The heron nests by the river.")
    box.drain()
    moved = shlex.join(("cp", "-a", str(box.data), f"{box.data}.copy"))
    data = shlex.quote(str(box.data))
    moved += f" && mount -t tmpfs none {data} && chmod 700 {data} && cp -a {data}.copy/. {data}/ && rm -r {data}.copy"
    for words in (WRITERS["remember"], WRITERS["drain"], ("forget", box.store("SELECT uid FROM memory")[0])):
        refused(elsewhere(words, also=moved, mounts=table(box, "nfs4")))
    assert "heron" in elsewhere(("recall", "heron"), also=moved, mounts=table(box, "nfs4")).stdout


def test_a_store_behind_a_link_is_refused_there(box, elsewhere, tmp_path):
    """A drain does not write to a store whose folder leads to a shared file system; the note waits."""
    (tmp_path / "share").mkdir()
    box.data.mkdir(mode=0o700)
    (box.data / "data").symlink_to(tmp_path / "share")
    box.remember("The heron nests by the river.")
    mounts = f"/dev/sda1 / ext4 rw 0 0\nserver:/x {tmp_path}/share nfs rw 0 0\n"
    done = elsewhere(("scheduler", "drain"), mounts=mounts)
    assert (done.returncode, "lies on nfs" in done.stderr) == (REFUSED, True)
    assert box.states() == {"pending": 1}
    assert list((tmp_path / "share").iterdir()) == []


def test_a_person_may_allow_it(box, elsewhere):
    """With MEMMAN_UNSAFE_FOLDER=allow it works there, and doctor warns."""
    box.configure(UNSAFE_FOLDER="allow")
    for words in (WRITERS["remember"], WRITERS["drain"]):
        done = elsewhere(words, mounts=table(box, "virtiofs"))
        assert (done.returncode, done.stderr) == (0, "")
    doctor = elsewhere(("doctor", "--check", "folder"), mounts=table(box, "virtiofs"))
    assert (doctor.returncode, "lies on virtiofs" in doctor.stdout) == (0, True)


def test_a_hook_stays_silent_there(box, elsewhere):
    """Where nothing may be written a hook answers nothing and ends well."""
    for event in ("stop", "user-prompt"):
        done = elsewhere(("hook", event, "--host", "codex"), mounts=table(box, "nfs"))
        assert (done.returncode, done.stderr) == (0, "")
    assert not (box.data / "queue.db").exists()


@pytest.mark.promise("R19")
def test_a_second_kernel_is_refused_until_a_person_says_otherwise(box, elsewhere, kept):
    """What another boot of another machine used since this one began is read only; one command hands it over."""
    box.remember("The heron nests by the river.")
    box.drain()
    before = (box.data / "owner").read_text()
    other = {"boot": f"{uuid.uuid4()}\n", "machine": f"{uuid.uuid4().hex}\n"}
    turned = 0
    for words in WRITERS.values():
        said = refused(elsewhere(words, **other))
        assert os.uname().nodename in said
        turned += 1
    assert (box.data / "owner").read_text() == before
    assert box.states() == {"done": 1}
    assert "heron" in elsewhere(("recall", "heron"), **other).stdout
    doctor = json.loads(elsewhere(("doctor", "--check", "folder", "--json"), **other).stdout)
    (finding,) = doctor["findings"]
    assert finding["status"] == "fail"
    subprocess.run(finding["mend"], shell=True, check=True)  # noqa: S602 - what doctor says can be run as it stands
    for words in (WRITERS["remember"], WRITERS["drain"]):
        assert elsewhere(words, **other).returncode == 0
    for words in (WRITERS["remember"], WRITERS["drain"]):
        refused(box.memman(*words))
        turned += 1
    kept(f"two boot ids on one store: {turned} writes, {turned} refused with exit code {REFUSED}")


@pytest.mark.promise("R19")
def test_the_same_machine_started_anew_is_not_refused(box, elsewhere, kept):
    """Another boot of the same machine, or one that began after the last use, goes on where it was."""
    box.remember("The heron nests by the river.")
    box.drain()
    accepted = 0
    for _ in range(3):
        assert elsewhere(("remember", f"Heron {accepted}"), boot=f"{uuid.uuid4()}\n").returncode == 0
        assert elsewhere(WRITERS["drain"], boot=f"{uuid.uuid4()}\n").returncode == 0
        accepted += 2
    nameless = {"boot": f"{uuid.uuid4()}\n", "machine": ""}
    then = this_kernel().since - 60
    for path in (filesystem.owner_path(str(box.data)), heartbeat_path(str(box.data))):
        os.utime(path, (then, then))
    assert elsewhere(("remember", "A heron after the boot"), **nameless).returncode == 0
    kept(f"{accepted + 1} writes after a reboot: {accepted + 1} accepted")


@pytest.mark.parametrize(
    ("boot", "machine", "since", "found"),
    [
        ("one", "m1", 0, False),
        ("two", "m1", 0, False),
        ("two", "m2", 0, True),
        ("two", "", 0, True),
        ("two", "m2", 60, False),
        ("", "m2", 0, False),
    ],
)
def test_who_is_a_second_kernel(box, boot, machine, since, found):
    """Only another boot, of another or a nameless machine, that ran while the first was at work."""
    box.data.mkdir(mode=0o700)
    (box.data / "owner").write_text("one 5\nm1\nlaptop\n")
    kernel = Kernel(boot, machine, time.time() - 30 + since, "here")
    assert second(str(box.data), kernel) == ("laptop" if found else "")


@pytest.mark.parametrize("text", ["", "\n", "\0\xff", "x" * 100_000, "one\n", " \n\n\n"])
def test_a_record_that_says_nothing_stops_nobody(box, text):
    """Whatever stands in the record, memory goes on, and the record is put right."""
    box.data.mkdir(mode=0o700)
    (box.data / "owner").write_bytes(text.encode("latin-1"))
    then = this_kernel().since - 60
    os.utime(box.data / "owner", (then, then))
    assert box.memman("remember", "The heron nests.").returncode == 0
    assert (box.data / "owner").read_text().split("\n")[0].split()[1] == str(os.stat(box.data).st_dev)
    assert (box.data / "owner").stat().st_mode & 0o777 == 0o600
