"""`why --query`: why each hit of a recall stands where it does, and what kept a memory out of the hits."""

import json
import subprocess

import apsw
import pytest

from memman.govern.ranking import _LIFTED

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
    box.alter("DELETE FROM meta WHERE key GLOB 'maybe:*'")
    return box


def why(box, *args, query=QUESTION, cwd=None):
    """Return what `why --query` tells."""
    done = box.memman("why", "--query", query, "--json", *args, **({"cwd": cwd} if cwd else {}))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def recalled(box, *args, query=QUESTION, cwd=None):
    """Return the ids that `recall` shows."""
    done = box.memman("recall", query, "--json", *args, **({"cwd": cwd} if cwd else {}))
    return [hit["uid"] for hit in json.loads(done.stdout)["hits"]]


def uid(box, text):
    """Return the id of a memory."""
    return box.store("SELECT uid FROM memory WHERE text = ?", text)[0]


def reasons(box, text, *args, query=QUESTION, cwd=None):
    """Return what kept a memory out, and where it would stand otherwise."""
    (asked,) = why(box, *args, uid(box, text), query=query, cwd=cwd)["asked"]
    assert asked["place"] is None
    return [one["why"] for one in asked["kept_out"]], asked["place_then"]


SHAPES = ((), ("--limit", "2"), ("--all",), ("--min-confidence", "0"), ("--history", "--intent", "when"))


@pytest.mark.parametrize("options", SHAPES, ids=" ".join)
def test_it_tells_of_the_very_hits_of_recall_and_what_their_scores_are_made_of(kept, options):
    """The hits are those of `recall`, in order; what each signal adds makes up the score, which is recall's."""
    for query in (QUESTION, "what did we note last week about billing", "the mascot"):
        told = why(kept, *options, query=query)["hits"]
        shown = json.loads(kept.memman("recall", query, "--json", *options).stdout)["hits"]
        assert [hit["uid"] for hit in told] == [hit["uid"] for hit in shown]
        assert [hit["place"] for hit in told] == list(range(1, len(shown) + 1))
        for hit, other in zip(told, shown, strict=True):
            assert sum(hit["parts"].values()) == pytest.approx(hit["score"], abs=1e-12)
            assert hit["score"] == other["score"]
            assert hit["confidence"] == other["confidence"]
            assert hit["confidence"] >= hit["needed"]


def test_the_parts_are_words_meaning_session_and_likeness(kept):
    """A hit by words and meaning has its share of each, and the words that it says are named."""
    first = why(kept)["hits"][0]
    assert first["uid"] == uid(kept, DEPLOY)
    assert all(first["parts"][name] > 0 for name in ("words", "meaning", "session", "maxsim"))
    assert first["parts"]["succession"] == pytest.approx(0, abs=1e-12)
    assert first["words"]["said"] == ["billing", "service", "deployed"]
    said = kept.memman("why", "--query", QUESTION).stdout
    assert "place 1 by words" in said
    assert "says billing, service, deployed" in said
    assert "height 1.00 beside the best" in said


def test_the_time_asked_for_is_a_part_of_its_own(kept):
    """What is of the time asked for has more from it than from nothing."""
    hit = why(kept, query="billing service today")["hits"][0]
    assert hit["parts"]["time"] > 0


@pytest.mark.parametrize("number", range(len(NOISE)))
def test_what_lets_a_memory_in_is_what_recall_needs(kept, number):
    """With the option that is named for each reason, `recall` shows the memory at the place that was told."""
    options = {
        "height": ["--all"],
        "doubtful": ["--all"],
        "gate": ["--min-confidence", "0"],
        "limit": ["--limit", "50"],
    }
    there = uid(kept, NOISE[number])
    for given in ([], ["--limit", "1"]):
        (asked,) = why(kept, *given, there)["asked"]
        if asked["place"]:
            assert recalled(kept, *given)[asked["place"] - 1] == there
            continue
        lifted = [option for one in asked["kept_out"] for option in options[one["why"]]]
        assert there not in recalled(kept, *given)
        assert recalled(kept, *given, *lifted)[asked["place_then"] - 1] == there


