"""Before a command that a memory of the user's speaks of, that memory: one line, once a session."""

import json
import subprocess

import pytest

from memman.upkeep.rules import commands_in
from tests.support.hook_calls import hook

NPM = "Use pnpm in this project, never npm."
FLASH = "The probe is flashed with `west flash -r pyocd`, never with nrfjprog."
RELAYS = "Never open /dev/ttyACM0: that is the relay board."
ADD = "Nobody but me runs git add."


@pytest.fixture
def stored(box):
    """Give a box with a few memories that speak of commands, and one that does not."""
    for text in (NPM, FLASH, RELAYS, ADD, "Invoices are rounded half up."):
        box.remember(text)
    box.drain()
    return box


def before(box, command, session="s", host="claude-code", cwd="/"):
    """Return what an agent is told before a command."""
    payload = {"session_id": session, "cwd": str(cwd), "tool_name": "Bash", "tool_input": {"command": command}}
    out = hook(box, "pre-command", host, payload).stdout.decode()
    said = json.loads(out or "{}")
    said = said.get("hookSpecificOutput", said)
    assert said.get("hookEventName", "PreToolUse") == "PreToolUse"
    return said.get("additionalContext", "") + said.get("permissionDecisionReason", "")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cd web && npm install left-pad", NPM),
        ("sudo west flash --runner jlink", FLASH),
        ("minicom -D /dev/ttyACM0", RELAYS),
        ("git -C web add -A", ADD),
        ("git commit -m 'npm: never git add'", ""),
        ("git status", ""),
        ("west build", ""),
        ("cat /dev/ttyACM1", ""),
        ("ls -la && cat README.md", ""),
    ],
)
def test_a_command_that_a_memory_speaks_of_brings_it(stored, command, told):
    """By the program and what it is to do, an option, or a file; not by words that are only spoken of."""
    said = before(stored, command)
    assert told in said
    assert said.count("\n") == (3 if told else 0)


def test_each_is_told_once_a_session_and_one_at_a_time(stored):
    """Though the session began with it, since that is far away by then; where several bear on it, one a command."""
    hook(stored, "session-start", "claude-code", {"session_id": "s", "cwd": "/", "source": "startup"})
    both = "npm run flash && west flash"
    first, second = before(stored, both), before(stored, both)
    assert {NPM in first, NPM in second} == {True, False} == {FLASH in first, FLASH in second}
    assert before(stored, both) == ""
    assert NPM in before(stored, "npm ci", session="another")
    assert before(stored, "npm ci", session="") == ""


@pytest.mark.parametrize("host", ["codex", "copilot", "cline", "gemini", "qwen", "opencode"])
def test_only_hosts_that_put_it_before_their_model_are_told(stored, host):
    """Gemini CLI would show it to the user, and Qwen Code to nobody."""
    assert (NPM in before(stored, "npm ci", host=host)) == (host in {"codex", "copilot", "cline"})


def test_the_store_has_the_last_word(stored, tmp_path):
    """What was forgotten since, or holds elsewhere, is not told; what a rule says comes first."""
    repository = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", repository], check=True)
    stored.memman("remember", "Tests of the shop run with `make quick`.", cwd=repository)
    stored.drain()
    assert before(stored, "make quick") == ""
    assert "make quick" in before(stored, "make quick", session="t", cwd=repository)
    (uid,) = stored.store("SELECT uid FROM memory WHERE text = ?", NPM)
    stored.memman("forget", uid)
    assert before(stored, "npm ci") == ""
    assert uid in (stored.data / "rules").read_text()
    stored.person("purge", uid)
    assert uid not in (stored.data / "rules").read_text()
    stored.person("rule", "add", "No flashing today.", "--match", "west flash", "--do", "deny", "--scope", "personal")
    assert before(stored, "west flash").endswith("No flashing today.")


def test_where_no_memory_speaks_of_a_command_nothing_is_started(box):
    """The launcher looks for the file only."""
    box.remember("Invoices are rounded half up.")
    box.drain()
    assert not (box.data / "rules").exists()


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("Run `uv run pytest -n 4`, never `-n auto`.", {"uv run pytest", "uv run", "pytest"}),
        ("We go with Go, and make sure that npm runs nowhere.", {"npm runs"}),
        ("Never pass --no-verify; see docs/hooks.md.", {"--no-verify", "* *docs/hooks.md*"}),
        ("See https://example.com/a/b, e.g. on 2026-03-09.", set()),
        ("The column legacy_ref stays.", {"* *legacy_ref*"}),
        ("We deploy to Fly.io by migrate_all(), and read README.md.", {"* *README.md*"}),
    ],
)
def test_what_a_text_names(text, patterns):
    """Commands in code marks up to their options, known programs, options, files, and names with signs in them."""
    assert commands_in(text) == patterns
