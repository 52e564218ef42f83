"""The judge in the drain: what it retires, what it marks, and the vectors that it keeps of memories."""

import asyncio
from contextlib import closing

from memman.judge.heads import MAYBE as UNSURE
from memman.judge.heads import NOT, Retirement
from memman.model.records import Candidate, Fingerprint
from memman.model.vocabulary import JUDGE
from memman.model.vocabulary import JUDGED as READ_BY
from memman.pipeline.candidates import closest
from memman.pipeline.vectors import JudgedVectors
from memman.queue.notes import Queue
from memman.store.sqlite import vectors
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.backfill import catch_up

JUDGED = "SELECT v.memory FROM vector v JOIN embedder e ON e.id = v.embedder WHERE e.provider = 'judge' ORDER BY 1"
OTHERS = (
    "Invoices are numbered per year.",
    "The office cat sleeps on the router.",
    "Kim reviews all migrations.",
    "Uploads go to the bucket `reports-eu`.",
)


def current(box):
    """Return the memories in force."""
    return box.store("SELECT text FROM memory WHERE status = 'current' ORDER BY id")


def told(box, *texts):
    """Remember texts one after the other, each in a session and a drain of its own."""
    for n, text in enumerate(texts):
        box.remember(text, session=f"{text[:8]}-{n}")
        box.drain()


def test_a_new_value_retires_the_old_one_and_nothing_else(box):
    """The plainest of changes, told without the word that something changed."""
    told(box, *OTHERS, "Sessions expire after 30 minutes.", "Sessions now expire after 8 hours.")
    assert current(box) == [*OTHERS, "Sessions now expire after 8 hours."]
    assert box.recall("when do sessions expire")[0] == "Sessions now expire after 8 hours."


APART = [
    (
        "The qzxcanary2 relay for station K2 listens on port 812.",
        "The qzxcanary4 relay for station K4 listens on port 814.",
    ),
    ("Topic orders.v2 has 24 partitions.", "Topic orders.v3 has 48 partitions."),
    ("SSH on the shared server is on port 2222.", "FTP on the shared server is on port 2121."),
]
MARKED = "SELECT o.uid, n.uid FROM mark JOIN memory o ON o.id = memory JOIN memory n ON n.id = maybe"
CHANGED = ("The API listens on port 8080.", "The API listens on port 9090.")


def test_what_is_said_of_another_thing_makes_nothing_doubtful(box):
    """Statements of one frame whose subjects have different names stay unmarked; another value is a change."""
    for pair in APART:
        told(box, *pair)
    assert current(box) == [text for pair in APART for text in pair]
    assert box.store(MARKED) == []
    told(box, *CHANGED)
    assert current(box)[-1] == CHANGED[1]
    assert CHANGED[0] not in current(box)


def test_what_is_unsure_is_marked_and_both_stay(box, monkeypatch):
    """Below the bar of what is sure, the older one is marked by the newer and stands behind it."""
    monkeypatch.setattr(Retirement, "band", lambda _, share, alone: UNSURE if min(share, alone) >= 0.5 else NOT)
    told(box, *OTHERS, "Sessions expire after 30 minutes.", "Sessions now expire after 8 hours.")
    assert len(current(box)) == len(OTHERS) + 2
    old, new = box.store("SELECT uid FROM memory WHERE text LIKE 'Sessions%' ORDER BY id")
    assert box.store(MARKED) == [(old, new)]
    hits = box.hits("when do sessions expire")
    assert [hit.row.uid for hit in hits][:2] == [new, old]
    assert hits[1].maybe_replaced_by == new


def test_an_old_memory_that_shares_no_word_is_offered(box):
    """The judge's vector finds what neither words nor the built-in vector would put first."""
    told(box, *OTHERS, "We store images in GCS.", "pictures: R2 since the egress bill")
    offered = box.store("SELECT text, status FROM memory WHERE text LIKE '%GCS%'")
    marked = box.store(MARKED) != []
    assert offered == [("We store images in GCS.", "superseded")] or marked


def unread(box, name="default"):
    """Take the judge's vectors away, as in a store of a release that had another judge."""
    for table in ("vector", "code"):
        box.alter(
            f"DELETE FROM {table} WHERE embedder IN (SELECT id FROM embedder WHERE provider = 'judge')", name=name
        )
    box.alter("DELETE FROM meta WHERE key LIKE 'filled:%'", name=name)


