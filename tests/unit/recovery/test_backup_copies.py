"""Purge names every copy that holds what is purged, and removes what was begun and never finished."""

import os
import shutil

import pytest

from memman.recovery.backup import take
from memman.recovery.copies import copied
from memman.recovery.purge import purge

TEXT = "The bdfgkmnprtvz service caches invoices."


@pytest.fixture
def data(box):
    """Give the data folder of a store with a memory in it."""
    box.remember(TEXT)
    box.drain()
    return str(box.data)


def holding(*folders):
    """List the files that hold the text."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path) for path in files if b"bdfgkmnprtvz" in path.read_bytes())


def test_what_was_never_finished_is_removed_and_what_has_no_id_is_named(box, data):
    """A backup killed while it was taken or removed, a restore killed over its copy; a folder of another name."""
    (uid,) = box.store("SELECT uid FROM memory")
    backups, made = box.data / "backups", take(data)
    for name in (".draft-4711", f".draft-{made.id}", "mine/older"):
        shutil.copytree(backups / made.id, backups / name)
    shutil.copytree(box.store_path().parent, box.store_path().parent / ".repair-killed")
    shutil.copy(backups / made.id / "stores/default.db", backups / "loose.db")
    receipt = purge(data, "default", [uid])
    assert receipt.backups == [made.id]
    named = sorted([f"{backups}/{made.id}/stores/default.db", *receipt.files])
    assert holding(box.data) == named
    assert [os.path.relpath(path, backups) for path in receipt.files] == ["loose.db", "mine/older/stores/default.db"]


def test_copies_are_found_behind_links(box, data):
    """A store's folder that leads elsewhere, what lies beside its file there, and one moved aside; rings end."""
    elsewhere = box.data.parent / "elsewhere"
    os.rename(box.store_path().parent, elsewhere)
    box.store_path().parent.symlink_to(elsewhere)
    (elsewhere / "ring").symlink_to(box.data)
    shutil.copy(box.store_path(), elsewhere / "memman.db.damaged-20261121T120000Z")
    aside = box.data.parent / "aside"
    shutil.copytree(elsewhere, aside, symlinks=True)
    (aside / "memman.db.damaged-20261121T120000Z").unlink()
    (box.data / "removed").mkdir(0o700)
    (box.data / "removed/default-20261121T120000Z").symlink_to(aside)
    (box.data / "removed/in-use").symlink_to(elsewhere)
    copies = list(copied(data))
    receipt = purge(data, "default", box.store("SELECT uid FROM memory"))
    assert [os.path.relpath(path, box.data) for path in receipt.files] == [
        "data/default/memman.db.damaged-20261121T120000Z",
        "removed/default-20261121T120000Z/memman.db",
    ]
    assert sorted(map(os.path.realpath, receipt.files)) == holding(elsewhere, aside)
    assert set(receipt.files) <= set(copies)
