"""When a model says that a fact is known already, it is believed only where nothing is lost."""

import pytest

from tests.support.providers import ScriptedProvider, respond


def known(asked):
    """Answer every reconcile with: the memory says it all."""
    if asked["task"] != "reconcile":
        return respond(asked)
    return {"verdicts": [{"fact": 0, "action": "NONE", "memory": 0, "reason": "the same"}], "causes": []}


@pytest.mark.parametrize(
    ("stored", "said", "kept"),
    [
        ("The API uses Redis for sessions.", "The API uses `Redis` for sessions", 1),
        ("The API uses Redis for sessions.", "Sessions of the API use Redis.", 2),
        ("The API uses Redis for sessions.", "The API does not use Redis for sessions.", 2),
        ("Never push to main on Fridays.", "Push to main on Fridays.", 2),
        ("The API doesn't cache sessions.", "The API caches sessions.", 2),
        ("The API uses Redis for sessions.", "The API uses Redis for sessions and for rate limits.", 2),
        ("We use pnpm in this repo, not npm.", "We use npm in this repo, not pnpm.", 2),
        ("Nutze npm nicht.", "Nutze npm.", 2),
        ("The pool holds 20 connections.", "The pool holds 40 connections.", 2),
    ],
)
def test_none_is_believed_only_of_a_true_repetition(box, stored, said, kept):
    """A fact with another word, number, sign or order of words is stored, whatever the model says of it."""
    with ScriptedProvider(respond=known) as provider:
        box.use(provider)
        for text in (stored, said):
            box.remember(text)
            assert box.drain().done == 1
    assert box.store("SELECT count(*) FROM memory") == [kept]
