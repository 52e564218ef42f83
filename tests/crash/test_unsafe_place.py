"""Where SQLite's log is not safe nothing is written: on network and shared file systems.

Whole processes are shown another mount table by mounts of their own in a namespace of their own.
"""

import os
import shlex
import shutil
import subprocess

import pytest

from memman.config import places
from memman.config.places import file_system, refuse_shared, shared
from memman.model.errors import UnsafePlace

REFUSED = UnsafePlace.exit_code
FUSED = ("fuse.sshfs", "fuse.gvfsd-fuse", "fuse.rclone", "fuse.vmhgfs-fuse", "fuse.glusterfs", "fuse.s3fs", "fuse")
LOCAL = ("ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "f2fs", "fuseblk", "ecryptfs", *sorted(places.LAYERS))
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


@pytest.fixture(name="elsewhere")
def _elsewhere(box, tmp_path):
    """Run memman as under another mount table: `elsewhere(words, mounts=…)`."""
    if not shutil.which("unshare") or subprocess.run([*ROOT, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace can be made here")

    def run(words, mounts, also="true"):
        (tmp_path / "mounts").write_text(mounts)
        faked = f"mount --bind {shlex.quote(str(tmp_path / 'mounts'))} /proc/$$/mounts"
        return box.memman(
            *words, before=(*ROOT, "sh", "-c", f"{also} && {faked} && exec {shlex.join((box.script, *words))}")
        )

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
    for kind in (*sorted(places.SHARED), *FUSED, *LOCAL):
        shown.write_text(table(box, kind))
        assert file_system(str(box.data / "queue.db"), str(shown)) == kind
        try:
            refuse_shared(str(box.data), str(box.data / "queue.db"), str(shown))
        except UnsafePlace:
            turned.append(kind)
    assert turned == [*sorted(places.SHARED), *FUSED]
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
