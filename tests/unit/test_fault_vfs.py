"""The VFS that fails on demand, and the disk that forgets what was not synced."""

import random

import apsw
import pytest

from tests.support.powercut import Disk
from tests.support.vfs import BUSY, FULL, IO, SECTOR, Fault, FaultVFS

REPLACED = (
    *(("settle", "/r"), ("make", "/r/g"), ("write", "/r/g", 0, b"new"), ("sync", "/r/g")),
    ("rename", "/r/g", "/r/f"),
)


def filled(path):
    """Write one row and return the connection, still open."""
    db = apsw.Connection(str(path))
    db.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)").fetchall()
    return db


def test_an_undisturbed_run_is_counted_and_told(tmp_path):
    """Without a place to strike at, every operation is counted, and each change of the disk is told in order."""
    told = []
    with FaultVFS(fault := Fault(IO), tell=lambda *event: told.append(event[:2])) as vfs:
        assert apsw.vfs_names()[0] == vfs.name
        filled(tmp_path / "a.db").close()
    assert apsw.vfs_names()[0] == vfs.base
    assert fault.seen > 20
    assert fault.struck == 0
    path = str(tmp_path / "a.db")
    assert told.index(("write", path + "-wal")) < told.index(("sync", path + "-wal"))
    assert ("settle", str(tmp_path)) in told
    assert told[0] == ("make", path)


@pytest.mark.parametrize(
    ("codes", "error"), [(IO, (apsw.IOError, apsw.CantOpenError)), (FULL, apsw.FullError), (BUSY, apsw.BusyError)]
)
def test_the_chosen_operation_fails_as_its_kind_does(tmp_path, codes, error):
    """The first fails, and all after it only where the fault lasts; what is busy keeps nobody waiting."""
    for lasting in (False, True):
        with FaultVFS(fault := Fault(codes, at=1, lasting=lasting)):
            db = None
            with pytest.raises(error):
                db = filled(tmp_path / f"{lasting}.db")
            assert (fault.struck == 1) or lasting
            del db


def test_half_of_a_failed_write_reaches_the_file(tmp_path):
    """A write that fails leaves half of its sectors behind, as a disk that fills up does."""
    with FaultVFS(fault := Fault(FULL)):
        db = filled(tmp_path / "a.db")
        size = (tmp_path / "a.db-wal").stat().st_size
        fault.at = fault.seen + 2  # a frame's header, and then its page
        with pytest.raises(apsw.FullError):
            db.execute("INSERT INTO t VALUES (2)")
        assert (tmp_path / "a.db-wal").stat().st_size == size + 24 + 4096 // 2
        fault.at = 0
        assert db.execute("SELECT * FROM t").fetchall() == [(1,)]
        db.close()


def images(tmp_path, disk, number=40):
    """Return what so many images hold, by path below the root."""
    seen = []
    for n in range(number):
        folder = tmp_path / str(n)
        folder.mkdir()
        disk.image(random.Random(n), str(folder))
        seen.append({str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()})
    return seen


def played(*events):
    """Return a disk on which these events happened."""
    disk = Disk("/r")
    for event in events:
        disk.play(event)
    return disk


def test_what_was_synced_survives_and_what_was_not_may_not(tmp_path):
    """Synced bytes are in every image; later ones are lost in some, whole in some, torn at a sector in some."""
    old, new = b"a" * 4 * SECTOR, b"b" * 4 * SECTOR
    disk = played(
        ("make", "/r/f"), ("write", "/r/f", 0, old), ("sync", "/r/f"), ("settle", "/r"), ("write", "/r/f", 0, new)
    )
    seen = [image["f"] for image in images(tmp_path, disk)]
    assert {old, new} < set(seen)
    torn = next(content for content in seen if content not in (old, new))
    assert len(torn) == len(old)
    assert {torn[n : n + SECTOR] for n in range(0, len(torn), SECTOR)} & {old[:SECTOR], new[:SECTOR]}


def test_a_name_survives_only_once_its_folder_was_synced(tmp_path):
    """Without that a synced file may be gone, a renamed one may be the old one, and a folder takes all with it."""
    made = (("make", "/r/f"), ("write", "/r/f", 0, b"old"), ("sync", "/r/f"))
    assert {"f" in image for image in images(tmp_path, played(*made), 20)} == {True, False}
    renamed = (*made, *REPLACED)
    (tmp_path / "b").mkdir()
    assert {image["f"] for image in images(tmp_path / "b", played(*renamed), 20)} == {b"old", b"new"}
    (tmp_path / "c").mkdir()
    assert {image["f"] for image in images(tmp_path / "c", played(*renamed, ("settle", "/r")), 20)} == {b"new"}
    below = (("folder", "/r/d"), ("make", "/r/d/f"), ("sync", "/r/d/f"), ("settle", "/r/d"))
    (tmp_path / "d").mkdir()
    assert {len(image) for image in images(tmp_path / "d", played(*below), 20)} == {0, 1}
