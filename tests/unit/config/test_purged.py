"""The file of what was purged: what it says is believed where it is what was written, and else nothing is restored."""

import pytest

from memman.config.purged import WHOLE, Tombstones, bury
from memman.model.errors import DamagedFile
from memman.recovery.backup import take
from memman.recovery.restore import restore


def test_every_flipped_bit_is_noticed(tmp_path):
    """Whichever bit of whichever line the disk changes, the file is not believed; without it it is."""
    path = tmp_path / "purged"
    bury(str(tmp_path), [("n1", "m1")], 1)
    bury(str(tmp_path), [("n2", WHOLE)], 2)
    sound = path.read_bytes()
    assert Tombstones.load(str(tmp_path)) == Tombstones(frozenset({"m1"}), frozenset({"n2"}), frozenset({"n1", "n2"}))
    for number in range(8 * len(sound)):
        flipped = bytearray(sound)
        flipped[number // 8] ^= 1 << number % 8
        path.write_bytes(flipped)
        with pytest.raises(DamagedFile, match="is damaged"):
            Tombstones.load(str(tmp_path))
    bury(str(tmp_path), [("n3", WHOLE)], 3)
    assert path.read_text().splitlines()[-1].startswith("3 n3 - ")


def test_nothing_is_restored_while_it_is_not_known_what_was_purged(box):
    """Doctor warns, restore ends with code 12 and says what to do, and without the line it restores."""
    uid = box.remember("Redis caches the invoices.")
    box.drain()
    take(str(box.data))
    assert box.memman("purge", uid).returncode == 0
    path = box.data / "purged"
    path.write_text("0 one - 0\n" + path.read_text())
    assert "line 1" in box.memman("doctor", "--check", "backups").stdout
    done = box.memman("backup", "restore", "latest")
    assert (done.returncode, done.stderr.count("\n")) == (12, 1)
    assert "delete the line" in done.stderr
    assert box.store("SELECT count(*) FROM memory") == [0]
    path.write_text(path.read_text().partition("\n")[2])
    restore(str(box.data), "latest")
    assert box.store("SELECT count(*) FROM memory") == [0]
    assert "purged" not in box.memman("doctor", "--check", "backups").stdout
