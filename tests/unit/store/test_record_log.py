"""The log of records as a file keeps it."""

from contextlib import closing

from memman.store.records import body
from memman.store.sqlite import record_log
from memman.store.sqlite.store import SqliteStore


def test_a_copy_goes_on_under_another_name(tmp_path):
    """What it had keeps host and number, what comes next is another host's, from 1 on, and stands behind it all."""
    with closing(SqliteStore(str(tmp_path / "memman.db"))) as store, store.transaction():
        before = [record_log.append(store.db, at, f"act{at}", "m", "rated", body("feedback")) for at in (5, 3)]
        record_log.renew_host(store.db)
        new = record_log.append(store.db, 1, "later", "m", "rated", body("feedback"))
        assert list(record_log.every(store.db, before[0].host)) == before
        assert record_log.of(store.db, "m") == [*before, new]
        assert (new.host != before[0].host, new.n) == (True, 1)
        assert record_log.known(store.db) == {before[0].host: 2, new.host: 1}
