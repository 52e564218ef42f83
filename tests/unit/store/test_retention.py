"""What is worth keeping, what goes out of recall and comes back, and what sessions' reports do to the order."""

import json
from pathlib import Path

import pytest

from memman.belief import APART_MS, CLAMP, factor, reliability, sessions
from memman.model.worth import BOUND, Kept, worth

DAY = 86_400_000
HERON, MOSS, TEA = "The heron nests by the canal.", "Moss grows on the north wall.", "Tea is served at four."


def told(box, *args):
    """Run memman, which must succeed, and return what it prints."""
    done = box.memman(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_worth_falls_with_age_and_rises_with_use_up_to_a_cap():
    """Half the importance goes in 180 days; the sixth session adds nothing; evidence against and an end lower it."""
    now = 1_000 * DAY
    assert worth(Kept(5, now), now) == 1.0
    assert worth(Kept(5, now - 180 * DAY), now) == 0.5
    assert worth(Kept(5, now, uses=5), now) == worth(Kept(5, now, uses=500), now) == 1.5
    assert worth(Kept(4, now, reliability=0.25), now) == worth(Kept(4, now), now) / 2
    assert worth(Kept(4, now, ends_at=now - 1), now) == worth(Kept(4, now), now) / 4
    assert worth(Kept(4, now, ends_at=now + 1), now) == worth(Kept(4, now), now)
    assert worth(Kept(3, now - 470 * DAY), now) < BOUND < worth(Kept(3, now - 460 * DAY), now)


def test_each_session_counts_once():
    """Each session counts once, by its last word; nothing that is no report counts."""
    said = [("helpful", "a", 1), ("said", "a", 2), ("wrong", "b", 3), ("helpful", "b", 4), ("stale", "c", 4 + APART_MS)]
    assert sessions([*said, ("shown", "d", 6 + APART_MS)]) == (2, 1)


def test_sessions_of_one_sitting_report_once():
    """However many an agent has within half a day: the last word counts, and a person's and another day's beside it."""
    sitting = [("helpful", name, 10 + n) for n, name in enumerate("abc")]
    assert sessions([*sitting, ("wrong", "d", 9 + APART_MS)]) == (0, 1)
    assert sessions([*sitting, ("wrong", "d", 10 + APART_MS)]) == (1, 1)
    assert sessions([*sitting, ("wrong", "", 20)]) == (1, 1)


def test_reliability_is_a_mean_that_moves_a_score_by_the_clamp_at_most():
    """Nothing said is 0.5."""
    assert reliability(0, 0) == 0.5
    assert reliability(2, 1) == 0.6
    assert 1 - CLAMP < factor(reliability(0, 10**6)) < factor(reliability(10**6, 0)) < 1 + CLAMP


def old(box):
    """Store three facts that are old; return their ids by their texts."""
    for text in (HERON, MOSS, TEA):
        box.remember(text, category="fact", importance=2)
    box.drain()
    box.alter("UPDATE memory SET valid_from = valid_from - ?, recorded_at = recorded_at - ?", 400 * DAY, 400 * DAY)
    return dict(box.store("SELECT text, uid FROM memory"))


def test_what_is_least_worth_is_archived_once_a_person_agrees_and_restore_brings_it_back(box):
    """What is protected, was verified or was shown is kept; nothing is deleted, and all of it is logged."""
    uid = old(box)
    told(box, "insights", "protect", uid[HERON])
    box.alter("INSERT INTO shown(memory, session, way, at) SELECT id, 's', 'recall', 1 FROM memory WHERE text = ?", TEA)
    listed = told(box, "list", "--least")
    assert MOSS in listed
    assert "importance 2; 400 d old; shown in 0 sessions" in listed
    assert told(box, "insights", "candidates").count("\n") == 1
    assert box.person("insights", "archive", "--least", answer=lambda _: "no\n").returncode != 0
    assert MOSS in told(box, "recall", "what grows on the north wall")
    assert "archived" in told(box, "insights", "archive", "--least")
    assert MOSS not in told(box, "recall", "what grows on the north wall")
    assert told(box, "insights", "archive", "--least").strip() == "no memory is worth so little"
    log = told(box, "log", "list")
    assert "archive" in log
    assert "insights archive --least: worth less than 0.1" in log
    assert told(box, "insights", "restore", uid[MOSS]).startswith("restored")
    assert MOSS in told(box, "recall", "what grows on the north wall")
    assert told(box, "insights", "archive", uid[MOSS]).startswith("archived")
    assert told(box, "insights", "archive", uid[MOSS]).startswith("not in recall already")
    assert box.store("SELECT count(*) FROM memory") == [3]


def test_what_is_archived_is_listed_apart_from_what_is_forgotten(box):
    """And no longer once it was restored and forgotten, though it is among what is forgotten either way."""
    for text in (MOSS, "The wiki is in Notion."):
        box.remember(text)
    box.drain()
    uid = dict(box.store("SELECT text, uid FROM memory"))

    def listed(status):
        return {one["text"] for one in json.loads(told(box, "list", "--status", status, "--json"))}

    told(box, "insights", "archive", uid[MOSS])
    told(box, "forget", uid["The wiki is in Notion."])
    assert listed("archived") == {MOSS}
    assert listed("forgotten") == {MOSS, "The wiki is in Notion."}
    told(box, "insights", "restore", uid[MOSS])
    assert listed("archived") == set()
    told(box, "forget", uid[MOSS])
    assert listed("archived") == set()


def test_no_drain_archives_anything(box):
    """However little something is worth, only a person puts it out of recall."""
    old(box)
    box.remember("The gate is green.")
    box.drain()
    assert set(box.store("SELECT status FROM memory")) == {"current"}


PAIR = ("The billing service keeps invoices in Redis.", "The billing service sends letters by Postmark.")


def test_reports_move_a_score_within_the_clamp_and_are_shown(box):
    """A session counts once, by its last word, and sessions of one sitting as one.

    Scores stay in order, and a recall as of before knows nothing of it.
    """
    for text in PAIR:
        box.remember(text, category="fact")
    box.drain()
    box.alter("DELETE FROM mark; DELETE FROM link")
    query = ("recall", "what does the billing service do", "--all", "--json")
    before = json.loads(told(box, *query))["hits"]
    first, second = before[:2]
    for session in ("a", "a", "b"):
        box.environ["MEMMAN_SESSION"] = session
        told(box, "insights", "feedback", first["uid"], "helpful")
        told(box, "insights", "feedback", first["uid"], "wrong")
    assert box.store("SELECT kind, session FROM evidence ORDER BY session") == [("wrong", "a"), ("wrong", "b")]
    assert json.loads(told(box, *query))["hits"][0]["reliability"] == 1 / 3
    box.alter("UPDATE evidence SET at = at - 43200000 WHERE session = 'a'")
    after = {hit["uid"]: hit for hit in json.loads(told(box, *query))["hits"]}
    assert [hit["score"] for hit in after.values()] == sorted((hit["score"] for hit in after.values()), reverse=True)
    assert after[first["uid"]]["reliability"] == 0.25
    assert abs(after[first["uid"]]["score"] - first["score"] * (1 - CLAMP / 2)) < 1e-9
    assert after[second["uid"]]["score"] == second["score"]
    why = told(box, "show", "--query", *query[1:-1])
    assert "reliability 0.25" in why
    assert "reliability -0.0" in why
    assert "reliability 0.25: 2 wrong" in told(box, "show", first["uid"])
    assert [hit["uid"] for hit in json.loads(told(box, *query, "--as-of", "1h"))["hits"]] == []


SCOPES = Path(__file__).parents[3] / "bench/data/scopes"


def read(name):
    """Read a file of the benchmark's two repositories."""
    return [json.loads(line) for line in (SCOPES / f"{name}.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_prompts_and_recalls_change_no_reliability_and_no_order(box, rounds):
    """Being shown, or passed over, again and again is no evidence: every score and confidence stays as it was."""
    for one in read("harbor")[: rounds(20, 200)]:
        box.remember(one["text"])
    box.drain()
    questions = [one["question"] for one in read("harbor-questions")[: rounds(5, 50)]]
    elsewhere = [one["question"] for one in read("quill-questions")]

    def answers():
        hits = [json.loads(told(box, "recall", one, "--json"))["hits"] for one in questions]
        return [[(hit["uid"], hit["score"], hit["confidence"], hit["reliability"]) for hit in some] for some in hits]

    before = answers()
    box.drain()
    began = [line[:8] for line in told(box, "prime").splitlines()]
    for n in range(rounds(20, 1_000)):
        asked = {"session_id": f"s{n % 40}", "prompt": f"{elsewhere[n % len(elsewhere)]} (ticket {n})"}
        box.memman("hook", "user-prompt", "--host", "codex", input=json.dumps(asked))
    box.drain()
    assert [line[:8] for line in told(box, "prime").splitlines()] == began
    for question in questions:
        told(box, "recall", question)
    box.drain()
    assert box.store("SELECT count(*) FROM shown") > [0]
    assert box.store("SELECT count(*) FROM evidence") == [0]
    assert answers() == before
    assert sum(map(len, before)) > len(questions)
