"""Recall says less: what stands far below the best hit is not shown, unless it is asked for."""

import json

import pytest

from memman.recall.hit import LOW
from memman.recall.order import FIRST, outstanding
from tests.support import memories

ANSWER = "The Kubernetes ingress times out after 30 seconds; long exports go through the queue."
PRICES = "Prices are stored in minor units with an ISO 4217 currency code beside them."
ASKED = "what do we store and for how long"
OTHERS = (
    "Kafka keeps seven days of events.",
    "Nightly builds take forty minutes on the old runner.",
    "Carol designs the onboarding screens in Figma.",
    "The office cat sleeps on the router.",
    "We store sessions in Redis, with a lifetime of an hour.",
    "The search index is rebuilt on Sundays.",
    "Logs are kept for thirty days and then archived to Glacier.",
    "The staging database listens on port 5433.",
    "Feature flags live in LaunchDarkly, and are removed after two releases.",
    "Uploads over 50 MB are refused by the gateway.",
    "Tests run under pytest with xdist, four workers.",
    "Releases are cut on Thursdays by whoever is on call.",
)


@pytest.fixture
def stored(box):
    """Store two answers among what is about other things."""
    for n, text in enumerate((*OTHERS, ANSWER, PRICES)):
        box.remember(text, session=str(n))
    box.drain()
    return box


def hit(row, score, confidence, behind=None):
    """Make a hit that passed the gate."""
    return memories.hit(memories.row(id=row), score, confidence, behind)


def texts(box, *args):
    """Return what `memman recall` prints, without what stands before each text."""
    done = box.memman("recall", *args)
    assert done.returncode == 0, done.stderr
    return [line.partition(": ")[2] for line in done.stdout.splitlines()]


def test_one_good_line_stands_alone(stored):
    """A word that one memory is about brings that memory, and none of another subject."""
    assert texts(stored, "kubernetes") == [ANSWER]
    assert texts(stored, "kubernetes", "--all")[0] == ANSWER


def test_a_plain_question_gets_what_bears_on_it(stored):
    """The answer comes first, with a few others at most; all that passes the gate is shown if asked for."""
    assert texts(stored, "how do we store prices")[0] == PRICES
    shown = texts(stored, ASKED)
    assert shown[0] == OTHERS[4]
    assert len(shown) <= 4
    every = texts(stored, ASKED, "--all")
    assert [text for text in every if text in shown] == shown
    assert len(every) > len(shown)


def test_both_parsers_and_json_take_it(stored):
    """--all means the same to either parser, and in JSON; the least confidence that is asked for decides alone."""
    asked = ("recall", ASKED, "--json")
    counts = [
        len(json.loads(stored.memman(*asked, *more).stdout)["hits"])
        for more in ((), ("--all",), ("--min-confidence", "0"), ("--all", "--limit", "3"))
    ]
    assert counts[0] < counts[1] <= counts[2] == 10
    assert counts[3] == 3


def test_what_is_far_below_is_left_out():
    """Score counts twice what confidence does, each beside the best; after the first few the bar is higher."""
    hits = [hit(1, 1.0, 0.9), hit(2, 0.6, 0.8), hit(3, 0.4, 0.4), hit(4, 0.3, 0.2)]
    assert [one.id for one in outstanding(hits)] == [1, 2, 3]
    equals = [hit(n, 0.9, 0.6) for n in range(1, 9)]
    assert len(outstanding(equals)) == 8
    doubtful = [hit(n, 0.9, LOW - 0.01) for n in range(1, 9)]
    assert len(outstanding(doubtful)) == FIRST
    assert outstanding([]) == []


def test_what_was_superseded_stays_with_what_took_its_place():
    """History was asked for: a former memory is shown however low it stands, if its successor is."""
    hits = [hit(1, 1.0, 0.9), hit(2, 0.2, 0.2, behind=1), hit(3, 0.2, 0.2, behind=7)]
    assert [one.id for one in outstanding(hits)] == [1, 2]


def test_a_question_for_a_time_alone_gets_all_of_that_time(stored):
    """Whatever is of the time answers it, so nothing of it is far below."""
    assert len(texts(stored, "what did we decide today")) == 10
