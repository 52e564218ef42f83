"""`show --query`: why each hit of a recall stands where it does, and what would let a memory in."""

import json
import subprocess
from itertools import chain

import pytest

from memman.commands.explain import LIFTS
from memman.hot.grammar import RECALL
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


def recalled(box, *args, query=QUESTION, cwd=None):
    """Return the ids that `recall` shows."""
    done = box.memman("recall", query, "--json", *args, **({"cwd": cwd} if cwd else {}))
    return [hit["uid"] for hit in json.loads(done.stdout)["hits"]]


def uid(box, text):
    """Return the id of a memory."""
    return box.store("SELECT uid FROM memory WHERE text = ?", text)[0]


def options(box, text, *args, query=QUESTION, cwd=None):
    """Return the options that would show a memory, and its place then."""
    (asked,) = why(box, *args, uid(box, text), query=query, cwd=cwd)["asked"]
    assert asked["place"] is None
    return asked["with"], asked["place_then"]


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


@pytest.mark.parametrize("number", range(len(NOISE)))
def test_the_options_that_are_named_show_the_memory_at_that_place(kept, number):
    """With them `recall` shows it, and with any of them left out it does not."""
    there = uid(kept, NOISE[number])
    for given in ([], ["--limit", "1"]):
        (asked,) = why(kept, *given, there)["asked"]
        if asked["place"]:
            assert recalled(kept, *given)[asked["place"] - 1] == there
            continue
        lifted = [option.split() for option in asked["with"]]
        assert there not in recalled(kept, *given)
        rest = [] if ["--limit", "50"] in lifted else given
        assert recalled(kept, *rest, *chain(*lifted))[asked["place_then"] - 1] == there
        for one in lifted:
            fewer = chain(*(other for other in lifted if other != one))
            assert there not in recalled(kept, *(given if one[0] == "--limit" else rest), *fewer)


def test_what_is_superseded_needs_history(kept):
    """With --history the old one would stand behind its heir."""
    old = uid(kept, DEPLOY)
    kept.memman("replace", old, "The billing service is deployed to Render.")
    kept.drain()
    (asked,) = why(kept, old)["asked"]
    assert asked["with"] == ["--history"]
    assert recalled(kept, "--history")[asked["place_then"] - 1] == old
    assert "with --history: place 2" in kept.memman("show", "--query", QUESTION, old).stdout


def test_a_filter_a_forgetting_and_a_limit_are_told_apart(kept):
    """Each filter is named that leaves a memory out, and nothing brings back what was forgotten."""
    left_out = ("--source", "agent", "--category", "preference")
    assert options(kept, DEPLOY, *left_out) == (["no --category", "no --source"], 1)
    assert options(kept, DEPLOY, "--until", "2020-01-01") == (["no --until"], 1)
    assert options(kept, DEPLOY, "--as-of", "2020-01-01") == (["no --as-of"], 1)
    assert options(kept, NOISE[0], "--limit", "1")[0] == ["--limit 50"]
    kept.memman("forget", uid(kept, DEPLOY))
    assert options(kept, DEPLOY, "--source", "agent") == ([], None)
    assert "it is hidden (forgotten)" in kept.memman("show", "--query", QUESTION, uid(kept, DEPLOY)).stdout


def test_another_repository_s_memory_needs_all_scopes(box, tmp_path):
    """From elsewhere the scope is what keeps it out, also while it waits."""
    folders = [tmp_path / name for name in ("shop", "other")]
    for folder in folders:
        folder.mkdir()
        for args in (
            ("init", "-q"),
            ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", folder.name),
        ):
            subprocess.run(["git", *args], cwd=folder, check=True)
    assert box.memman("remember", DEPLOY, cwd=folders[0]).returncode == 0
    waiting = box.queue("SELECT uid FROM note")[0]
    (asked,) = why(box, waiting, cwd=folders[1])["asked"]
    assert asked["with"] == ["--all-scopes"]
    box.drain()
    assert why(box, uid(box, DEPLOY), cwd=folders[0])["asked"][0]["place"] == 1
    assert options(box, DEPLOY, cwd=folders[1]) == (["--all-scopes"], 1)
    assert recalled(box, "--all-scopes", cwd=folders[1]) == [uid(box, DEPLOY)]


