"""Stores that the tests of several verbs look at."""

import pytest

from tests.support.providers import ScriptedProvider

DEPLOY = "We deploy billing to Fly.io from the main branch."


@pytest.fixture
def replaced(box):
    """Fill a store with a decision and what replaced it, which a session was shown twice."""
    with ScriptedProvider() as provider:
        box.use(provider, LLM_MODEL_FAST="small", LLM_PRICE="2,10")
        box.remember(
            "We deploy billing to Fly.io from the main branch.",
            agent="codex",
            session="s1",
            repository="acme/shop",
            revision="abc123",
        )
        box.drain()
        old = box.store("SELECT uid FROM memory")[0]
        box.memman("replace", old, "We deploy billing to Render.")
        box.drain()
        box.environ["MEMMAN_SESSION"] = "s2"
        for _ in range(2):
            box.memman("recall", "--all-scopes", "where do we deploy billing?")
        box.drain()
    return box
