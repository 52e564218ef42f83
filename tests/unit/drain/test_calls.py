"""What a note costs in calls, and the edges it gets, against every shape of provider."""

import re
from collections import Counter

import apsw
import pytest

from tests.support.providers import ScriptedProvider, respond

MEMORY = re.compile(r"m(\d+) \([^)]*\): (.*)")
COMPONENTS = ("Redis", "Postgres", "Kafka", "Nginx")
CORPUS = [
    f"{name} {what} of the {team} team."
    for team in ("billing", "search", "mobile")
    for name in COMPONENTS
    for what in ("stores the sessions", "keeps the audit trail")
] + ["Redis stores the sessions of the billing team because Postgres was slow."]


def answer(asked):
    """Extract one fact; in reconcile say what a 'because' means."""
    if asked["task"] != "reconcile":
        return respond(asked)
    facts, _, memories = asked["user"].partition("<memories>")
    causes = [
        {"cause": f"m{number}", "effect": "f0", "kind": "causes", "confidence": 0.9}
        for number, text in MEMORY.findall(memories)
        if "because" in facts and "Postgres" in text
    ]
    return {"verdicts": [], "causes": causes[:1]}


@pytest.mark.parametrize("shape", ["openai", "anthropic", "ollama"])
def test_a_note_costs_at_most_two_model_calls_and_one_embedding_call(box, shape):
    """A note costs one extract, at most one reconcile and one embedding, and all four kinds of edge form."""
    with ScriptedProvider(respond=answer) as provider:
        box.use(provider, shape)
        for text in CORPUS:
            box.remember(text, session="s1", agent="tester")
        assert box.drain().done == len(CORPUS)
        ends = {"anthropic": "/v1/messages", "ollama": "/v1/chat/completions", "openai": "/v1/chat/completions"}
        vectors = {"ollama": "/api/embed"}.get(shape, "/v1/embeddings")
        assert provider.tasks["extract"] == len(CORPUS)
        assert 0 < provider.tasks["reconcile"] <= len(CORPUS)
        assert provider.calls[ends[shape]] == provider.tasks["extract"] + provider.tasks["reconcile"]
        assert provider.calls[vectors] == len(CORPUS)
        assert provider.calls.keys() == {ends[shape], vectors}
    kinds = dict(box.store("SELECT kind, count(*) FROM edge GROUP BY kind"))
    assert kinds.keys() >= {"temporal", "entity", "causal", "semantic"}
    backbone = box.store("SELECT count(*) FROM edge WHERE kind = 'temporal' AND detail = 'next'")
    assert backbone == [len(CORPUS) - 1]
    assert kinds["causal"] == 1
    assert box.store("SELECT m.text LIKE 'Postgres%', n.text LIKE '%because%' FROM edge JOIN memory m ON m.id = src"
                     " JOIN memory n ON n.id = dst WHERE kind = 'causal'") == [(1, 1)]  # fmt: skip


def test_the_first_notes_of_a_store_cost_no_reconcile_call(box):
    """Where there is nothing to compare with, no model is asked to compare."""
    with ScriptedProvider() as provider:
        box.use(provider)
        box.remember("Redis stores the sessions.")
        box.drain()
        assert provider.tasks == {"extract": 1, "": 1}


def test_what_was_superseded_is_not_compared_with(box):
    """A model is asked about what holds, and not about what held before it."""
    for text in ("We deploy on Vercel.", "We moved from Vercel to Coolify."):
        box.remember(text)
        box.drain()
    with ScriptedProvider() as provider:
        box.use(provider)
        box.remember("We left Vercel and Coolify, and deploy on Fly.io.")
        box.drain()
        [asked] = [str(got.body) for got in provider.received if got.task == "reconcile"]
    assert "We moved from Vercel to Coolify." in asked
    assert "We deploy on Vercel." not in asked


def test_without_a_network_all_but_causes_are_linked(box):
    """Over a small corpus the built-in providers alone link memories in three ways."""
    texts = [
        *("The office cat sleeps on the router.", "Invoices are sent as PDF.", "Bob reviews every pull request."),
        *("Nightly builds take forty minutes.", "Kafka keeps seven days of events."),
        "The billing service keeps its invoices in Postgres.",
        "Billing keeps all of its invoices in a Postgres database.",
        "Postgres was too slow for sessions.",
        "We moved the sessions to Redis because Postgres was too slow for sessions.",
    ]
    for text in texts:
        box.remember(text, session="s1", agent="tester")
    assert box.drain().done == len(dict.fromkeys(texts))
    kinds = box.store("SELECT DISTINCT kind FROM edge")
    assert {*kinds} - {"newer"} == {"entity", "semantic", "temporal"}


@pytest.mark.parametrize("name", COMPONENTS)
def test_rare_names_link_more_strongly_than_common_ones(box, name):
    """An entity edge by a name of two memories outweighs one by a name of many."""
    for text in CORPUS:
        box.remember(text, entities=f"{name}\nUbiquitous")
    box.remember("Zeppelin flies.", entities="Zeppelin\nUbiquitous")
    box.remember("Zeppelin lands.", entities="Zeppelin\nUbiquitous")
    box.drain()
    weights = dict(box.store("SELECT detail, max(weight) FROM edge WHERE kind = 'entity' GROUP BY detail"))
    last = box.store("SELECT detail FROM edge WHERE kind = 'entity' AND src = (SELECT max(id) FROM memory)"
                     " AND dst = (SELECT max(id) - 1 FROM memory)")  # fmt: skip
    assert last == ["Zeppelin"]
    assert weights["Zeppelin"] > 0.5


def test_a_note_costs_the_store_few_statements_each_prepared_once(box):
    """However many notes a drain takes, each costs about 150 statements, and none of them is prepared again."""
    counted, stats = Counter(), {}

    def watch(db):
        def ran(event):
            name = db.filename.rpartition("/")[2]
            counted[name] += not event["trigger"]  # nor what the text index runs by itself
            stats[name] = db.cache_stats()["misses"]

        db.trace_v2(apsw.SQLITE_TRACE_STMT, ran)

    notes = 40
    for n in range(notes):
        box.remember(f"The service s{n} of team {n % 7} keeps its sessions in Redis and its invoices in Postgres.")
    apsw.connection_hooks.append(watch)
    try:
        assert box.drain().done == notes
    finally:
        apsw.connection_hooks.remove(watch)
    assert counted["memman.db"] / notes < 170
    assert stats["memman.db"] < 200
