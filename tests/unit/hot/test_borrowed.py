"""Hooks of Claude Code's settings that another host runs: it is left alone, and nothing is kept in another's name."""

import json

import pytest

from memman.hot.events import EVENTS
from tests.support.hook_calls import PAYLOADS, context, hook

CURSOR = {"CURSOR_VERSION": "3.12.17"}
# What others set where they run a hook, and only there.
OTHERS = [CURSOR, {"COPILOT_CLI": "1", "COPILOT_PROJECT_DIR": "/"}, {"QWEN_PROJECT_DIR": "/"}]
BORROWED = [json.loads(line) for line in (PAYLOADS / "borrowed/documented.jsonl").read_text().splitlines()]
SAID = "Staging deploys run from the main branch, at seven in the evening."


@pytest.fixture
def ruled(box):
    """Give a box with a memory, and a rule that forbids a command."""
    box.remember(SAID)
    box.drain()
    assert box.memman("rule", "add", "No pushes.", "--match", "git push", "--do", "deny").returncode == 0
    return box


def quiet(done):
    """Whether a hook ended well and printed nothing."""
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("fields", BORROWED, ids=lambda fields: f"{fields['host']}-{fields['event']}")
def test_another_host_gets_nothing_and_leaves_nothing(ruled, fields):
    """Whatever event it is: no context, no decision, no note."""
    before = ruled.states()
    assert quiet(hook(ruled, fields["event"], "claude-code", fields["payload"]))
    assert ruled.states() == before
    assert not list(ruled.data.glob("sessions/claude-code-*"))


@pytest.mark.parametrize("environ", OTHERS, ids=lambda environ: [*environ][-1])
@pytest.mark.parametrize("raw", [b"", b"[", b"x" * 5_000_000, b'{"session_id": 1, "tool_name": "Bash"}'])
def test_a_host_is_known_before_its_payload_is_read(ruled, raw, environ):
    """A payload that is none, or too long to be compared with the rules, blocks nothing there."""
    for event in EVENTS:
        assert quiet(hook(ruled, event, "claude-code", raw, **environ))


def test_the_turn_of_a_host_that_is_wired_itself_is_kept_once(ruled):
    """What Cursor says to its own hooks counts, and what it says to Claude Code's does not."""
    before = ruled.states().get("pending", 0)
    said = {"session_id": "s", "cwd": "/", "prompt": SAID, "last_assistant_message": "All right."}
    for host in ("claude-code", "codex"):
        for event in ("user-prompt", "stop"):
            hook(ruled, event, host, said, **CURSOR)
    assert ruled.states().get("pending", 0) == before + 1
    assert ruled.queue("SELECT DISTINCT agent FROM note WHERE channel = 'turn'") == ["codex"]


def test_claude_code_is_not_taken_for_another(ruled):
    """A user called devin, a repository called cursor, and an editor around the terminal are answered."""
    path = "/home/devin/.claude/projects/-home-devin-cursor/1.jsonl"
    asked = {"session_id": "s", "cwd": "/", "prompt": "when do staging deploys run?", "transcript_path": path}
    assert SAID in context(ruled, "user-prompt", "claude-code", asked, TERM_PROGRAM="vscode", VSCODE_PID="1")


def test_who_borrows_a_hook_is_said_to_who_looks_for_it(ruled):
    """MEMMAN_DEBUG names the host."""
    done = hook(ruled, "stop", "claude-code", {}, MEMMAN_DEBUG="1", **CURSOR)
    assert b"cursor runs the hooks of Claude Code's settings" in done.stderr
