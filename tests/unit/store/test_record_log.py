"""The log of records as a file keeps it."""

from contextlib import closing

import pytest

from memman.store.records import body
from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import SqliteStore


def test_a_copy_goes_on_under_another_name(tmp_path):
    """What it had keeps host and number, what comes next is another host's, from 1 on, and stands behind it all."""
    with closing(SqliteStore(str(tmp_path / "memman.db"))) as store, store.transaction():
        before = [record_log.append(store.db, at, f"act{at}", "m", "rated", body("feedback")) for at in (5, 3)]
        record_log.renew_host(store.db)
        new = record_log.append(store.db, 1, "later", "m", "rated", body("feedback"))
        assert list(record_log.every(store.db, before[0].host)) == before
        assert record_log.of_each(store.db, ["m"])["m"] == [*before, new]
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


def test_what_a_commit_reads_of_the_log_does_not_grow_with_it(tmp_path):
    """Not even where SQLite's sample tells it that a host or an act has few records."""
    steps = []
    for size in (200, 2000):
        path = str(tmp_path / f"{size}.db")
        with closing(SqliteStore(path)) as store, store.transaction():
            for number in range(size):
                record_log.append(store.db, number, f"act{number}", f"m{number}", "rated", body("feedback"))
            store.db.execute("ANALYZE")
            rows = [
                ("record_act", "22941 2001"),
                ("record_at", "22941 3"),
                ("sqlite_autoindex_record_1", "22941 2001 1"),
            ]
            store.db.executemany("UPDATE sqlite_stat1 SET stat = ?2 WHERE idx = ?1", rows)
        with closing(SqliteStore(path)) as store:
            counted = []
            store.db.set_progress_handler(lambda counted=counted: counted.append(1) or False, 1)
            index.folding(store.db, ["m7"])
            record_log.of_acts(store.db, ["act7", "act9"])
            store.db.set_progress_handler(None)
            steps.append(len(counted))
    assert steps[1] < 1.2 * steps[0]
