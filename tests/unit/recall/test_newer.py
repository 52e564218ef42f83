"""A newer memory that may say otherwise stands first, or comes along in one line where the question did not find it."""

import json
from contextlib import closing

import pytest

from memman.clock import now_ms
from memman.model.records import Edge
from memman.model.vocabulary import EDGE_KINDS, NEWER
from memman.store.sqlite.store import SqliteStore
from tests.support.doubts import drained
from tests.support.hook_calls import context

OLD = "Prices are stored as integers in cents."
NEW = "Amounts of money became NUMERIC(12,4) columns with migration 88."
OTHER = "VAT is computed per order line."
ASKED = "how are prices stored?"


def stored(box, *texts):
    """Remember texts one after the other, judged by the built-in judge; return the uids of their memories."""
    uids = []
    for text in texts:
        note = box.remember(text)
        box.drain()
        uids += box.store("SELECT uid FROM memory WHERE note = ?", note)
    return uids


def linked(box, old, new, weight=0.5):
    """Have the memory with one text be linked to the older one that it may change."""
    (src,), (dst,) = (box.store("SELECT id FROM memory WHERE text = ?", text) for text in (new, old))
    with closing(SqliteStore(str(box.store_path()))) as store, store.unit() as unit:
        unit.link([Edge(NEWER, src, dst, weight)], now_ms())


@pytest.fixture
def pair(box):
    """Give a box in which the drain found that a newer memory may change an older one, and the uids of both."""
    return box, *stored(box, OTHER, OLD, NEW)[1:]


def test_a_change_in_other_words_comes_along_behind_the_older_one(pair):
    """The line and JSON say so; both stay current, and nothing waits for review."""
    box, old, new = pair
    above, below = box.memman("recall", ASKED).stdout.splitlines()
    assert above.startswith(old[:8])
    assert below.startswith(new[:8])
    assert below.endswith(f"user, newer than {old[:8]}: {NEW}")
    hits = json.loads(box.memman("recall", "--json", ASKED).stdout)["hits"]
    assert [(hit["uid"], hit["labels"], hit["maybe_replaced_by"]) for hit in hits] == [
        (old, [], None),
        (new, [f"newer than {old[:8]}"], None),
    ]
    assert hits[1]["via"][0] == NEWER
    assert f"newer edge from {old[:8]}" in box.memman("show", "--query", ASKED).stdout
    assert box.store("SELECT count(*) FROM memory WHERE status <> 'current'") == [0]
    assert box.recall(ASKED, limit=1) == [OLD]


def test_what_only_is_near_in_topic_is_not_linked(box):
    """A memory of the same topic that says something else brings no line."""
    stored(box, OLD, OTHER, "Discount codes are applied before shipping costs.")
    assert box.store("SELECT count(*) FROM link WHERE kind = ?", EDGE_KINDS.index(NEWER)) == [0]
    assert box.recall(ASKED) == [OLD]


def test_of_two_that_are_found_the_newer_stands_first(pair):
    """It takes the place before the older one, and stays there once."""
    box, old, _ = pair
    first, second = box.hits("are prices in cents, or which amounts of money became NUMERIC columns?", every=True)[:2]
    assert [first.row.text, second.row.text] == [NEW, OLD]
    found = box.hits("prices, amounts of money: integers in cents or NUMERIC(12,4)?", every=True)[:2]
    assert [hit.row.text for hit in found] == [NEW, OLD]
    assert found[0].labels == (f"newer than {old[:8]}",)


def test_of_two_about_other_things_the_better_answer_stays_first(pair):
    """What answers the question much less well stays behind, labelled."""
    box, old, _ = pair
    found = box.hits("prices stored as integers in cents, not as amounts of money in NUMERIC columns", every=True)[:2]
    assert [hit.row.text for hit in found] == [OLD, NEW]
    assert found[1].labels == (f"newer than {old[:8]}",)


def test_only_the_best_hit_brings_one_line(box):
    """The likeliest of several, in force, is all that comes along."""
    stored(box, OLD, OTHER, "Kai likes tea.", "Ada has a red bicycle.", "Ute plays the cello.")
    linked(box, OLD, "Kai likes tea.", 0.3)
    linked(box, OLD, "Ada has a red bicycle.", 0.6)
    linked(box, OTHER, "Ute plays the cello.", 0.9)
    assert box.recall(f"{ASKED} how is VAT computed?") in (
        [OLD, "Ada has a red bicycle.", OTHER],
        [OTHER, "Ute plays the cello.", OLD],
    )
    drained(box, "Ada has a blue bicycle.", judged=(("blue", "UPDATE", "red"),))
    assert box.recall(ASKED) == [OLD, "Ada has a blue bicycle."]


def test_what_may_not_stand_beside_the_older_one_stays_away(pair):
    """Not what is past its end, what a page says, what a filter keeps out, or what is older by its own time."""
    box, *_ = pair
    assert box.recall(ASKED) == [OLD, NEW]
    for column, value in (("source", "web"), ("valid_from", 1), ("status", "forgotten")):
        (was,) = box.store(f"SELECT {column} FROM memory WHERE text = ?", NEW)
        box.alter(f"UPDATE memory SET {column} = ? WHERE text = ?", value, NEW)
        assert box.recall(ASKED) == [OLD], column
        box.alter(f"UPDATE memory SET {column} = ? WHERE text = ?", was, NEW)
    (since,) = box.store("SELECT recorded_at FROM memory WHERE text = ?", NEW)
    assert box.recall(ASKED, until=since) == [OLD]
    box.alter("INSERT INTO freshness(memory, ends_at) SELECT id, 1 FROM memory WHERE text = ?", NEW)
    assert box.recall(ASKED) == [OLD]


def test_a_prompt_brings_it_too(pair):
    """The hook shows both, the newer one labelled, in one line more."""
    box, old, new = pair
    context(box, "user-prompt", "claude-code", {"session_id": "s", "prompt": "paint the shed"})
    told = context(box, "user-prompt", "claude-code", {"session_id": "s", "prompt": ASKED})
    assert [line[:8] for line in told.splitlines() if NEW in line or OLD in line] == [old[:8], new[:8]]
    assert f"newer than {old[:8]}: {NEW}" in told
