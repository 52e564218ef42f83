"""What doctor says of the agents: hooks that are switched off, and those that nobody has approved."""

import json
import os

import pytest

from tests.unit.doctor.looking import found


def wire(box, *targets):
    """Wire agents; return what that says."""
    words = [word for target in targets for word in ("--target", target)]
    done = box.memman("install", "--no-wizard", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_claude_code_with_the_plugin_alone_is_wired(box):
    """The plugin brings the hooks: nothing has to be installed for them."""
    settings = box.data.parent / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    assert found(box, "agents") == [("warn", "claude-code is on this machine, but memman is not set up in it")]
    settings.write_text('{"enabledPlugins": {"memman@market": true}}')
    assert found(box, "agents") == [("ok", "Claude Code's plugin: up to date, hooks are on")]


def test_what_codex_trusts_is_looked_up_in_its_toml(box):
    """Until a person has approved our hooks there, and where one is switched off, that is said."""
    codex = box.data.parent / ".codex"
    assert "codex skips 5 hooks you have not approved" in wire(box, "codex")
    assert "you have not approved" in found(box, "agents")[0][1]
    with (codex / "config.toml").open("a") as config:
        for event in ("session_start", "user_prompt_submit", "pre_tool_use", "subagent_start", "stop"):
            config.write(f'[hooks.state."{codex}/hooks.json:{event}:0:0"]\ntrusted_hash = "sha256:x"\n')
    assert [status for status, _ in found(box, "agents")] == ["ok"]
    assert "approve" not in wire(box, "codex")
    with (codex / "config.toml").open("a") as config:
        config.write("enabled = false\n")
    assert found(box, "agents") == [("warn", "codex skips 1 hook switched off: stop")]


def test_openclaw_without_sight_of_conversations_is_a_warning(box):
    """The plugin is wired but mute until the user lets it see conversations."""
    wire(box, "openclaw")
    ((status, says),) = found(box, "agents")
    assert (status, "may not see conversations" in says) == ("warn", True)
    assert os.system(f"{box.script} install --target openclaw --allow-conversation-access >/dev/null") == 0  # noqa: S605
    assert [status for status, _ in found(box, "agents")] == ["ok"]


@pytest.mark.parametrize(
    "settings",
    [
        {"hooksConfig": {"disabled": ["memman"]}},
        {"hooksConfig": {"enabled": False}},
        {"hooks": {"disabled": ["memman"]}},
    ],
)
def test_every_switch_of_gemini_counts(box, settings):
    """Hooks are off as a whole or by name, in the newer and the older spelling."""
    wire(box, "gemini")
    path = box.data.parent / ".gemini/settings.json"
    held = json.loads(path.read_text())
    for key, value in settings.items():
        held[key] = held.get(key, {}) | value
    path.write_text(json.dumps(held))
    assert [status for status, _ in found(box, "agents")] == ["warn"]


@pytest.mark.parametrize(("name", "path"), [("qwen", ".qwen/settings.json"), ("copilot", ".copilot/hooks/memman.json")])
def test_hooks_that_are_all_switched_off_are_named(box, name, path):
    """Qwen Code has one switch for its settings, Copilot CLI one for a file of hooks."""
    wire(box, name)
    assert [status for status, _ in found(box, "agents")] == ["ok"]
    path = box.data.parent / path
    path.write_text(json.dumps(json.loads(path.read_text()) | {"disableAllHooks": True}))
    assert [status for status, _ in found(box, "agents")] == ["warn"]
