"""What a receipt says of the models, and the ledger of repositories: what happened, not what was set up."""

import json

import pytest

from memman.model.records import Usage
from memman.queue.ledger import Ledger
from memman.queue.notes import Queue
from tests.support.providers import GARBAGE_CONTENT, ScriptedProvider, status

TEXT = "Redis caches the invoices of the billing service."


def models(box):
    """Return what the newest receipt says."""
    return json.loads(box.store("SELECT models FROM receipt ORDER BY at DESC, note DESC")[0])


def test_without_a_key_no_receipt_repeats_the_built_in_models(box):
    """They are left out of it, and `why` says that it was them; of a store that kept no models it says nothing."""
    box.remember(TEXT)
    box.drain()
    assert models(box) == {}
    (uid,) = box.store("SELECT uid FROM memory")
    assert "the built-in models" in box.memman("show", uid).stdout
    box.alter("UPDATE receipt SET models = ''")
    assert "made by" not in box.memman("show", uid).stdout


def test_the_model_that_answered_is_named(box):
    """A model that answers is named by provider and model, for the stages it answered in."""
    with ScriptedProvider() as provider:
        box.use(provider, LLM_MODEL_FAST="small", LLM_MODEL_SLOW="large")
        box.remember(TEXT)
        box.remember("Redis caches the sessions of the billing service.")
        box.drain()
    assert models(box) == {"extract": "openai/small", "reconcile": "openai/large", "embed": "openai/scripted"}


@pytest.mark.parametrize("act", [GARBAGE_CONTENT, status(503)], ids=["garbles", "is down"])
def test_what_answered_in_place_of_the_model_is_named(box, act):
    """Where a model garbles or is down, the receipt names the built-in one that answered, not the one set up."""
    with ScriptedProvider(script=lambda _: act) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", LLM_FALLBACK="builtin")
        box.remember(TEXT)
        box.drain()
    assert models(box)["extract"].startswith("builtin/")


def test_a_journaled_answer_keeps_its_model(box):
    """A note that a later drain finishes names the model that answered in the first one."""
    with ScriptedProvider() as provider:
        box.use(provider, LLM_MODEL_FAST="small")
        box.remember(TEXT)
        box.start_drain(MEMMAN_FAILPOINT="after:extract").communicate()
        box.drain()
        assert provider.tasks["extract"] == 1
    assert models(box)["extract"] == "openai/small"


# --- in which repository money was spent ---


def spent(box):
    """Return calls, tokens in and tokens out by repository."""
    sql = "SELECT repository, sum(calls), sum(tokens_in), sum(tokens_out) FROM ledger GROUP BY 1 ORDER BY 1"
    return {name: tuple(rest) for name, *rest in box.queue(sql)}


def test_each_repository_pays_for_its_notes(box):
    """Calls about the notes of two repositories are entered for each, those for vectors too."""
    with ScriptedProvider() as provider:
        box.use(provider)
        box.remember(TEXT, repository="acme/shop")
        box.remember("The heron is the mascot of the team.")
        box.drain()
        calls = provider.calls.total()
    assert spent(box).keys() == {"", "acme/shop"}
    assert sum(row[0] for row in spent(box).values()) == calls
    assert box.queue("SELECT count(*) FROM ledger WHERE stage = 'embed'") == [2]


def test_parts_add_up_to_the_whole(box):
    """A call about several repositories is counted once, no token lost, and what repeats is added."""
    queue = Queue(str(box.data))
    for _ in range(2):
        Ledger(queue.db).enter("extract", "p", "m", Usage(100, 1, 0.5), {"a": 1, "b": 1, "c": 1})
    queue.close()
    assert [sum(column) for column in zip(*spent(box).values(), strict=True)] == [2, 200, 2]
    assert box.queue("SELECT sum(cost) FROM ledger")[0] == pytest.approx(1.0)
