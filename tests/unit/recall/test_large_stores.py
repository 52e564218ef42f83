"""What recall searches of a large store, against what a search of all of it finds; with the limits brought low."""

import itertools
from unittest import mock

import apsw
import pytest

from memman.embed.static import StaticTable, sign_code
from memman.judge.embedder import BuiltinEmbedder
from memman.model.records import EVERYWHERE, Draft, Fact, Fingerprint, Scope
from memman.model.terms import match_any
from memman.model.uid import memory_uid, new_uid
from memman.pipeline.vectors import index
from memman.recall.candidates import counts, sparing, worded
from memman.recall.query import Query
from memman.store.filters import Filters
from memman.store.sqlite.store import SqliteStore

ANY = Filters()
SERVICES = [f"{a}-{b}" for a, b in itertools.product(
    ("billing", "search", "email", "photo", "report", "export", "login", "basket", "invoice", "stock"),
    ("api", "worker", "cron", "proxy", "store", "cache"),
)]  # fmt: skip
SAID = (
    "{s} retries failed jobs {n} times before it gives up.",
    "The timeout of {s} is {n} seconds in production.",
    "{s} keeps its logs for {n} days.",
    "Deploys of {s} wait for the tests of {n} modules.",
    "{s} was moved to the cluster in Frankfurt because of latency.",
    "The owner of {s} is team {n}.",
)


@pytest.fixture(name="store", scope="module")
def _store(tmp_path_factory):
    """Return a store of 360 memories in sessions of ten, divided into cells of about a dozen."""
    store, local = SqliteStore(str(tmp_path_factory.mktemp("large") / "memman.db")), BuiltinEmbedder()
    with store.unit() as unit:
        for n, (said, service) in enumerate(itertools.product(SAID, SERVICES)):
            at = 1_700_000_000_000 + n * 60_000
            note, category = new_uid(at), "decision" if n % 45 == 0 else "fact"
            fact = Fact(said.format(s=service, n=n), category)
            scope = Scope("shop") if n % 60 == 7 else EVERYWHERE
            row = unit.add(Draft(memory_uid(note, 0), note, fact, "user", f"agent:{n // 10}", at, (), scope), at)
            index(unit, local, store.cell, [row])
    with mock.patch.multiple("memman.store.sqlite.vectors", LEAST=100, ROWS=12):
        store.maintain()
    yield store
    store.close()


def test_a_scope_of_few_memories_is_searched_as_a_large_one_is(store):
    """What others' memories leave is the same whether they are passed over one by one or never brought."""
    scopes = store.reader.holding("shop")
    shop, code = Filters(scopes=scopes), sign_code(BuiltinEmbedder().vectors(["logs of the billing api"])[0].tolist())
    number = store.db.execute("SELECT id FROM embedder WHERE provider = 'builtin'").get
    words = match_any(["logs", "tests", "timeout", "jobs", "team", "cluster"])
    searches = (
        lambda filters, limit: [memory for memory, _ in store.reader.lexical(words, filters, limit)],
        lambda filters, limit: [memory for memory, _ in store.reader.lexical(words, filters, limit, 300)],
        lambda filters, limit: [memory for memory, _ in store.reader.nearest(number, code, filters, limit)],
        lambda filters, limit: store.reader.matched(words, filters, limit),
        lambda filters, limit: store.reader.held(filters, 0, 2**62, limit),
    )
    for search in searches:
        mine = [memory for memory in search(ANY, 360) if memory % 60 == 8]
        assert len(mine) > 3
        assert search(shop, 3) == mine[:3]
        assert search(shop, 60) == mine


