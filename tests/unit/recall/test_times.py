"""Which rows are of a time: found by halving, however late a note came in, whichever way a clock went."""

import time

import apsw
import pytest

from memman.hot.recall_session import RecallSession
from memman.store.filters import Filters
from memman.store.sqlite.reader import UNBOUND, SqliteReader
from memman.store.sqlite.schema import migrate
from tests.support.stores import search

ROWS = 20_000
DAY = 86_400_000


def stored(began="i * 1000", recorded="i * 1000 + 1"):
    """Give a reader of ROWS rows, one a second but for what is said otherwise."""
    db = apsw.Connection(":memory:")
    migrate(db, ":memory:")
    db.execute(
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})"
        "INSERT INTO memory(id, uid, note, text, category, importance, entities, keywords, summary, source, origin,"
        f" valid_from, recorded_at) SELECT i, i, i, i, 'fact', 3, '[]', '[]', '', 'user', '', {began}, {recorded}"
        " FROM n"
    )
    return SqliteReader(db)


@pytest.mark.parametrize(
    "began",
    ["i * 1000", "iif(i = 10001, 1, i * 1000)", "iif(i BETWEEN 9000 AND 12000, i, i * 1000)"],
    ids=["in order", "an old note at the middle", "many old notes at the middle"],
)
def test_the_window_holds_what_is_of_the_time(began):
    """Old notes that came in late move the window away from nothing."""
    first, last = stored(began).window(3_000_000, 3_051_000)
    assert first <= 3_000
    assert last >= 3_050


def test_the_window_is_small():
    """A time in a large store is a few hundred rows of it."""
    first, last = stored().window(3_000_000, 3_051_000)
    assert (first, last) == (3_000, 3_050)


def test_what_was_drained_days_later_is_in_the_window():
    """A queue that waited over the weekend is of the days it was queued on, all of it."""
    first, last = stored(recorded=f"{ROWS * 1000} + i").window(3_000_000, 13_000_000)
    assert first <= 3_000
    assert last >= 12_999


def test_a_time_of_very_many_memories_bounds_no_rows():
    """Where reading the time's ends would cost more than it spares, all rows are searched."""
    assert stored("5").window(0, 10) == UNBOUND


def test_a_store_of_nothing_has_an_empty_window():
    """Nothing stored, nothing found."""
    db = apsw.Connection(":memory:")
    migrate(db, ":memory:")
    reader = SqliteReader(db)
    assert reader.held(Filters(), 0, 5, 10) == []
    reader.window(0, 5)


def moved(box, old, new, days=10):
    """Store a fact, as of some days ago, and today what took its place; return when it began."""
    uid = box.remember(old)
    began = time.time_ns() // 1_000_000 - days * DAY
    box.queue("UPDATE note SET queued_at = ?, digest = NULL", began)
    box.drain()
    box.store("UPDATE record SET body = json_replace(body, '$.set.text.recorded_at', ?)", began + 1)
    box.remember(new, replaces=uid)
    box.drain()
    return began


def asked(box, query, **filters):
    """Recall, and return the texts of the hits."""
    recalls = RecallSession(str(box.data), "default")
    try:
        return [hit.row.text for hit in search(recalls.reader, recalls.table, query, Filters(**filters), 10)]
    finally:
        recalls.close()


def test_a_question_for_a_time_alone_tells_what_held_then(box):
    """With --history what was replaced since is shown, and with --as-of in the place of what replaced it."""
    old, new = "We deploy the shop on Vercel.", "We deploy the shop on Coolify."
    began = moved(box, old, new)
    day = time.strftime("%Y-%m-%d", time.localtime(began / 1000))
    assert asked(box, f"what happened on {day}", as_of=began + 60_000) == [old]
    assert old in asked(box, f"what happened on {day}", history=True)
    assert asked(box, f"what happened on {day}") == [new]
