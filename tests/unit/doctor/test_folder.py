"""What doctor says of the data folder, its files and its settings."""

import json

import pytest

from memman.config.places import file_system, shared
from tests.unit.doctor.looking import found


def test_the_mount_table_says_what_a_folder_lies_on(tmp_path):
    """The longest mount point above a folder counts, blanks in its name too."""
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda1 / ext4 rw 0 0\nserver:/x /home nfs4 rw 0 0\n/dev/sdb1 /home/al\\040ice ext4 rw 0 0\n"
        "9p /mnt/c 9p rw\n"
    )
    kinds = {path: file_system(path, str(mounts)) for path in ("/etc", "/home/bob/x", "/home/al ice/y", "/mnt/c/z")}
    assert kinds == {"/etc": "ext4", "/home/bob/x": "nfs4", "/home/al ice/y": "ext4", "/mnt/c/z": "9p"}
    assert list(map(shared, kinds.values())) == [False, True, False, True]


@pytest.mark.parametrize(
    "place",
    [
        "Dropbox",
        "Dropbox (Personal)",
        "OneDrive - Contoso",
        "Library/Mobile Documents/com~apple~CloudDocs",
        "Library/CloudStorage/GoogleDrive-a@example.com",
        "Sync/.stfolder",
        "Sync/notes",
        "pCloudDrive",
    ],
)
def test_a_data_folder_that_a_service_copies_is_never_healthy(box, place):
    """Dropbox, OneDrive, iCloud, Syncthing and their like; a person who allows any place is warned."""
    folder = box.data.parent / place
    folder.mkdir(parents=True)
    box.data.mkdir(mode=0o700)
    moved = (folder.parent if place.endswith(".stfolder") else folder) / "memory"
    box.data.rename(moved)
    box.data.symlink_to(moved)
    ((status, says),) = found(box, "folder")
    assert (status, "copies a database while it is written" in says) == ("fail", True)
    box.configure(UNSAFE_FOLDER="allow")
    assert [status for status, _ in found(box, "folder")] == ["warn"]


def test_what_such_a_service_leaves_in_the_home_folder_is_none(box):
    """Dropbox keeps its own settings in ~/.dropbox, and a name that only begins alike is another's."""
    for name in (".dropbox", "Dropboxes", "OneDriver"):
        (box.data.parent / name).mkdir()
    assert [status for status, _ in found(box, "folder")] == ["ok"]


def test_a_file_that_its_owner_may_not_read_is_named_once(box):
    """The first check that needs it names it, and the others are left out."""
    box.remember("The heron nests.")
    (box.data / "schedule").touch(mode=0o000)
    done = box.mortal("doctor", "--json")
    failed = [finding for finding in json.loads(done.stdout)["findings"] if finding["status"] == "fail"]
    assert [str(box.data / "schedule") in finding["says"] for finding in failed] == [True]


def test_a_variable_of_the_shell_that_nothing_reads_is_named_without_its_value(box, monkeypatch):
    """Who exports a key and wonders is told that only the env file counts."""
    box.configure(LLM_API_KEY="one")
    monkeypatch.setenv("MEMMAN_LLM_API_KEY", "hidden-value")
    monkeypatch.setenv("MEMMAN_HTTP_TRIES", "3")
    ((status, says),) = found(box, "folder")
    assert (status, "MEMMAN_LLM_API_KEY" in says, "hidden-value" in says) == ("warn", True, False)
