"""Recall while other processes write: a drain at work, an embedder being swapped."""

import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from memman.hot.recall_session import RecallSession
from memman.store.filters import Filters
from tests.support.providers import ScriptedProvider

QUESTION = "where is the web shop deployed"
PLACES = ("Vercel", "Coolify", "Hetzner", "Fly", "Render", "Railway")


def moves():
    """Yield what is said of the web shop, move after move, among much that is said of other things."""
    yield "The web shop is deployed on Vercel."
    for old, new in itertools.pairwise(PLACES):
        yield f"The web shop moved from {old} to {new}."
        for n in range(30):
            yield f"Worker {new.lower()}-{n} retries failed jobs {n + 2} times."


def asked(box):
    """Recall by the installed program; return the place that its first hit about the shop names last."""
    ended = box.memman("recall", "--json", QUESTION)
    assert (ended.returncode, ended.stderr) == (0, "")
    hits = json.loads(ended.stdout)["hits"]
    assert all(hit["status"] in {"current", "pending"} for hit in hits)
    stored = [hit["text"] for hit in hits if "web shop" in hit["text"] and hit["status"] == "current"]
    assert len(stored) <= 1, "two places hold at once"
    return next((place for place in reversed(PLACES) if stored and f"to {place}" in stored[0]), None)


@pytest.mark.slow
def test_recall_during_a_drain_tells_one_current_fact_and_never_goes_back(box):
    """While a drain commits note after note each recall works, and what it tells only moves on."""
    for text in moves():
        box.remember(text)
    drain = box.start_drain()
    told = []
    while drain.poll() is None:
        told.append(asked(box))
    assert drain.communicate()[1] == ""
    told.append(asked(box))
    places = [PLACES.index(place) for place in told if place]
    assert places == sorted(places)
    assert told[-1] == PLACES[-1]
    assert len(told) > 1


@pytest.mark.slow
def test_recall_during_a_swap_of_embedders_answers_as_before(box):
    """While vectors of another embedder are made, every recall gives the same hits."""
    for text in moves():
        box.remember(text)
    box.drain()
    before = box.memman("recall", QUESTION).stdout
    with ScriptedProvider(dimension=64, latency=0.3) as provider:
        at = ("--endpoint", f"{provider.url}/v1")
        box.configure(EMBED_API_KEY="key-of-the-test")
        seen = set()
        with ThreadPoolExecutor(1) as pool:
            swap = pool.submit(box.person, "embed", "swap", "--to", "openai", "--model", "new", *at)
            while not swap.done():
                seen.add(box.memman("recall", QUESTION).stdout)
        assert (swap.result().returncode, swap.result().stderr) == (0, "")
        seen.add(box.memman("recall", QUESTION).stdout)
    assert {without_ages(text) for text in seen} == {without_ages(before)}


def without_ages(text):
    """Return the lines without how long ago each was."""
    return tuple((line.split(" ", 2)[0], line.split(" ", 2)[2]) for line in text.splitlines())


def test_one_recall_sees_one_moment(box):
    """Whatever is committed between two of its reads, a recall tells what was there at its first, at every read."""
    box.remember("Alice owns the schema.")
    box.remember("The web shop is deployed on Vercel.")
    box.drain()
    expected = box.recall(QUESTION)
    for step in range(2, 60):
        recalls = RecallSession(str(box.data), "default")
        reads = itertools.count(1)

        def between(*_, at=step, reads=reads):
            if next(reads) == at:
                box.alter("UPDATE memory SET status = 'superseded', superseded_by = 1 WHERE id = 2")
            return True

        recalls.reader.db.exec_trace = between
        assert [hit.row.text for hit in recalls.hits(QUESTION, Filters(), 10)] == expected, step
        recalls.close()
        box.alter("UPDATE memory SET status = 'current', superseded_by = NULL WHERE id = 2")
        if next(reads) <= step:
            break
    assert step > 5


def test_queries_of_one_shelf_see_one_moment(box):
    """The passages of a prompt are all answered by the same state of the store; the next recalls sees what is new."""
    box.remember("The web shop is deployed on Vercel.")
    box.drain()
    recalls = RecallSession(str(box.data), "default")
    before = [hit.row.text for hit in recalls.hits(QUESTION, Filters(), 10)]
    box.alter("UPDATE memory SET text = 'The web shop is deployed on Fly.'")
    assert [hit.row.text for hit in recalls.hits(QUESTION, Filters(), 10)] == before
    recalls.close()
    assert box.recall(QUESTION) == ["The web shop is deployed on Fly."]


def test_a_store_on_a_medium_that_nobody_can_write_is_read(box):
    """Reading one moment needs no right to write."""
    box.remember("The web shop is deployed on Vercel.")
    box.drain()
    folder = box.store_path().parent
    box.store("PRAGMA wal_checkpoint(TRUNCATE)")
    for path in (box.store_path(), folder):
        path.chmod(0o500)
    try:
        done = box.mortal("recall", QUESTION)
    finally:
        folder.chmod(0o700)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Vercel" in done.stdout