def test_below_the_gate_it_says_by_how_much(kept):
    """The confidence and what is needed are those of the gate; where nothing is sure enough, that is said."""
    told = why(kept, uid(kept, DEPLOY), query="wombat taxonomy in Latin")
    (asked,) = told["asked"]
    (reason,) = asked["kept_out"]
    assert reason["why"] in {"gate", "silent"}
    assert reason["confidence"] < reason["needed"]
    assert told["silent"]["confidence"] < told["silent"]["needed"]
    assert "is needed" in kept.memman("why", "--query", "wombat taxonomy in Latin").stdout


def test_what_is_superseded_names_what_stands_in_its_place(kept):
    """The heir is named with its place; with --history the old one would stand behind it."""
    old = uid(kept, DEPLOY)
    kept.memman("replace", old, "The billing service is deployed to Render.")
    kept.drain()
    new = uid(kept, "The billing service is deployed to Render.")
    (asked,) = why(kept, old)["asked"]
    (reason,) = asked["kept_out"]
    assert (reason["why"], reason["by"], reason["at"]) == ("superseded", new, 1)
    assert recalled(kept, "--history")[asked["place_then"] - 1] == old
    said = kept.memman("why", "--query", QUESTION, old).stdout
    assert f"superseded by {new[:8]}, place 1" in said
    assert "with --history: place 2" in said


def test_a_filter_a_forgetting_and_a_limit_are_told_apart(kept):
    """Each filter is named that leaves a memory out, and nothing brings back what was forgotten."""
    assert reasons(kept, DEPLOY, "--source", "agent", "--category", "preference") == (["category", "source"], 1)
    assert reasons(kept, DEPLOY, "--until", "2020-01-01") == (["until"], 1)
    assert reasons(kept, DEPLOY, "--as-of", "2020-01-01") == (["as_of"], 1)
    assert reasons(kept, NOISE[0], "--limit", "1")[0] == ["limit"]
    kept.memman("forget", uid(kept, DEPLOY))
    assert reasons(kept, DEPLOY, "--source", "agent") == (["forgotten"], None)
    assert "hidden: forget " in kept.memman("why", "--query", QUESTION, uid(kept, DEPLOY)).stdout
    assert kept.memman("undo", "--session", "s1").returncode == 0
    said = kept.memman("why", "--query", QUESTION, uid(kept, NOISE[0])).stdout
    assert "hidden: undo " in said
    assert "session s1" in said


def test_another_repository_s_memory_is_named_by_its_scope(box, tmp_path):
    """From elsewhere the scope is what keeps it out; with --all-scopes it is shown at the place told."""
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
    assert [one["why"] for one in asked["kept_out"]] == ["scope"]
    assert "only for shop" in box.memman("why", "--query", QUESTION, waiting, cwd=folders[1]).stdout
    box.drain()
    here = why(box, uid(box, DEPLOY), cwd=folders[0])["asked"][0]
    assert (here["place"], here["kept_out"]) == (1, [])
    assert reasons(box, DEPLOY, cwd=folders[1]) == (["scope"], 1)
    assert recalled(box, "--all-scopes", cwd=folders[1]) == [uid(box, DEPLOY)]
    said = box.memman("why", "--query", QUESTION, uid(box, DEPLOY), cwd=folders[1]).stdout
    assert "it holds only for shop" in said


def test_what_says_the_same_stands_for_it(kept):
    """Of two memories with the same words the hidden one names the other."""
    other = uid(kept, NOISE[0])
    kept.alter("UPDATE memory SET text = ? WHERE uid = ?", DEPLOY.replace(".io.", ".io!"), other)
    (first,) = [one for one in recalled(kept) if one in {other, uid(kept, DEPLOY)}]
    (hidden,) = {other, uid(kept, DEPLOY)} - {first}
    (reason,) = why(kept, hidden)["asked"][0]["kept_out"]
    assert (reason["why"], reason["by"], reason["at"]) == ("alike", first, 1)


