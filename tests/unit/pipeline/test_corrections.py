"""What a user says of a rule that their session was shown is never lost, and needs no words that the rule has not."""

import json
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data"
FIVE = 5  # the first of set a: each ended as `0 added`


def lines(name):
    """Read a file of tests/data."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def told(box, pair, store):
    """Go through one session as a client does, its rule being stored, and return whether it was shown the rule."""

    def hook(event, **payload):
        payload |= {"session_id": store, "cwd": str(box.data.parent)}
        run = box.memman("--store", store, "hook", event, "--host", "claude-code", input=json.dumps(payload))
        return json.loads(run.stdout)["hookSpecificOutput"]["additionalContext"] if run.stdout else ""

    shown = hook("session-start", source="startup") + hook("user-prompt", prompt=pair["said"])
    hook("stop", last_assistant_message="Understood, done.")
    return pair["stored"] in shown


# Set a was written with the rule, set b by somebody who knew nothing of it; 17 of its 35 were kept when first seen.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown", "kept_at_least", "repeated_at_most"),
    [("a", 67, 52, 10), ("b", 49, 22, 18)],
)
def test_a_rule_turned_round_stands_in_the_next_session(box, name, shown, kept_at_least, repeated_at_most):
    """Of a shown rule's reversals nearly all are stored and recalled; what repeats it word for word is not."""
    pairs = {f"p{n}": pair for n, pair in enumerate(lines(f"corrections_{name}.jsonl"))}
    for store, pair in pairs.items():
        box.remember(pair["stored"], store=store)
    box.drain(seconds=300)
    assert sum([told(box, pair, store) for store, pair in pairs.items()]) >= shown
    box.drain(seconds=300)
    texts = {store: box.store("SELECT text FROM memory WHERE status = 'current'", name=store) for store in pairs}
    kept = [s for s, p in pairs.items() if p["kind"] == "reversal" and set(texts[s]) - {p["stored"]}]
    again = [s for s, p in pairs.items() if p["kind"] == "same" and set(texts[s]) - {p["stored"]}]
    assert len(kept) >= kept_at_least, [p for s, p in pairs.items() if p["kind"] == "reversal" and s not in kept]
    assert len(again) <= repeated_at_most
    assert name != "a" or [*pairs][:FIVE] == kept[:FIVE]
    for store in kept:
        assert set(box.recall(pairs[store]["said"], store)) - {pairs[store]["stored"]}, pairs[store]


def turn(box, text, shown, **columns):
    """Queue a turn of a session that was shown memories."""
    return box.remember(text, channel="turn", reply="Done.", shown=" ".join(shown), **columns)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Tests must never hit the network. Friday deploys are over.",
            {"Tests must never hit the network. Friday deploys are over."},
        ),
        (
            "Fix the failing login test. Friday deploys are over.",
            {"Fix the failing login test. Friday deploys are over."},
        ),
        (
            "The store was full again on Friday. Monday mornings it is, for anything that ships.",
            {"The store was full again on Friday. Monday mornings it is, for anything that ships."},
        ),
    ],
)
def test_a_short_message_is_kept_as_it_was_said(box, said, kept):
    """What is said in one breath is understood together, the occasion with what holds from now on."""
    box.remember("Deploys go out on Fridays.")
    box.drain()
    turn(box, said, box.store("SELECT uid FROM memory"))
    box.drain()
    assert set(box.store("SELECT text FROM memory")) - {"Deploys go out on Fridays."} == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Never do this here:\n- push to main directly\n- mock the database in tests",
            ["Never do this here: push to main directly; mock the database in tests"],
        ),
        (
            "Bitte in diesem Repo niemals:\n- direkt auf main pushen\n- die Datenbank in Tests mocken",
            ["Bitte in diesem Repo niemals: direkt auf main pushen; die Datenbank in Tests mocken"],
        ),
        ("Please do the following now:\n- push to main directly\n- mock the database in the login test", []),
        ("Review comments:\n- rename x to count\n- missing null check in load()", []),
    ],
)
def test_a_list_is_judged_behind_the_line_that_introduces_it(box, said, kept):
    """An item alone reads like an order for now; behind its line it is a rule, or is not."""
    turn(box, said, ())
    box.drain()
    assert box.store("SELECT text FROM memory") == kept


def test_a_rule_that_no_hook_showed_may_be_turned_round_too(box):
    """An agent may have looked a rule up by itself: what says nearly the same words of it is kept."""
    box.remember("I don't want type hints in tests.", category="fact")
    box.drain()
    turn(box, "I do want type hints in tests.", ())
    turn(box, "Run the tests again, please.", ())
    box.drain()
    assert box.store("SELECT text FROM memory ORDER BY id")[1:] == ["I do want type hints in tests."]


