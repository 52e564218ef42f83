"""Whether a statement ends another: only what bears on the same thing does, whatever names and words they share."""

import numpy as np
import pytest

from memman.judge.heads import FEATURES, HEADS, MAYBE, NOT, NOTHING, SURE, Retirement, features, read_retirement
from memman.judge.judge import FOLDER, Judge

JUDGE = Judge()
# Both hold: the judge alone was surer than .9 that the second ends the first.
BOTH_HOLD = [
    (
        "sync API is gRPC, the .proto files in /proto are the truth",
        "touched a .proto? run ./gradlew protoSync, Xcode picks it up by itself",
    ),
    (
        "Leila is the release manager, always; Anton if she's away",
        "old branches are pruned by Leila after each release, nobody else deletes any",
    ),
    (
        "Hotfixes during the freeze need a yes from both Marit and Tobias in the #quayside channel.",
        "#quayside is the team's Mattermost channel, #bilge collects automatic alerts.",
    ),
    (
        "Row level security separates the communes, with app.commune_id set in each transaction.",
        "Communes sign in with AGOV and drivers hold up an NFC badge; passwords don't exist.",
    ),
    (
        "Before ten I'm useless, put the hard decisions after coffee.",
        "Before anything long-running tell me how long you reckon it takes, then I go and make tea.",
    ),
]
CHANGED = [
    ("The API listens on port 8080.", "The API listens on port 9090."),
    ("We deploy to Fly.", "We deploy to Hetzner, Fly got too expensive."),
    ("The default branch is master.", "we renamed master to main"),
    ("Antworte auf Englisch.", "Antworte ab jetzt auf Deutsch."),
    (
        "The checkout service is hosted on Heroku.",
        (
            "Checkout moved from Heroku to Fly.io in March: deploys happen by GitHub Actions on merge to main,"
            " no more git push heroku."
        ),
    ),
]
# Of two that a statement may be about one is much nearer.
OTHER = "We store the data of the image importer in MongoDB."
NEARER = "MongoDB is the database of the invoice importer."
REPLACED = "We replaced MongoDB by SQLite in the invoice importer."


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_what_only_shares_a_name_is_not_retired(box, old, new):
    """A true statement stays in force beside another that mentions the same person or thing."""
    assert JUDGE.relation(old, new).ends >= 0.9
    for n, text in enumerate((old, new)):
        box.remember(text, session=str(n))
        box.drain()
    assert box.store("SELECT text FROM memory WHERE status = 'current' ORDER BY id") == [old, new]


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_a_change_retires_what_it_changes(box, old, new):
    """Plainly said, in like words and in others."""
    for n, text in enumerate((old, new)):
        box.remember(text, session=str(n))
        box.drain()
    assert box.store("SELECT text FROM memory WHERE status = 'current'") == [new]


def test_the_nearest_of_what_is_alike_is_retired(box):
    """A change of one thing is none of another whose name is alike."""
    for n, text in enumerate((OTHER, NEARER, REPLACED)):
        box.remember(text, session=str(n))
        box.drain()
    assert box.store("SELECT text FROM memory WHERE status = 'current' ORDER BY id") == [OTHER, REPLACED]


def test_what_was_said_twice_ends_twice(box):
    """What says the same as a memory that ends does not outlive it, in whatever words."""
    new = "The search service listens on port 9157 now, not on 9638."
    twice = ("9638 is the port of the search service.", "You reach the search service on port 9638.")
    for n, text in enumerate((*twice, new)):
        box.remember(text, session=str(n))
        box.drain()
    assert box.store("SELECT text FROM memory WHERE status = 'current'") == [new]


def test_each_older_statement_has_a_share_and_a_band():
    """What the judge finds impossible has none, and is not read once more."""
    olds = [CHANGED[0][0], "The office cat sleeps on the router.", BOTH_HOLD[0][0]]
    (judged,) = JUDGE.compared([(CHANGED[0][1], tuple(olds))])
    found = JUDGE.endings(CHANGED[0][1], olds, judged)
    assert found[0][1] == SURE
    assert found[1:] == [(0.0, NOT)] * 2
    assert JUDGE.endings("x", [], []) == []


def test_bands_are_what_the_bars_say():
    """From the higher one on an end is sure, from the lower one maybe, where the judge alone thinks so too."""
    made = Retirement(np.zeros(FEATURES, np.float32), 0.0, (0.7, 0.1))
    assert [made.band(share, 0.9) for share in (0.9, 0.7, 0.69, 0.1, 0.09)] == [SURE, SURE, MAYBE, MAYBE, NOT]
    assert [made.band(0.9, alone) for alone in (0.8, 0.06, 0.04)] == [MAYBE, MAYBE, NOT]
    assert made.shares(features([[0.2] * 5], np.array([0.5]), [0.5])) == [0.5]


def test_fitted_to_another_judge_it_ends_nothing():
    """That of this judge has weights."""
    assert read_retirement(FOLDER + HEADS, "another") is NOTHING
    assert read_retirement(FOLDER + HEADS, JUDGE.name).weights.any()