def test_what_says_the_same_stands_for_it(kept):
    """Of two memories with the same words the hidden one names the other."""
    other = uid(kept, NOISE[0])
    kept.alter("UPDATE memory SET text = ? WHERE uid = ?", DEPLOY.replace(".io.", ".io!"), other)
    (first,) = [one for one in recalled(kept) if one in {other, uid(kept, DEPLOY)}]
    (hidden,) = {other, uid(kept, DEPLOY)} - {first}
    assert f"{first[:8]} says the same" in why(kept, hidden)["asked"][0]["why"]


def test_what_is_maybe_replaced_stands_behind_what_was_raised_before_it(kept):
    """The newer one has most of its score from succession, and the older one names it."""
    old, new = uid(kept, DEPLOY), uid(kept, NOISE[0])
    kept.alter(DOUBT, old, new)
    first, second = why(kept)["hits"]
    assert first["uid"] == new
    assert (second["uid"], second["maybe_replaced_by"]) == (old, new)
    assert first["parts"]["succession"] > 0.1


def test_a_waiting_note_is_told_too(kept):
    """A note that waits has its place, or the share of the query's words that it lacks."""
    there, other = kept.remember("The billing service is deployed on Fridays."), kept.remember("The cat is asleep.")
    told = why(kept, there, other)
    found, missing = told["asked"]
    assert told["hits"][found["place"] - 1]["uid"] == there
    assert told["hits"][found["place"] - 1]["pending"]
    assert (missing["place"], missing["place_then"]) == (None, None)
    assert "no search finds it" in kept.memman("show", "--query", QUESTION, other).stdout


@pytest.mark.slow
def test_what_no_search_brings_up_is_told(box):
    """Among hundreds of nearer memories a far one is brought up by none, or comes behind those that are looked at."""
    for number in range(240):
        box.remember(f"The billing service number {number} is deployed to region {number}.", session=f"s{number}")
    box.remember("The heron is the mascot.", session="bird")
    box.drain()
    box.alter("UPDATE memory SET status = 'current', superseded_by = NULL, valid_to = NULL, retired_at = NULL")
    assert options(box, "The heron is the mascot.") == ([], None)
    there = uid(box, "The heron is the mascot.")
    assert "no search finds it" in box.memman("show", "--query", QUESTION, there).stdout


def test_it_leaves_no_receipt_and_refuses_what_goes_without_a_query(kept):
    """A look at a recall counts as no use; options of recall need --query, and something must be asked."""
    assert kept.memman("show", "--query", QUESTION).returncode == 0
    assert not (kept.data / "shown.log").exists()
    for args, part in (
        ((), "give an ID"),
        (("--limit", "3"), "--limit goes with --query"),
        (("--query", " "), "nothing"),
    ):
        done = kept.memman("show", *args)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert part in done.stderr
    assert kept.memman("show", "--query", QUESTION, "ffffffff").returncode == 3


def test_a_store_without_a_file_has_nothing_to_tell(box):
    """Nothing stored and nothing waiting: no hits, no error."""
    assert box.memman("show", "--query", QUESTION).stdout == "no hits\n"
    note = box.remember("The cat is asleep.")
    assert why(box, note)["asked"][0]["place_then"] is None


def test_what_is_lifted_are_options_of_recall():
    """Whatever is named can be given, or left out."""
    assert {option.split()[0] for option in LIFTS if not option.startswith("no ")} <= RECALL.keys()
    assert {option.removeprefix("no ") for option in LIFTS if option.startswith("no ")} <= RECALL.keys()
