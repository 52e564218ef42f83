"""However facts follow one another, what holds now is told, and nothing that it replaced stands above it."""

from hypothesis import given
from hypothesis import strategies as st

from memman.embed.static import StaticTable
from memman.judge.embedder import BuiltinEmbedder
from memman.model.records import Draft, Edge, Fact
from memman.model.uid import memory_uid, new_uid
from memman.pipeline.vectors import index
from memman.store.filters import Filters
from memman.store.sqlite.store import SqliteStore
from tests.support.stores import search

TOPICS = ("port of the billing API", "database of the web shop", "owner of the release script")
VALUES = ("8080", "9090", "Postgres 16", "MySQL", "Sara", "the platform team")
LOCAL, TABLE = BuiltinEmbedder(), StaticTable()
DAY = 86_400_000

changes = st.lists(
    st.tuples(st.sampled_from(TOPICS), st.sampled_from(VALUES), st.integers(0, 3), st.integers(1, 5)),
    min_size=1,
    max_size=14,
)


def filled(path, said):
    """Write a store in which each statement takes the place of the last on its topic; return who replaced whom."""
    store = SqliteStore(path)
    last, replaced = {}, {}
    for n, (topic, value, session, importance) in enumerate(said):
        note, at = new_uid(DAY * (n + 1)), DAY * (n + 1)
        fact = Fact(f"The {topic} is {value}, as of change {n}.", "fact", importance)
        with store.unit() as unit:
            row = unit.add(Draft(memory_uid(note, 0), note, fact, "user", f"agent:session-{session}", at, ()), at)
            index(unit, LOCAL, store.cell, [row])
            if topic in last:
                unit.supersede(last[topic], row, at, at, "changed")
                replaced[last[topic]] = row
            last[topic] = row
    return store, last, replaced


def heir(replaced, row):
    """Return what holds in the place of a superseded row."""
    while row in replaced:
        row = replaced[row]
    return row


@given(said=changes, asked=st.sampled_from(TOPICS), value=st.sampled_from(VALUES))
def test_what_was_superseded_never_ranks_above_what_holds(tmp_path_factory, said, asked, value):
    """Asked by topic or by an old value, plainly, with history or as of a day, the order of succession is kept."""
    store, last, replaced = filled(str(tmp_path_factory.mktemp("store") / "memman.db"), said)
    try:
        for query in (f"what is the {asked}", f"{asked} {value}", value):
            plain = [hit.id for hit in search(store.reader, TABLE, query, Filters(), 20)]
            assert not replaced.keys() & set(plain)
            told = [hit.id for hit in search(store.reader, TABLE, query, Filters(history=True), 20)]
            for old in replaced.keys() & set(told):
                new = heir(replaced, old)
                assert new in told
                assert told.index(new) < told.index(old)
            for day in range(1, len(said) + 1):
                then = [hit.id for hit in search(store.reader, TABLE, query, Filters(as_of=DAY * day), 20)]
                assert not {old for old, new in replaced.items() if new <= day} & set(then)
                assert all(row <= day for row in then)
        if asked in last:
            hits = search(store.reader, TABLE, f"what is the {asked}", Filters(), 3)
            assert last[asked] in [hit.id for hit in hits]
    finally:
        store.close()


judgements = st.lists(
    st.tuples(st.sampled_from(TOPICS), st.sampled_from(VALUES), st.sampled_from(("add", "supersede", "doubt", "turn"))),
    min_size=1,
    max_size=12,
)


def judged(path, said):
    """Write a store in which statements on a topic retire or doubt the last, or are doubted by it; return the marks."""
    store = SqliteStore(path)
    last = {}
    for n, (topic, value, done) in enumerate(said):
        note, at = new_uid(DAY * (n + 1)), DAY * (n + 1)
        draft = Draft(memory_uid(note, 0), note, Fact(f"The {topic} is {value}, as of {n}."), "user", "@", at, ())
        with store.unit() as unit:
            row = unit.add(draft, at)
            index(unit, LOCAL, store.cell, [row])
            if topic in last and done == "supersede":
                unit.supersede(last[topic], row, at, at, "changed")
            elif topic in last and done == "doubt":
                unit.doubt(last[topic], row, at, "it seems")
            elif topic in last and done == "turn":
                unit.doubt(row, last[topic], at, "overtaken")
        last[topic] = last[topic] if topic in last and done == "turn" else row
    return store, store.reader.newer(row for (row,) in store.db.execute("SELECT id FROM memory"))


@given(
    said=judgements,
    asked=st.sampled_from(TOPICS),
    value=st.sampled_from(VALUES),
    intent=st.sampled_from((None, "when", "why")),
    limit=st.integers(1, 20),
)
def test_what_is_maybe_replaced_never_ranks_above_the_newer_one(tmp_path_factory, said, asked, value, intent, limit):
    """Whatever is asked, however little is shown, the newer one comes first and the older one is marked."""
    store, marks = judged(str(tmp_path_factory.mktemp("store") / "memman.db"), said)
    try:
        for query in (f"what is the {asked}", value):
            for filters in (Filters(), Filters(history=True), Filters(every=True)):
                hits = search(store.reader, TABLE, query, filters, limit, intent)
                assert len(hits) <= limit
                assert len({hit.id for hit in hits}) == len(hits)
                for place, hit in enumerate(hits):
                    newer, uid = marks.get(hit.id, (None, None))
                    assert hit.maybe_replaced_by == uid
                    assert newer is None or newer in [other.id for other in hits[:place]]
            for day in range(1, len(said) + 1):
                then = search(store.reader, TABLE, query, Filters(as_of=DAY * day), limit, intent)
                for place, hit in enumerate(then):
                    assert hit.id <= day
                    assert hit.maybe_replaced_by in {None, *(other.row.uid for other in then[:place])}
    finally:
        store.close()


def test_a_long_chain_is_followed_to_its_end(tmp_path):
    """A fact that changed forty times is told as it is now, asked for in the words of any time."""
    said = [(TOPICS[1], f"{VALUES[n % 6]} number {n}", n % 3, 3) for n in range(41)]
    store, last, replaced = filled(str(tmp_path / "memman.db"), said)
    for n in (0, 1, 20, 40):
        query = f"{TOPICS[1]} {VALUES[n % 6]} number {n}"
        assert [hit.id for hit in search(store.reader, TABLE, query, Filters(), 5)] == [last[TOPICS[1]]]
        told = [hit.id for hit in search(store.reader, TABLE, query, Filters(history=True), 50)]
        assert told[0] == last[TOPICS[1]]
        assert set(told[1:]) <= replaced.keys()
    store.close()


def test_causes_do_not_bring_what_is_over_before_what_holds(tmp_path):
    """Asked why, with history, a cause that was superseded stands below its successor."""
    store, _, _ = filled(str(tmp_path / "memman.db"), [(TOPICS[0], "8080", 0, 3), (TOPICS[0], "9090", 0, 3)])
    with store.unit() as unit:
        unit.link([Edge("causal", 1, 2, 1.0)])
    for intent in ("why", "when", "general"):
        told = search(store.reader, TABLE, f"the {TOPICS[0]}", Filters(history=True), 9, intent)
        assert [hit.id for hit in told] == [2, 1]
    store.close()
