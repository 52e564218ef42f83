"""Recall, reminders and a session's start never put what is maybe replaced before what maybe replaces it."""

import json
import random
import time

import pytest

from memman.hot.recall import found
from memman.recall.supersede import doubted, newer_first
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader
from tests.support import memories
from tests.support.doubts import ASKED, NEW, OLD, drained, marks
from tests.support.hook_calls import context

LAST = "Railway takes each deploy of the shop, since summer."
OTHER = "Vercel is for previews of pull requests."


@pytest.fixture
def pair(box):
    """Give a box with an older memory that is maybe replaced, and the uids of both."""
    return box, *drained(box, OLD, NEW)


def answer(box, *args, asked=ASKED):
    """Return the hits of `memman recall --json`."""
    done = box.memman("recall", "--json", *args, asked)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["hits"]


def test_the_newer_one_stands_before_the_older_which_says_so(pair):
    """It is brought in where nothing finds it, as high and as sure; the line and JSON name it."""
    box, old, new = pair
    above, below = box.memman("recall", ASKED).stdout.splitlines()
    assert above.startswith(new[:8])
    assert above.endswith(f"user: {NEW}")
    assert below.startswith(old[:8])
    assert f"user, maybe replaced by {new[:8]}" in below
    first, second = answer(box)
    assert [one["maybe_replaced_by"] for one in (first, second)] == [None, new]
    assert first["score"] > second["score"]
    assert first["confidence"] >= second["confidence"]
    assert "succession" in box.memman("show", "--query", ASKED).stdout


def test_without_the_mark_nothing_finds_the_newer_one(pair):
    """The question is answered by the older one alone: what brings the newer one in is the mark."""
    box, old, _ = pair
    box.memman("insights", "protect", old)
    assert [one["uid"] for one in answer(box)] == [old]


def test_it_stays_within_the_limit(pair):
    """Where there is room for one line, that is the newer one's."""
    box, _, new = pair
    assert [one["uid"] for one in answer(box, "--limit", "1")] == [new]


def test_others_keep_their_places(box):
    """The newer one has the older one's place, which follows it; the last lines make room."""
    (preview,) = drained(box, "Vercel is for previews, and Vercel is for nothing else.")
    old, new = drained(box, OLD, NEW, judged=(("Coolify", "MAYBE", "deploy"),))
    assert [hit.row.uid for hit in box.hits(ASKED, every=True)] == [preview, new, old]
    assert [hit.row.uid for hit in box.hits(ASKED, every=True, limit=2)] == [preview, new]


@pytest.mark.parametrize(("surer", "shown"), [(0.9, [LAST, NEW, OTHER]), (0.45, [LAST, NEW, OLD])])
def test_an_older_one_leaves_its_line_to_a_surer_hit(box, surer, shown):
    """A chain that does not fit gives up its older end to a hit in no doubt that is surer, and to no other."""
    judged = (("Coolify", "MAYBE", "Vercel"), ("Railway", "MAYBE", "Coolify"))
    drained(box, OLD, NEW, LAST, judged=judged)
    drained(box, OTHER, judged=())
    reader = SqliteReader.open(str(box.data / "data/default/memman.db"))
    rows = {hit.row.text: hit.row for hit in box.hits("deploy of the shop on Vercel", every=True)}
    hits = [memories.hit(rows[OLD], 0.9, 0.5), memories.hit(rows[OTHER], 0.8, surer)]
    assert [hit.row.text for hit in doubted(reader, hits, Filters(), 3)] == shown
    assert [hit.row.text for hit in doubted(reader, hits, Filters(), 4)] == [LAST, NEW, OLD, OTHER]
    assert [hit.row.text for hit in doubted(reader, hits, Filters(), 1)] == [LAST]
    reader.close()


@pytest.mark.parametrize("intent", ["when", "why", "entity", "general"])
@pytest.mark.parametrize("asked", [ASKED, "deploy of the shop: Coolify or Vercel?"])
def test_no_order_puts_the_older_one_first(pair, intent, asked):
    """Not even by the clock: an older memory that claims a later time stays behind."""
    box, *_ = pair
    box.alter("UPDATE memory SET valid_from = valid_from + 1000000 WHERE text = ?", OLD)
    hits = found(str(box.data), "default", asked, Filters(every=True), 10, intent)
    assert [hit.row.text for hit in hits] == [NEW, OLD]


def test_what_a_filter_keeps_out_is_named_all_the_same(pair):
    """Where the newer one is not asked for, the older one stands alone, marked."""
    box, _, new = pair
    box.alter("UPDATE memory SET source = 'agent' WHERE text = ?", NEW)
    (alone,) = box.hits(ASKED, source="user")
    assert (alone.row.text, alone.maybe_replaced_by) == (OLD, new)


