"""The shared folder of a sync: what lies at the name of a segment and is none."""

import os

import pytest

from memman.sync.folder import Folder, Name, Unreadable

HOST = "0" * 16
FIRST, SECOND, THIRD = (Name(n, n, 0, "0" * 16) for n in (1, 2, 3))
OTHERS = {
    "a named pipe": os.mkfifo,
    "a link": lambda path: os.symlink(os.path.join(os.path.dirname(path), SECOND.file), path),
    "a link to nothing": lambda path: os.symlink("gone", path),
    "a folder": os.mkdir,
}


@pytest.mark.parametrize("made", OTHERS.values(), ids=OTHERS)
def test_what_is_no_file_is_a_trouble_of_its_host(tmp_path, made):
    """It is not waited for, not followed and no end of the round: the other segments are read."""
    part = tmp_path / HOST
    part.mkdir()
    (part / SECOND.file).write_bytes(b"sealed")
    made(os.fspath(part / FIRST.file))
    folder = Folder(os.fspath(tmp_path))
    assert folder.files == {(HOST, FIRST), (HOST, SECOND)}
    with pytest.raises(Unreadable):
        folder.read(HOST, FIRST.file)
    assert folder.read(HOST, SECOND.file) == b"sealed"
    assert folder.read(HOST, THIRD.file) == b""
