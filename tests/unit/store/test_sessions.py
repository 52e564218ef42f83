"""Receipts of what was shown: by recall and by hooks, folded into the store by the drain."""

import pytest

from memman.config.shown import session_name
from memman.store.sqlite import sessions
from memman.store.sqlite.store import open_store
from tests.support.hook_calls import context

QUESTION = "where do we deploy billing?"
SHOWN = "SELECT session, way, agent, times, tokens > 0 FROM shown ORDER BY way, session"


@pytest.fixture
def deployed(box):
    """Fill a store with one decision."""
    box.remember("We deploy billing to Fly.io from the main branch.", category="decision")
    box.drain()
    return box


def test_each_way_of_showing_leaves_a_receipt(deployed):
    """Recall and four hooks each leave way, session, agent and tokens; only recall counts as use, once a session."""
    deployed.environ["MEMMAN_SESSION"] = "s1"
    for _ in range(3):
        deployed.memman("recall", QUESTION)
    deployed.environ["MEMMAN_SESSION"] = "s2"
    deployed.memman("recall", "--json", QUESTION)
    task = {"tool_name": "Task", "tool_input": {"prompt": QUESTION}}
    for event, session, said in (
        ("session-start", "a", {}),
        ("user-prompt", "b", {"prompt": QUESTION}),
        ("pre-tool", "c", task),
        ("subagent-start", "a", {}),
    ):
        assert "Fly.io" in context(deployed, event, "codex", {"session_id": session} | said)
    deployed.drain()
    assert deployed.store(SHOWN) == [
        ("c", "pre-tool", "codex", 1, 1),
        ("b", "prompt", "codex", 1, 1),
        ("s1", "recall", "", 3, 1),
        ("s2", "recall", "", 1, 1),
        ("a", "session-start", "codex", 1, 1),
        ("a", "subagent", "codex", 1, 1),
    ]
    assert deployed.store("SELECT uses FROM memory") == [2]
    assert not (deployed.data / "shown.log").exists()


def test_a_session_is_kept_as_a_plain_word(deployed):
    """An id with blanks, newlines or a secret in it is kept as a digest; a note that waits leaves none."""
    odd = "1 default recall . . deadbeef:9\nx"
    deployed.environ["MEMMAN_SESSION"] = odd
    deployed.remember("The billing service is deployed on Mondays.")
    deployed.memman("recall", QUESTION)
    (line,) = (deployed.data / "shown.log").read_text().splitlines()
    assert len(line.split()) == 6
    deployed.drain()
    assert deployed.store("SELECT session FROM shown") == [session_name(odd)]


@pytest.mark.parametrize(
    "line", ["1 default recall", "1 default recall . .", "x default recall . . {}:3", "1 default {}"]
)
def test_torn_lines(deployed, line):
    """A torn line counts nothing, and keeps no other from counting."""
    uid = deployed.store("SELECT uid FROM memory")[0]
    torn = f"{line.format(uid)}\n2 default prompt . s {uid}:{'9' * 30} {uid[:9]}"
    (deployed.data / "shown.log").write_text(torn)
    deployed.remember("Redis caches the invoices.")
    deployed.drain()
    assert deployed.store("SELECT uses FROM memory WHERE uid = ?", uid) == [0]
    assert deployed.store("SELECT tokens FROM shown WHERE way = 'prompt'") == [0]


def test_the_oldest_rows_go(deployed, monkeypatch):
    """Beyond the bound the newest rows are kept."""
    uid = deployed.store("SELECT uid FROM memory")[0]
    lines = "".join(f"{n} default recall . s{n} {uid}:1\n" for n in range(1, 9))
    (deployed.data / "shown.log").write_text(lines)
    deployed.drain()
    store = open_store(str(deployed.data), "default")
    monkeypatch.setattr(sessions, "MOST_ROWS", 3)
    sessions.bound(store.db)
    store.close()
    assert deployed.store("SELECT session FROM shown ORDER BY at") == ["s6", "s7", "s8"]
    assert deployed.store("SELECT uses FROM memory") == [8]


@pytest.mark.parametrize("other", ["gemini", "aider"])
def test_an_agent_is_named_only_where_it_was_the_only_one(deployed, other):
    """Of agents whose session nobody knows, a receipt names none that did not ask each time."""
    uid = deployed.store("SELECT uid FROM memory")[0]
    (deployed.data / "shown.log").write_text(f"1 default recall gemini . {uid}:1\n2 default recall {other} . {uid}:1\n")
    deployed.drain()
    assert deployed.store("SELECT agent, times FROM shown") == [("gemini" if other == "gemini" else "", 2)]
