"""One store: what supersede, forget, restore and a second commit do to rows, index, codes and log."""

import contextlib
import json

import apsw
import pytest

from memman.model.records import Edge
from memman.store.sqlite.schema import HIDDEN_CELL
from memman.store.sqlite.store import open_store

# One session; the third takes the place of the second. Every text has a word of its own.
SESSION = (
    "The team meets on Mondays in Aachenroom.",
    "We deploy on Vercelword.",
    "We moved from Vercelword to Coolifyword.",
    "Invoices are kept in Postgresword for ten years.",
    "Nightly builds take Fortyminutes.",
    "Bob reviews every Pullrequestword.",
)
OWN = ("Aachenroom", "Vercelword", "Coolifyword", "Postgresword", "Fortyminutes", "Pullrequestword")
LATER = 4_000_000_000_000


@pytest.fixture
def session(box):
    """Store the session, one drain a note, and give the box."""
    for text in SESSION:
        box.remember(text, session="s", agent="a")
        box.drain()
    assert box.store("SELECT status FROM memory ORDER BY id") == ["current", "superseded", *["current"] * 4]
    return box


def change(box, verb, *args):
    """Run one of the unit's verbs in a transaction of its own."""
    store = open_store(str(box.data), "default")
    try:
        with store.unit() as unit:
            return getattr(unit, verb)(*args)
    finally:
        store.close()


def dump(box):
    """Return everything recall can see of the store: rows, text index, sign codes, vectors, edges."""
    return {
        "memory": box.store("SELECT * FROM memory ORDER BY id"),
        "index": index(box),
        "code": box.store("SELECT * FROM code ORDER BY embedder, memory"),
        "vector": box.store("SELECT embedder, memory, cell FROM vector ORDER BY 1, 2"),
        "edge": box.store("SELECT * FROM edge ORDER BY 1, 2, 3"),
    }


def index(box):
    """Return every (term, row, column) of the text index."""
    db = apsw.Connection(str(box.store_path()))
    db.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, fts, instance)")
    found = list(db.execute("SELECT term, doc, col, offset FROM temp.vocabulary ORDER BY 1, 2, 3, 4"))
    db.close()
    return found


@pytest.mark.parametrize("memory", range(1, 7))
def test_forget_and_restore_cancel_out(session, memory):
    """A memory forgotten and restored leaves rows, index, codes and edges exactly as they were."""
    before = dump(session)
    assert change(session, "forget", memory, LATER)
    assert dump(session) != before
    assert change(session, "restore", memory, LATER + 1)
    assert dump(session) == before
    uid = session.store("SELECT uid FROM memory WHERE id = ?", memory)[0]
    assert session.store("SELECT verb FROM log WHERE memory = ? ORDER BY id DESC LIMIT 2", uid) == ["restore", "forget"]


def test_forgetting_twice_or_restoring_what_is_there_changes_nothing(session):
    """A second forget, and a restore of a current memory, report False and write nothing."""
    assert change(session, "forget", 4, LATER)
    before = dump(session), session.store("SELECT count(*) FROM log")
    assert not change(session, "forget", 4, LATER + 5)
    assert not change(session, "restore", 1, LATER + 5)
    assert (dump(session), session.store("SELECT count(*) FROM log")) == before


@pytest.mark.parametrize(("memory", "word"), tuple(enumerate(OWN, 1)))
def test_a_forgotten_text_is_found_by_no_recall(session, memory, word):
    """Neither default, history nor as-of recall finds a forgotten text, by its words or through its neighbours."""
    text = SESSION[memory - 1]
    before = session.store("SELECT max(recorded_at) FROM memory")[0]
    assert change(session, "forget", memory, LATER)
    for query in (word, text, f"why {text}", f"when {text}", *SESSION):
        for filters in ({}, {"history": True}, {"as_of": before}, {"as_of": LATER - 1}, {"history": True, "since": 0}):
            assert text not in session.recall(query, limit=50, **filters)
    left = {term for term, *_ in index(session)}
    shared = sum(word in other for other in SESSION) > 1
    assert (word.lower() in left) == shared
    assert session.store("SELECT DISTINCT cell FROM code WHERE memory = ?", memory) == [HIDDEN_CELL]


