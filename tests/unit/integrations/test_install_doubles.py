"""Hooks that call memman in another way than install writes them: recognised, said, and left to the person."""

import json

import pytest

from memman.hot.events import EVENTS
from memman.integrations import hook_block
from memman.integrations.state import doubles, strangers
from memman.integrations.targets import TARGETS

CLAUDE = TARGETS["claude-code"]
PLAIN = (
    "memman hook stop --host claude-code",
    "/old/memman hook stop --host=claude-code",
    "exec memman hook --host claude-code stop 2>/dev/null",
    "memman hook stop --store x --host claude-code",
)
OTHERWISE = (
    "MEMMAN_STORE=x memman hook stop --host claude-code",
    "memman --store work hook stop --host claude-code",
    "memman hook stop --host claude-code || true",
    "date;memman hook stop;true",
    "python3 -m memman hook stop --host claude-code",
    'sh -c "memman hook stop --host claude-code"',
    '"/a b/bin/memman" hook stop --host "claude-code',
)
NO_CALLS = ("memman status", "memman hook nothing", "echo hook stop", "my-memman hook stop", "", None, 5)


def settings(home, *commands):
    """Write settings of Claude Code with these commands at its end of turn."""
    path = home / ".claude/settings.json"
    path.parent.mkdir(exist_ok=True)
    groups = [{"hooks": [{"type": "command", "command": command}]} for command in commands]
    path.write_text(json.dumps({"hooks": {"Stop": groups}}))
    return path


def test_the_events_are_the_hook_programs_own():
    """What counts as an event here is what the hook program answers."""
    assert set(hook_block.EVENTS) == set(EVENTS)


@pytest.mark.parametrize("command", OTHERWISE)
def test_a_call_is_recognised_however_it_is_written(command):
    """The event of a call is known, and it is not taken for one of install's own."""
    assert hook_block.event(command) == "stop"
    assert not hook_block.ours(command)


@pytest.mark.parametrize("command", NO_CALLS)
def test_what_is_no_call_is_not(command):
    """Other programs, verbs and things are left out."""
    assert hook_block.event(command) == ""


@pytest.mark.parametrize("command", OTHERWISE)
def test_a_call_beside_ours_is_said_and_left(box, tmp_path, command):
    """Install names it in its plan and leaves it; doctor says that it fires beside ours; uninstall leaves it."""
    path = settings(tmp_path, command)
    assert strangers(CLAUDE) == [command]
    assert doubles(CLAUDE) == []
    done = box.memman("install", "--no-wizard", "--target", "claude-code")
    assert f"{command!r} is a hook that calls memman too; it was kept" in done.stdout
    (line,) = doubles(CLAUDE)
    assert line.startswith("the stop hook stands 2 times in the hooks: take ")
    assert repr(command) in line
    faults = json.loads(box.memman("doctor", "--check", "agents", "--json").stdout)
    assert "stands 2 times" in json.dumps(faults)
    assert box.memman("uninstall").returncode == 0
    assert json.loads(path.read_text()) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}


@pytest.mark.parametrize("command", PLAIN)
def test_a_plain_call_is_replaced_and_said(box, tmp_path, command):
    """A hook that does nothing but call a memman of another place gives way to ours, which the plan says."""
    path = settings(tmp_path, command)
    program = command.removeprefix("exec ").split()[0]
    done = box.memman("install", "--no-wizard", "--target", "claude-code")
    assert f"replaces calls of {program}" in done.stdout
    assert doubles(CLAUDE) == []
    assert path.read_text().count("hook stop") == 1


def test_the_plugin_beside_any_call_is_double(box, tmp_path):
    """With the plugin on, a call written in another way fires beside the plugin's."""
    path = settings(tmp_path, OTHERWISE[0])
    path.write_text(json.dumps(json.loads(path.read_text()) | {"enabledPlugins": {"memman@market": True}}))
    assert box.data
    assert "plugin" in doubles(CLAUDE)[0]
