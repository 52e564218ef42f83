"""Records from elsewhere: only what has our shape comes in, once, in any order, and nothing that was purged."""

import random
from contextlib import closing

import pytest

from memman.model.records import Draft, Fact, Note, Scope
from memman.store import records
from memman.store.records import Record, body, named, wrong
from memman.store.sqlite import purge, record_log
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.undo import take_back

SHOWN = (
    (
        "SELECT m.uid, m.text, m.status, m.valid_to, m.retired_at, n.uid, m.entities FROM memory m"
        " LEFT JOIN memory n ON n.id = m.superseded_by ORDER BY m.uid"
    ),
    "SELECT uid, text FROM rule ORDER BY uid",
    "SELECT note, outcome FROM receipt ORDER BY note",
    "SELECT hex(digest), at FROM rejected ORDER BY 1",
    "SELECT m.uid, f.path, f.blob FROM file f JOIN memory m ON m.id = f.memory ORDER BY 1, 2",
    "SELECT key, value FROM meta ORDER BY key",
)


def opened(path):
    """Open a store."""
    return closing(SqliteStore(str(path / "memman.db")))


def shown(store):
    """Return what the index says, without what is local."""
    return [list(store.db.execute(sql)) for sql in SHOWN]


def found(store, word):
    """Return what the text index finds."""
    sql = "SELECT uid FROM memory WHERE id IN (SELECT rowid FROM fts WHERE fts MATCH ?) ORDER BY uid"
    return [uid for (uid,) in store.db.execute(sql, (f"text: {word}",))]


def filled(store):
    """Do something of every kind."""
    with store.unit() as unit:
        unit.receipt(Note("n1", "default", "", 5), 5, "stored", 3)
        rows = [
            unit.add(Draft(f"m{n}", "n1", Fact(f"Nests in {where}.", entities=("heron", where)), "user", "o", 5), 5)
            for n, where in enumerate(("Aachen", "Berlin", "Cologne", "Dresden"))
        ]
        unit.settle(rows)
        unit.supersede(rows[0], rows[1], 6, 6, "moved")
        unit.tie(rows[1], {"src/a.py": "abc"}, 6)
        unit.protect(rows[1], 6, wanted=True)
        unit.doubt(rows[2], rows[1], 6, "maybe")
    with store.unit() as unit:
        unit.forget(rows[2], 7)
        unit.refuse("The heron nests in Essen.", 7)
        forgot = unit.act_at(7)
    with store.unit() as unit:
        take_back(unit, [forgot], 8, "test")
        unit.settle(rows)
    with store.unit() as unit:
        unit.forget(rows[3], 9)
        purge.purge(unit, [rows[3]], 9)


def test_the_same_records_make_the_same_store_in_any_order(tmp_path):
    """Taken in one by one, in random order, twice: index, words and names are those of the store they are from."""
    with opened(tmp_path / "a") as one, opened(tmp_path / "b") as other:
        filled(one)
        log = list(record_log.every(one.db))
        assert [wrong(record) for record in log] == [""] * len(log)
        random.Random(5).shuffle(log)
        for record in [*log, *log]:
            with other.unit() as unit:
                unit.follow(record_log.add(unit.db, [record]))
        assert shown(other) == shown(one)
        assert found(other, "nests") == found(one, "nests") == ["m0", "m1", "m2"]
        assert found(other, "dresden") == []
        assert not any("Dresden" in record.body for record in record_log.every(other.db))


def test_what_comes_after_its_purge_is_empty(tmp_path):
    """Another machine had said something of a memory before it knew: that is emptied too."""
    with opened(tmp_path / "a") as one, opened(tmp_path / "b") as other:
        filled(one)
        text = {records.UNTIL: 5}
        late = Record("a" * 16, 1, 6, "late", "m3", "held until", body("expire", set=text))
        with other.unit() as unit:
            unit.follow(record_log.add(unit.db, record_log.every(one.db)))
            unit.follow(record_log.add(unit.db, [late]))
        assert [record.body for record in record_log.every(other.db, late.host)] == [""]


def test_a_new_store_that_takes_records_in_goes_on_under_its_own_name(tmp_path):
    """Records that came before it ever wrote are another machine's, whose numbers it never uses."""
    with opened(tmp_path / "a") as one, opened(tmp_path / "b") as other:
        filled(one)
        with other.unit() as unit:
            unit.follow(record_log.add(unit.db, record_log.every(one.db)))
        assert record_log.host(other.db) != record_log.host(one.db)
        with other.unit() as unit:
            unit.forget(1, 10)
        assert [record.n for record in record_log.every(other.db, record_log.host(other.db))] == [1]


TEXTS = {
    "controls": "The port is \x01\x7f\x85 8080.",
    "quotes": """The port's "8080"; DROP TABLE memory; -- \\' $$ {} %s :x ?""",
    "huge": "port " * 100_000,
    "astral": "The port is 🦅 𠀀 数据库",
    "right to left": "\u202eThe port is 8080\u202c \ufeff\u200b",
    "accents": "Le port e\u0301tait 8080 É",
    "blanks": " \t\r\n\u2028 ",
}