@pytest.mark.parametrize("together", [True, False])
def test_who_goes_there_and_back_is_there_again(box, together):
    """A rule turned round and back stands as it was said last, whether one drain meets both turns or two."""
    rule, other = "Always use tabs for indentation, never spaces.", "Always use spaces for indentation, never tabs."
    box.remember(rule)
    box.drain()
    uids = box.store("SELECT uid FROM memory")
    turn(box, other, uids)
    if not together:
        box.drain()
    turn(box, rule, uids)
    box.drain()
    assert rule in box.store("SELECT text FROM memory WHERE status = 'current'")


def test_what_is_superseded_in_the_same_drain_may_be_said_again(box):
    """What was known when it was judged and is out of date when it is stored is stored anew."""
    box.remember("We deploy on Heroku.")
    box.drain()
    uids = box.store("SELECT uid FROM memory")
    for said in ("We deploy on Fly now, not Heroku.", "We deploy on Heroku."):
        turn(box, said, uids)
    box.drain()
    assert box.store("SELECT text, status FROM memory ORDER BY id")[0] == ("We deploy on Heroku.", "superseded")
    assert box.store("SELECT text FROM memory WHERE status = 'current' ORDER BY id")[-1:] == ["We deploy on Heroku."]


@pytest.mark.slow
def test_what_is_about_nothing_that_was_shown_is_not_kept(box):
    """Of 310 turns that hold nothing lasting, 56 at most leave a memory in sessions that were shown 64 rules."""
    pairs = (*lines("corrections_a.jsonl"), *lines("corrections_b.jsonl"))
    for rule in list(dict.fromkeys(pair["stored"] for pair in pairs))[:64]:
        box.remember(rule)
    box.drain(seconds=60)
    uids = box.store("SELECT uid FROM memory")
    neutral = [one for name in "abcdefg" for one in lines(f"turns_{name}.jsonl") if one["label"] == "neutral"]
    for one in neutral:
        turn(box, one["text"], uids)
    assert box.drain(seconds=120).done == len(neutral) == 310
    assert len(set(box.store("SELECT note FROM memory"))) - len(uids) <= 56, box.store("SELECT text FROM memory")[64:]


def test_more_corrections_than_a_turn_may_bring_facts_are_all_kept(box):
    """Twenty reversals in one prompt leave twenty memories."""
    rules = [f"Service {name} is written in Go, not in Rust." for name in "abcdefghijklmnopqrst"]
    for rule in rules:
        box.remember(rule)
    box.drain(seconds=60)
    uids = box.store("SELECT uid FROM memory")
    said = [rule.replace("Go, not in Rust", "Rust, not in Go") for rule in rules]
    turn(box, "\n".join(said), uids)
    box.drain()
    assert set(said) <= set(box.store("SELECT text FROM memory WHERE status = 'current'"))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("NEVER delete the prod bucket.", "You may delete the prod bucket from now on."),
        ("Never push to main directly.", "You may now push to main directly."),
        ("Do not use any in TypeScript.", "We may use any in TypeScript."),
    ],
)
def test_a_permission_is_no_guess(box, rule, said):
    """What a user allows, against a rule that was shown, is kept."""
    box.remember(rule, category="preference")
    box.drain()
    turn(box, said, box.store("SELECT uid FROM memory"))
    box.drain()
    assert said in box.store("SELECT text FROM memory")


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ("The API listens on port 8080.", "No, the API listens on port 8081.", "superseded"),
        ("We release on Tuesdays.", "No, we release on Thursdays.", "superseded"),
        ("Die API lauscht auf Port 8080.", "Korrektur: die API lauscht auf Port 8081.", "superseded"),
        ("The API listens on port 8080.", "Correction: the API listens on port 8081.", "superseded"),
        ("The dev database is on port 5433.", "no wait, the dev database is on port 5434", "superseded"),
        ("The API listens on port 8080.", "On staging, the API listens on port 8081.", "current"),
        ("The worker queue listens on port 8080.", "Correction: the worker gateway listens on port 8081.", "current"),
    ],
)
def test_a_plain_correction_is_taken_whatever_it_begins_with(box, old, new, left):
    """A short opening hides no change, and another figure alone is one or is asked about; a look-alike stays."""
    for text in (old, new):
        box.remember(text)
        box.drain()
    sql = "SELECT status, (SELECT maybe FROM mark WHERE memory = m.id) IS NOT NULL FROM memory m WHERE text = ?"
    ((status, doubted),) = box.store(sql, old)
    assert ("doubted" if doubted else status) == left
