"""`show --query`: why each hit of a recall stands where it does."""

import json

import pytest

from tests.support.doubts import DOUBT

QUESTION = "where is the billing service deployed"
DEPLOY = "The billing service is deployed to Fly.io."
NOISE = (
    "Redis caches the invoices of the billing service.",
    "The staging API listens on port 9090.",
    "Nightly builds take forty minutes.",
    "The heron is the mascot of the team.",
    "Kafka keeps seven days of events.",
)


@pytest.fixture
def kept(box):
    """Fill a store."""
    for number, text in enumerate((DEPLOY, *NOISE)):
        box.remember(text, session=f"s{number}")
    box.drain()
    box.alter("DELETE FROM mark; DELETE FROM link WHERE kind = 4")
    return box


def why(box, *args, query=QUESTION, cwd=None):
    """Return what `show --query` tells."""
    done = box.memman("show", "--query", query, "--json", *args, **({"cwd": cwd} if cwd else {}))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def uid(box, text):
    """Return the id of a memory."""
    return box.store("SELECT uid FROM memory WHERE text = ?", text)[0]


SHAPES = ((), ("--limit", "2"), ("--all",), ("--min-confidence", "0"), ("--history", "--intent", "when"))


@pytest.mark.parametrize("given", SHAPES, ids=" ".join)
def test_it_tells_of_the_very_hits_of_recall_and_what_their_scores_are_made_of(kept, given):
    """The hits are those of `recall`, in order; what each signal adds makes up the score, which is recall's."""
    for query in (QUESTION, "what did we note last week about billing", "the mascot"):
        told = why(kept, *given, query=query)["hits"]
        shown = json.loads(kept.memman("recall", query, "--json", *given).stdout)["hits"]
        assert [hit["uid"] for hit in told] == [hit["uid"] for hit in shown]
        assert [hit["place"] for hit in told] == list(range(1, len(shown) + 1))
        for hit, other in zip(told, shown, strict=True):
            assert sum(hit["parts"].values()) == pytest.approx(hit["score"], abs=1e-12)
            assert hit["score"] == other["score"]
            assert hit["confidence"] == other["confidence"]


def test_the_parts_are_search_session_and_likeness(kept):
    """A hit by words and meaning has something of each, and its places among both."""
    first = why(kept)["hits"][0]
    assert first["uid"] == uid(kept, DEPLOY)
    assert all(first["parts"][name] > 0 for name in ("search", "session", "likeness"))
    assert first["parts"]["succession"] == pytest.approx(0, abs=1e-12)
    assert (first["words"]["place"], first["meaning"]["place"]) == (1, 1)
    assert "place 1 by words" in kept.memman("show", "--query", QUESTION).stdout


def test_words_set_apart_what_meaning_does_not(kept):
    """Of two texts that are nearly the same by meaning the one that has the very word stands well before the other."""
    for number in (93117, 93118):
        kept.remember(f"Ticket PX-{number} is closed.")
    kept.drain()
    kept.alter("DELETE FROM mark")
    first, second = why(kept, "--min-confidence", "0", query="PX-93117")["hits"][:2]
    assert "93117" in first["text"]
    assert first["parts"]["search"] - second["parts"]["search"] > 0.1


def test_more_than_the_first_hits_are_read_word_by_word(kept):
    """Likeness counts beyond the best two."""
    hits = why(kept, "--min-confidence", "0")["hits"]
    assert sum(hit["parts"]["likeness"] > 0 for hit in hits) > 2


def test_the_time_asked_for_counts(kept):
    """What is of the time asked for has more from its search than without it."""
    with_time, without = (why(kept, query=query)["hits"][0] for query in ("billing service today", "billing service"))
    assert with_time["parts"]["search"] > without["parts"]["search"]


def test_what_is_maybe_replaced_stands_behind_what_was_raised_before_it(kept):
    """The newer one has most of its score from succession, and the older one names it."""
    old, new = uid(kept, DEPLOY), uid(kept, NOISE[0])
    kept.alter(DOUBT, old, new)
    first, second = why(kept)["hits"]
    assert first["uid"] == new
    assert (second["uid"], second["maybe_replaced_by"]) == (old, new)
    assert first["parts"]["succession"] > 0.1


def test_a_waiting_note_is_told_too(kept):
    """A note that waits has its place."""
    there = kept.remember("The billing service is deployed on Fridays.")
    assert [hit["pending"] for hit in why(kept)["hits"] if hit["uid"] == there] == [1]


def test_it_leaves_no_receipt_and_refuses_what_goes_without_a_query(kept):
    """A look at a recall counts as no use; options of recall need --query, and something must be asked."""
    assert kept.memman("show", "--query", QUESTION).returncode == 0
    assert not (kept.data / "shown.log").exists()
    for args, part in (
        ((), "give an ID"),
        (("ffffffff", "--query", QUESTION), "give an ID"),
        (("--limit", "3"), "--limit goes with --query"),
        (("--query", " "), "nothing"),
    ):
        done = kept.memman("show", *args)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert part in done.stderr


def test_a_store_without_a_file_has_nothing_to_tell(box):
    """Nothing stored and nothing waiting: no hits, no error."""
    assert box.memman("show", "--query", QUESTION).stdout == "no hits\n"
