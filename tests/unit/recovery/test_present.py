"""What outlives a restore is told to the store that comes back."""

from contextlib import closing

from memman.model.records import Draft, Fact
from memman.recovery.present import Present, carry
from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import SqliteStore


def test_what_was_forgotten_outlives_a_backup_that_lacks_the_record(tmp_path):
    """A number without its record, as a repair leaves it, is no record that the backup has."""
    with closing(SqliteStore(str(tmp_path / "memman.db"))) as store:
        with store.unit() as unit:
            unit.forget(unit.add(Draft("f" * 20, "e" * 32, Fact("The heron nests."), "user", "one", 1), 1), 2)
        *_, last = record_log.every(store.db)
        with store.unit() as unit:
            unit.db.execute("DELETE FROM record WHERE n = ?", (last.n,))
            record_log.fill_gaps(unit.db)
            unit.renew(index.rewrite(unit.db, ["f" * 20]))
        assert store.db.execute("SELECT status FROM memory").get == "current"
        with store.unit() as unit:
            carry(unit, Present(outlives=(last,)))
        assert store.db.execute("SELECT status FROM memory").get == "forgotten"
