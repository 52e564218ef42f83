"""`--intent why`: what led to a hit is shown before it, and nothing is weighed by edges otherwise."""

import json

import pytest

EFFECT = "We moved the shop from Vercel to Coolify."
CAUSE = "The invoice for March was three times what Alice had planned."
BEFORE = "A crawler from Ohio fetched every image twice a minute."
NOISE = ("Kafka keeps seven days of events.", "Nightly builds take forty minutes.", "The cat sleeps on the router.")
QUESTION = "why did the shop leave Vercel for Coolify"


@pytest.fixture
def told(box):
    """Store an effect, its cause and the cause of that, linked by hand."""
    uids = {text: box.remember(text, session=str(n)) for n, text in enumerate((*NOISE, EFFECT, CAUSE, BEFORE))}
    box.drain()
    for src, dst in ((CAUSE, EFFECT), (BEFORE, CAUSE)):
        assert box.memman("graph", "link", uids[src], uids[dst], "--type", "causal").returncode == 0
    return box


def why(box, *options):
    """Return the texts shown to who asks why."""
    ended = box.memman("recall", QUESTION, "--intent", "why", "--json", "--min-confidence", "0.5", *options)
    assert ended.returncode == 0, ended.stderr
    return [hit["text"] for hit in json.loads(ended.stdout)["hits"]]


def test_asked_why_a_cause_stands_before_its_effect(told):
    """The cause of a hit is shown though it shares no word with the question, and its own cause is not."""
    assert why(told) == [CAUSE, EFFECT]
    explained = told.memman("show", "--query", QUESTION, "--intent", "why").stdout
    assert "causal edge from" in explained


def test_a_cause_is_left_out_where_it_does_not_hold_or_was_not_asked_for(told):
    """Without the intent, outside a filter, or once it is forgotten, a cause is not shown."""
    assert CAUSE not in told.recall(QUESTION, least=0.5)
    assert CAUSE not in why(told, "--source", "agent")
    uid = told.store("SELECT uid FROM memory WHERE text = ?", CAUSE)[0]
    assert told.memman("forget", uid).returncode == 0
    assert CAUSE not in why(told)


def test_causes_take_the_place_of_the_least_hits(told):
    """No more is shown than was asked for."""
    assert why(told, "--limit", "1") == [EFFECT]
    assert set(why(told, "--limit=2")) == {CAUSE, EFFECT}


def test_edges_change_no_score(told):
    """Every hit scores as it does where nothing is linked."""
    linked = [(hit.id, hit.score) for hit in told.hits(QUESTION)]
    told.alter("DELETE FROM link")
    assert [(hit.id, hit.score) for hit in told.hits(QUESTION)] == linked