def judged_again(store, judge, most, monkeypatch):
    """Have the judge read what it has not, up to `most` memories; return whether some are left."""
    monkeypatch.setattr("memman.upkeep.backfill.BATCH", 1)
    monkeypatch.setattr("memman.upkeep.backfill.AT_ONCE", most)
    return asyncio.run(catch_up(["default"], lambda _: store, [JudgedVectors(judge)]))


def test_of_what_is_offered_the_judge_reads_what_is_nearest():
    """A memory much farther from a fact than the closest is spared; one that was not offered is left out."""
    scores = {"far": 0.5, "near": 0.8, "elsewhere": 0.95, "nearest": 0.9, "there": 0.6}
    candidates = [Candidate(uid, uid, "fact", (), 0, 0.5, score=one) for uid, one in scores.items()]
    numbers = {"far": 0, "near": 1, "nearest": 2, "there": 3}
    assert closest(candidates, numbers) == [2, 1, 3]
    assert closest([], numbers) == []


def test_memories_of_before_are_given_their_vectors(box, judge, monkeypatch):
    """A store that another release filled is judged at the end of drains, some memories at a time."""
    told(box, *OTHERS)
    unread(box)
    store = SqliteStore(str(box.store_path()))
    try:
        assert judged_again(store, judge, 3, monkeypatch)
        assert len(box.store(JUDGED)) == 3
        assert not judged_again(store, judge, 3, monkeypatch)
        assert len(box.store(JUDGED)) == len(OTHERS)
    finally:
        store.close()


def test_vectors_of_an_earlier_judge_go_once_all_are_made_anew(box, judge, monkeypatch):
    """After an upgrade both are there until the new ones are complete."""
    told(box, *OTHERS)
    store = SqliteStore(str(box.store_path()))
    try:
        with store.unit() as unit:
            unit.db.execute("UPDATE embedder SET model = 'judge-of-before' WHERE provider = ?", (JUDGE,))
        assert judged_again(store, judge, 2, monkeypatch)
        assert Fingerprint(JUDGE, "judge-of-before", 256) in vectors.embedders(store.db)
        assert not judged_again(store, judge, 9, monkeypatch)
        names = [made.model for made in vectors.embedders(store.db) if made.provider == JUDGE]
        assert names == [judge.name]
        assert len(box.store(JUDGED)) == len(OTHERS)
    finally:
        store.close()


def test_every_store_is_judged_once_after_an_upgrade(box):
    """A drain walks all stores when the judge is another, those too that no note came to."""
    for name in ("alpha", "beta"):
        box.remember(OTHERS[0], store=name)
    box.drain()
    for name in ("alpha", "beta"):
        unread(box, name)
    with closing(Queue(str(box.data))) as queue:
        queue.set_meta(READ_BY, "")
    box.remember(OTHERS[1], store="alpha")
    box.drain()
    for name in ("alpha", "beta"):
        judged = box.store(JUDGED, name=name)
        assert judged == box.store("SELECT id FROM memory ORDER BY 1", name=name)


def test_a_missing_judge_stops_the_drain_and_costs_no_note(box, monkeypatch, tmp_path):
    """Where its files are gone, the line says what to do, and notes wait."""
    monkeypatch.setattr("memman.judge.judge.FOLDER", f"{tmp_path}/")
    monkeypatch.setattr("memman.judge.judge.Judge.__init__.__defaults__", (f"{tmp_path}/",))
    box.remember(OTHERS[0])
    report = box.drain()
    assert "install memman again" in report.stopped
    assert box.states() == {"pending": 1}


def test_a_drain_without_notes_ends_as_ever_where_the_judge_is_missing(box, monkeypatch, tmp_path):
    """Nothing needs it then: the drain writes it down, and goes on to what comes after."""
    box.remember(OTHERS[0])
    box.drain()
    monkeypatch.setattr("memman.judge.judge.Judge.__init__.__defaults__", (f"{tmp_path}/",))
    assert box.drain().stopped == ""
    assert "upgrade failed" in (box.data / "logs" / "worker.jsonl").read_text(encoding="utf-8")


def test_code_and_long_texts_replace_nothing(box):
    """What the judge has not learned to compare stays, unmarked."""
    long = "The importer reads the queue, " + ", ".join(f"writes ledger number {n}" for n in range(14))
    told(box, "Start it with:\n```\nmake run PORT=8080\n```", "Start it with:\n```\nmake run PORT=9090\n```", long)
    told(box, long.replace("the queue", "the topic"))
    assert len(current(box)) == len(box.store("SELECT uid FROM memory")) == 4
    assert box.store("SELECT memory FROM mark") == []