def test_before_the_newer_one_came_the_older_one_is_unmarked(pair):
    """`--as-of` a moment between the two there was no doubt; after both there is."""
    box, *_ = pair
    box.alter("UPDATE memory SET recorded_at = recorded_at - 7200000, valid_from = valid_from - 7200000 WHERE id = 1")
    then, now = (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at / 1000 + 60))
        for at in box.store("SELECT recorded_at FROM memory ORDER BY id")
    )
    assert [one["maybe_replaced_by"] for one in answer(box, "--as-of", then)] == [None]
    assert [one["text"] for one in answer(box, "--as-of", now)] == [NEW, OLD]


def test_doubts_are_followed_to_the_newest(box):
    """Of three in a row each stands before the one that it maybe replaces, the newest first."""
    judged = (("Coolify", "MAYBE", "Vercel"), ("Railway", "MAYBE", "Coolify"))
    uids = drained(box, OLD, NEW, LAST, judged=judged)
    assert marks(box) == {OLD: NEW, NEW: LAST}
    hits = box.hits(ASKED)
    assert [(hit.row.uid, hit.maybe_replaced_by) for hit in hits] == [
        (uids[2], None),
        (uids[1], uids[2]),
        (uids[0], uids[1]),
    ]
    assert box.recall(ASKED, limit=2) == [LAST, NEW]


def test_a_superseded_newer_one_gives_way_to_what_holds(pair):
    """What stands before the older one is what is in force in the newer one's place."""
    box, _, new = pair
    box.memman("replace", new, LAST)
    box.drain()
    assert box.recall(ASKED) == [LAST, OLD]


def marked(row, newer):
    """Make a hit that is maybe replaced by the memory in row `newer`."""
    by = None if newer is None else f"u{newer}"
    return memories.hit(memories.row(id=row, uid=f"u{row}")).having(maybe_replaced_by=by)


def test_no_order_of_hits_and_marks_puts_an_older_one_first():
    """Of a thousand shuffled lists every hit is kept, once, each right after or below what maybe replaces it."""
    chance = random.Random(1)
    for _ in range(1000):
        hits = [
            marked(n, chance.randrange(n + 1, 16) if chance.random() < 0.5 else None)
            for n in range(chance.randrange(1, 12))
        ]
        chance.shuffle(hits)
        placed = newer_first(hits)
        assert sorted(hit.id for hit in placed) == list(range(len(hits)))
        at = {hit.row.uid: place for place, hit in enumerate(placed)}
        assert all(at.get(hit.maybe_replaced_by, -1) < at[hit.row.uid] for hit in hits)
        if not any(at.get(hit.maybe_replaced_by) is not None for hit in hits):
            assert placed == hits


def test_a_ring_of_doubts_is_shown_once():
    """A file that was meddled with loses no hit."""
    hits = [marked(n, (n + 1) % 3) for n in range(3)]
    assert sorted(hit.id for hit in newer_first(hits)) == [0, 1, 2]


# --- before a model, unasked ---


def test_a_reminder_has_the_newer_one_first(pair):
    """A prompt that bears on the older memory brings the newer one before it, once a session."""
    box, _, new = pair
    prompt = {"session_id": "s", "prompt": "Which Vercel plan do we deploy the shop on?"}
    told = context(box, "user-prompt", "claude-code", prompt)
    assert 0 < told.index(NEW) < told.index(OLD)
    assert f"maybe replaced by {new[:8]}" in told
    assert context(box, "user-prompt", "claude-code", prompt) == ""


def test_a_session_begins_with_the_newer_one_first(box):
    """It stands before the older one, whatever its own category; one that is not to be shown is named."""
    (old,) = drained(box, OLD, category="decision")
    assert f"- {OLD} (" in box.memman("prime").stdout
    (new,) = drained(box, NEW)
    told = box.memman("prime").stdout
    assert told.index(f"- {NEW} (") < told.index("Uncertain") < told.index(f"- {OLD} (")
    older = f"maybe replaced by {new[:8]}; {old[:6]})"
    assert older in told
    box.alter("UPDATE memory SET source = 'web' WHERE text = ?", NEW)
    told = box.memman("prime").stdout
    assert NEW not in told
    assert older in told


def test_a_session_begins_with_the_newest_once(box):
    """Where both are decisions, each stands once, the newest first."""
    judged = (("Coolify", "MAYBE", "Vercel"), ("Railway", "MAYBE", "Coolify"))
    drained(box, OLD, NEW, LAST, judged=judged, category="decision")
    told = box.memman("prime").stdout
    assert [told.count(text) for text in (OLD, NEW, LAST)] == [1, 1, 1]
    assert told.index(LAST) < told.index(NEW) < told.index(OLD)