@pytest.mark.parametrize("name", TEXTS)
def test_any_text_is_the_same_elsewhere(tmp_path, name):
    """As text, summary, name, keyword, path, session, reason and scope; and the record's checksum fits."""
    text = TEXTS[name]
    short = text[:300]
    with opened(tmp_path / "a") as one, opened(tmp_path / "b") as other:
        with one.unit() as unit:
            fact = Fact(text, "fact", 3, (short,), (short,), short)
            old = unit.add(Draft("m0", "n0", Fact("The port is 80."), "user", "o", 5), 5)
            new = unit.add(Draft("m1", "n1", fact, "user", "o", 6, scope=Scope("r", short)), 6)
            unit.supersede(old, new, 6, 6, short)
            unit.tie(new, {short: "abc"}, 6)
            unit.bear_out(new, "said", short, 6)
        with other.unit() as unit:
            unit.follow(record_log.add(unit.db, record_log.every(one.db)))
        assert shown(other) == shown(one)
        assert list(record_log.every(other.db)) == list(record_log.every(one.db))
        assert record_log.damaged(other.db) == []


def test_a_note_is_done_once(tmp_path):
    """Whoever drains it again is told so, and nothing of it is recorded twice."""
    note = Note("n1", "default", "", 5)
    with opened(tmp_path) as store:
        for first in (True, False):
            with store.unit() as unit:
                assert unit.receipt(note, 5, "stored", 1) == first
        assert len(record_log.of_each(store.db, ["n1"])["n1"]) == 1


GOOD = Record("e" * 16, 1, 5, "act", "m", "rated", body("feedback", set={named(records.EVIDENCE, "wrong", "s"): 5}))
TEXT = {
    "note": "n", "text": "t", "category": "fact", "importance": 3, "entities": [], "keywords": [], "summary": "",
    "source": "user", "origin": "o", "valid_from": 1, "recorded_at": 1,
}  # fmt: skip
STATUS = {"status": "current", "valid_to": None, "retired_at": None, "superseded_by": None}
BAD_SETS = [
    {"evidence [7]": 5}, {"evidence": 5}, {"evidence [": 5}, {"nonsense": 1}, {"until": "now"}, {"until": True},
    {"until": 2**70}, {"text": TEXT | {"entities": "x"}}, {"text": {"text": "x"}}, {"text": TEXT | {"importance": 9}},
    {"text": TEXT | {"note": "'; DROP"}}, {"status": {"status": "current"}}, {"status": STATUS | {"status": "gone"}},
    {"receipt": {"at": 1, "outcome": "x", "facts": 1, "note) VALUES (1)": 2}}, {"rule": {"text": "x"}},
    {"claims": ["x"]}, {"maybe": {}}, {"scope": {"where": "x"}}, {"visibility": "all"},
    {named(records.EDGE, "causal", "m"): {"weight": 9, "detail": ""}}, {named(records.FILE, "a"): 1},
    {named(records.FILE, "a", "b"): ""}, {"text": TEXT}, {"text": None}, {"status": None},
    {"text": TEXT | {"importance": True}, "status": STATUS}, {"text": TEXT | {"text": "\ud800"}, "status": STATUS},
]  # fmt: skip
BAD = [
    GOOD._replace(host=""), GOOD._replace(host="zzz"), GOOD._replace(host="f" * 300),
    GOOD._replace(n=0), GOOD._replace(n="1"), GOOD._replace(at=-1), GOOD._replace(at=2**60),
    GOOD._replace(memory="a b"), GOOD._replace(kind="learned"), GOOD._replace(kind="x"), GOOD._replace(body="[]"),
    GOOD._replace(body="x"), GOOD._replace(body="[" * 100_000), GOOD._replace(visibility="all"), GOOD._replace(act=""),
    GOOD._replace(kind="undone", body=body("undo", acts="x")), GOOD._replace(memory=""), GOOD._replace(host="h"),
    GOOD._replace(host="../" + "0" * 13), GOOD._replace(memory="rejected:zz"), GOOD._replace(body='{"x":"\ud800"}'),
    *(GOOD._replace(body=body("feedback", now={"why": odd})) for odd in ({"a": [1]}, [7], True)),
    GOOD._replace(kind="undone", body=body("undo", learned="yes")),
]  # fmt: skip


@pytest.mark.parametrize("record", [*BAD, *(GOOD._replace(body=body("feedback", set=one)) for one in BAD_SETS)])
def test_a_record_of_another_shape_is_told(record):
    """Whatever a hostile file says: no such record reaches the index."""
    assert wrong(GOOD) == ""
    assert wrong(record)


def test_what_is_from_a_time_to_come_is_told():
    """All that is recorded here stands behind what is known: a moment far away would shut this machine out."""
    late = GOOD._replace(at=2**52 - 1)
    assert (wrong(late), wrong(GOOD, 5)) == ("", "")
    assert wrong(late, 5).startswith("it is from a later day")
