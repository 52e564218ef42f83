"""Where a memory comes from and what became of it, and what memory costs."""

import json

import pytest

from tests.support.providers import ScriptedProvider

DEPLOY = "We deploy billing to Fly.io from the main branch."


@pytest.fixture
def replaced(box):
    """Fill a store with a decision and what replaced it, which a session was shown twice."""
    with ScriptedProvider() as provider:
        box.use(provider, LLM_MODEL_FAST="small", LLM_PRICE="2,10")
        box.remember(DEPLOY, agent="codex", session="s1", repository="acme/shop", revision="abc123")
        box.drain()
        old = box.store("SELECT uid FROM memory")[0]
        box.memman("replace", old, "We deploy billing to Render.")
        box.drain()
        box.environ["MEMMAN_SESSION"] = "s2"
        for _ in range(2):
            box.memman("recall", "--all-scopes", "where do we deploy billing?")
        box.drain()
    return box


def test_why_tells_where_a_memory_comes_from_and_where_it_was_shown(replaced):
    """Agent, session, commit, drain and models of its note, what it replaced and why, and each showing."""
    old, new = replaced.store("SELECT uid FROM memory ORDER BY id")
    first, second = json.loads(replaced.memman("why", old, new, "--json").stdout)
    assert (first["superseded_by"], second["before"][0]["uid"]) == (new, old)
    came = first["provenance"]
    assert [came[name] for name in ("agent", "session", "repository", "revision")] == [
        "codex",
        "s1",
        "acme/shop",
        "abc123",
    ]
    assert came["drain"]
    assert first["models"]["extract"] == "openai/small"
    assert [one["verb"] for one in first["changes"]] == ["add", "supersede"]
    (shown,) = second["shown"]
    assert (shown["way"], shown["session"], shown["times"]) == ("recall", "s2", 2)
    said = replaced.memman("why", old).stdout
    assert all(part in said for part in ("extract: openai/small", new[:8], "replaced on request", "abc123"))
    assert "recall s2, 2 times" in replaced.memman("why", new).stdout


def test_a_note_that_waits_has_no_why(box):
    """It is said that the note waits, and nothing is written."""
    done = box.memman("why", box.remember("The heron is the mascot."))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)


def test_cost_sets_what_was_spent_beside_what_was_shown(replaced):
    """Money and tokens by day, stage and repository, and the tokens shown by way and session."""
    record = json.loads(replaced.memman("cost", "--since", "1d", "--json").stdout)
    assert {one["repository"] for one in record["spent"]} == {"", "shop"}
    assert sum(one["cost"] for one in record["spent"]) > 0
    (shown,) = record["shown"]
    assert (shown["way"], shown["session"], shown["times"]) == ("recall", "s2", 2)
    said = replaced.memman("cost").stdout
    assert "USD" in said
    assert f"{shown['tokens']} tokens" in said
