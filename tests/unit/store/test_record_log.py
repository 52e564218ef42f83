"""The log of records as a file keeps it."""

from contextlib import closing

import pytest

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


@pytest.mark.parametrize("gone", [record_log.empty, record_log.withhold])
def test_what_is_gone_leaves_no_checksum_by_which_it_could_be_guessed(tmp_path, gone):
    """Whether it was purged or is not for us to see any more."""
    with closing(SqliteStore(str(tmp_path / "memman.db"))) as store, store.transaction():
        for memory in "mn":
            record_log.append(store.db, 5, "act", memory, "rated", body("feedback", what=f"the code is {memory}"))
        gone(store.db, ["m"])
        assert store.db.execute("SELECT count(*) FROM record WHERE sum <> 0").get == 1
        assert record_log.damaged(store.db) == []