def test_what_is_maybe_replaced_stands_behind_what_was_raised_before_it(kept):
    """The newer one has most of its score from succession, and both name each other."""
    old, new = uid(kept, DEPLOY), uid(kept, NOISE[0])
    kept.alter("INSERT INTO meta VALUES (?, ?)", f"maybe:{old}", new)
    first, second = why(kept)["hits"]
    assert (first["uid"], first["maybe_replaces"]) == (new, [old])
    assert (second["uid"], second["maybe_replaced_by"]) == (old, new)
    assert first["parts"]["succession"] > 0.1
    assert f"stands before {old[:8]}" in kept.memman("why", "--query", QUESTION).stdout


def test_a_waiting_note_is_told_too(kept):
    """A note that waits has its place, or the share of the query's words that it lacks."""
    there, other = kept.remember("The billing service is deployed on Fridays."), kept.remember("The cat is asleep.")
    told = why(kept, there, other)
    found, missing = told["asked"]
    assert told["hits"][found["place"] - 1]["uid"] == there
    assert told["hits"][found["place"] - 1]["pending"]
    assert (missing["place"], missing["kept_out"][0]["why"]) == (None, "covered")
    assert missing["kept_out"][0]["covered"] < missing["kept_out"][0]["needed"]
    assert "of the query's words" in kept.memman("why", "--query", QUESTION, other).stdout


def test_what_no_search_brings_up_is_told(box):
    """Among hundreds of nearer memories a far one is brought up by none, or comes behind those that are looked at."""
    for number in range(240):
        box.remember(f"The billing service number {number} is deployed to region {number}.", session=f"s{number}")
    box.remember("The heron is the mascot.", session="bird")
    box.drain()
    box.alter("UPDATE memory SET status = 'current', superseded_by = NULL, valid_to = NULL, retired_at = NULL")
    told, place = reasons(box, "The heron is the mascot.")
    assert told in (["unfound"], ["unread"])
    assert place is None


def test_a_damaged_memory_is_said_to_be_one(kept):
    """What does not say what was once written is not shown, and that is why."""
    there = uid(kept, DEPLOY)
    db = apsw.Connection(str(kept.store_path()))
    db.execute("UPDATE memory SET text = 'The billing service is deployed to Mars.' WHERE uid = ?", (there,))
    db.close()
    (asked,) = why(kept, there)["asked"]
    assert [one["why"] for one in asked["kept_out"]] == ["damaged"]


def test_it_leaves_no_receipt_and_refuses_what_goes_without_a_query(kept):
    """A look at a recall counts as no use; options of recall need --query, and something must be asked."""
    assert kept.memman("why", "--query", QUESTION).returncode == 0
    assert not (kept.data / "shown.log").exists()
    for args, part in (
        ((), "give an ID"),
        (("--limit", "3"), "--limit goes with --query"),
        (("--query", " "), "nothing"),
    ):
        done = kept.memman("why", *args)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert part in done.stderr
    assert kept.memman("why", "--query", QUESTION, "ffffffff").returncode == 3


def test_a_store_without_a_file_has_nothing_to_tell(box):
    """Nothing stored and nothing waiting: no hits, no error."""
    assert box.memman("why", "--query", QUESTION).stdout == "no hits\n"
    note = box.remember("The cat is asleep.")
    assert why(box, note)["asked"][0]["kept_out"][0]["why"] == "covered"


def test_each_reason_has_its_words():
    """Whatever may keep something out can be said."""
    from memman.cli.ranking import _REASONS

    assert _LIFTED.keys() <= _REASONS.keys()
    assert {why for why, (_, option) in _REASONS.items() if option} == _LIFTED.keys()
