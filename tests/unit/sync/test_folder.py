"""The shared folder of a sync: what lies at the name of a bundle and is none."""

import os

import pytest

from memman.sync.folder import Folder
from memman.sync.key import Unreadable

HOST = "0" * 16
OTHERS = {
    "a named pipe": os.mkfifo,
    "a link": lambda path: os.symlink(os.path.join(os.path.dirname(path), "00000002.age"), path),
    "a link to nothing": lambda path: os.symlink("gone", path),
    "a folder": os.mkdir,
}


@pytest.mark.parametrize("made", OTHERS.values(), ids=OTHERS)
def test_what_is_no_file_is_a_trouble_of_its_host(tmp_path, made):
    """It is not waited for, not followed and no end of the round: the other bundles are read."""
    part = tmp_path / HOST
    part.mkdir()
    (part / "00000002.age").write_bytes(b"sealed")
    made(os.fspath(part / "00000001.age"))
    folder = Folder(os.fspath(tmp_path))
    assert folder.bundles == {HOST: [1, 2]}
    with pytest.raises(Unreadable):
        folder.read(HOST, 1)
    assert folder.read(HOST, 2) == b"sealed"
    assert folder.read(HOST, 3) == b""