def test_forgetting_the_successor_does_not_bring_the_old_fact_back(session):
    """When the fact in force is forgotten, the one it superseded stays out of default recall."""
    assert change(session, "forget", 3, LATER)
    assert not {SESSION[1], SESSION[2]} & set(session.recall("where do we deploy, Vercelword or Coolifyword"))


def test_neighbours_context_skips_what_is_forgotten(session):
    """Once a memory is forgotten its neighbours are found by each other's words instead."""
    near = {doc for term, doc, col, _ in index(session) if term == "pullrequestword" and col == "context"}
    assert near == {4, 5}
    change(session, "forget", 5, LATER)
    near = {doc for term, doc, col, _ in index(session) if term == "pullrequestword" and col == "context"}
    assert near == {3, 4}


def test_supersede_closes_and_links_and_logs(session):
    """A superseded memory keeps its row and index, gains an end and a successor, and the log has both states."""
    row = session.store("SELECT status, superseded_by, valid_to, retired_at FROM memory WHERE id = 2")[0]
    new = session.store("SELECT valid_from, recorded_at FROM memory WHERE id = 3")[0]
    assert row == ("superseded", 3, *new)
    assert any(term == "vercelword" and doc == 2 and col == "text" for term, doc, col, _ in index(session))
    uid = session.store("SELECT uid FROM memory WHERE id = 2")[0]
    before, after = session.store("SELECT before, after FROM log WHERE memory = ? AND verb = 'supersede'", uid)[0]
    assert json.loads(before) == {"status": "current", "valid_to": None, "superseded_by": None}
    (heir,) = session.store("SELECT uid FROM memory WHERE id = 3")
    assert json.loads(after).items() >= {"status": "superseded", "superseded_by": heir, "valid_to": new[0]}.items()
    assert not change(session, "supersede", 2, 4, LATER, LATER, "again")


def test_a_second_commit_of_a_note_is_a_no_op(box):
    """A note handed to the pipeline again, as after a crash, stores, links and logs nothing."""
    uid = box.remember(SESSION[0])
    box.remember(SESSION[3])
    box.drain()
    before = dump(box), box.store("SELECT * FROM log")
    box.queue("UPDATE note SET state = 'pending', text = ?, digest = NULL WHERE uid = ?", SESSION[0], uid)
    report = box.drain()
    assert (report.done, report.added, report.errors) == (1, 0, [])
    assert (dump(box), box.store("SELECT * FROM log")) == before
    assert box.states() == {"done": 2}


def test_the_rows_a_failed_transaction_wrote_are_gone(box):
    """What raises inside a unit leaves the store as it was."""
    box.remember(SESSION[0])
    box.remember(SESSION[3])
    box.drain()
    before = dump(box), box.store("SELECT * FROM log")
    store = open_store(str(box.data), "default")
    with contextlib.suppress(ZeroDivisionError), store.unit() as unit:
        assert unit.forget(1, LATER)
        unit.link([Edge("causal", 1, 2, 1.0)])
        unit.set_meta("x", str(1 / 0))
    store.close()
    assert (dump(box), box.store("SELECT * FROM log")) == before


def test_stores_are_files_of_their_own(box):
    """What one store holds is in no byte of another, and a recall of one never shows the other."""
    box.remember("The password rotation is on Tuesdayword.", store="work")
    box.remember("The choir rehearses on Thursdayword.", store="home")
    box.drain()
    assert b"Thursdayword" not in box.store_path("work").read_bytes()
    assert b"Tuesdayword" not in box.store_path("home").read_bytes()
    for words in ("Tuesdayword", "rotation rehearses on Tuesdayword Thursdayword"):
        assert all("Tuesdayword" not in text for text in box.recall(words, store="home", limit=50, history=True))


def test_vectors_of_two_embedders_are_kept_apart(box):
    """Configured vectors stand beside the built-in ones and the judge's, each under its own fingerprint."""
    from tests.support.providers import ScriptedProvider

    with ScriptedProvider(dimension=32) as provider:
        box.use(provider)
        box.remember(SESSION[0])
        box.drain()
    sql = "SELECT dimension, length(planes) FROM vector JOIN embedder ON id = embedder ORDER BY 1"
    sizes = box.store(sql)
    assert sizes == [(32, 16), (256, 128), (384, 192)]