def test_who_took_whose_place_is_looked_up_by_row(store):
    """What a recall asks of a few memories costs no walk through all of them, whatever SQLite thinks of its tables."""
    steps = []
    store.db.trace_v2(
        apsw.SQLITE_TRACE_PROFILE, lambda ran: steps.append(ran["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])
    )
    store.reader.heirs(range(1, 4))
    store.db.trace_v2(0, None)
    assert sum(steps) < store.reader.count() / 2


def test_what_rare_words_bring_up_is_what_a_full_search_puts_first(store):
    """A query that names a thing finds the same best rows, common words beside it or not."""
    for service in SERVICES[::7]:
        query = Query(f"what is the timeout of {service} in production")
        full = [row for row, _ in worded(store.reader, counts(store.reader, query), ANY, 5)]
        kept = [row for row, _ in sparing(store.reader, counts(store.reader, query), ANY, 60, rows=80)]
        assert full[0] in kept
        assert len(kept) < len(worded(store.reader, counts(store.reader, query), ANY, 400))


def test_where_all_words_are_common_the_newest_rows_with_all_of_them_come_first(store):
    """No row is read beyond the newest that match; those that hold every word lead."""
    terms = ["timeout", "production", "seconds"]
    found = sparing(store.reader, counts(store.reader, Query(" ".join(terms))), ANY, 10, rows=20)
    texts = store.reader.texts(row for row, _ in found)
    assert len(found) == 10
    assert all(term in texts[row].lower() for row, _ in found[:5] for term in terms)


def test_how_common_a_word_is_is_told_from_the_newest_rows(store):
    """A word in few rows is counted; of one in many the share of the newest rows that hold it is taken for all."""
    assert store.reader.estimated('"frankfurt"', 61) == 60
    assert store.reader.estimated('"days"', 61) == 60
    assert store.reader.estimated('"is"', 20) in range(100, 400)
    assert store.reader.estimated('"gibberish"', 20) == 0


def test_of_rows_that_only_their_neighbours_complete_the_newest_are_kept(store):
    """Rows that say all words themselves are kept, and of the others as many of the newest as there is room for."""
    match = '"search" AND "proxy"'
    own = store.reader.matched(f"{{text terms}} : ({match})", ANY, 400)
    others = [row for row in store.reader.matched(match, ANY, 400) if row not in own]
    found = {
        row for row, _ in sparing(store.reader, counts(store.reader, Query("search proxy")), ANY, len(own) + 4, rows=20)
    }
    assert len(others) > 4
    assert found == {*own, *others[:4]}


def test_rows_with_all_common_words_need_no_count_of_every_row(store):
    """What FTS5 reads for them does not grow with the rows that hold one of the words."""
    steps = []
    store.db.trace_v2(apsw.SQLITE_TRACE_PROFILE, lambda ran: steps.append(ran["sql"]))
    found = sparing(store.reader, counts(store.reader, Query("timeout production seconds")), ANY, 5, rows=20)
    store.db.trace_v2(0, None)
    assert len(found) == 5
    assert not [sql for sql in steps if "bm25" in sql]


def test_a_filter_holds_inside_the_bound(store):
    """Of a category with few rows all are within reach, however few of the newest rows are its own."""
    asked, only = Query("timeout billing-api logs days jobs"), Filters(category="decision")
    decisions = sparing(store.reader, counts(store.reader, asked), only, 50, rows=20)
    rows = store.reader.rows(row for row, _ in decisions)
    assert {row.category for row in rows.values()} == {"decision"}
    assert len(decisions) >= 4


def test_the_bounds_begin_with_the_size_they_are_for(store):
    """A store below the limit is searched for every word, one above it sparingly."""
    query = Query("the timeout of billing-api in production")
    whole = store.reader.lexical(match_any(query.terms()), ANY, 400)
    counted = counts(store.reader, query)
    assert worded(store.reader, counted, ANY, 400) == whole
    assert worded(store.reader, counted, ANY, 400, large=100) == sparing(store.reader, counted, ANY, 400)


@pytest.mark.parametrize("extension", [True, False], ids=["sqlite-vec", "without"])
def test_the_cells_around_a_query_hold_what_is_nearest_to_it(store, extension):
    """Scanning a third of the store keeps nine in ten of the nearest ten, the same with and without the extension."""
    table, kept, total = StaticTable(), 0, 0
    reader = store.reader
    number = reader.embedder_id(Fingerprint("builtin", f"{table.model}-v{table.version}", table.dimension))
    had, reader.has_vectors = reader.has_vectors, extension
    try:
        assert reader.cells_around(number, bytes(48)) == []
        for service in SERVICES:
            code = sign_code(table.vector(f"how long does {service} keep its logs"))
            cells = reader.cells_around(number, code, scanned=120)
            assert 0 < len(cells) < 30
            near = {row for row, _ in reader.nearest(number, code, ANY, 10, cells)}
            kept += len(near & {row for row, _ in reader.nearest(number, code, ANY, 10)})
            total += 10
        reader.has_vectors = not extension
        assert reader.cells_around(number, code, scanned=120) == cells
    finally:
        reader.has_vectors = had
    assert kept / total >= 0.9
