"""A command that a user's rule forbids does not run in a real client, one to ask about neither, and all others do."""

from dataclasses import replace

import pytest
from clients import Desk, Turn

from conftest import House
from tests.support.terminal import attended

# How a client is started so that it may run any command, and the call of its model that runs one.
SHELLS = {
    "claude-code": (
        ("claude", "--allowedTools", "Bash", "-p"), 'CALL Bash {{"command": "{}", "description": "tidy"}};',
    ),
    "codex": (
        ("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
         "--dangerously-bypass-approvals-and-sandbox"),
        'CALL exec_command {{"cmd": "{}"}};',
    ),
    "gemini": (
        ("gemini", "--yolo", "-p"), 'CALL run_shell_command {{"command": "{}", "description": "tidy"}};',
    ),
}  # fmt: skip
# What is done before a command that makes a file of this name, and what the model then reads.
RULES = {"deny": "Nobody makes that file.", "ask": "Ask me before that file.", "inform": "That file is temporary."}
ASKED = [(name, do) for name in SHELLS for do in (*RULES, "nothing")]


@pytest.fixture(name="ruled", scope="module")
def _ruled(house: House) -> House:
    """Return a house with a rule of each kind, which a person has added."""
    environ = {"HOME": str(house.home), "PATH": "/usr/bin:/bin"}
    for do, text in RULES.items():
        command = [str(house.program), "rule", "add", text, "--match", f"touch */{do}", "--do", do]
        done = attended(command, environ, house.home)
        assert done.returncode == 0, done.stderr
    return house


def told(house: House, name: str, command: str) -> Turn:
    """Have a client's model run a command."""
    argv, call = SHELLS[name]
    desk = house.desks[name]
    desk = Desk(replace(desk.client, argv=argv), house.home, desk.path, desk.model)
    return desk.ask(f"Tidy up. {call.format(command)}")


@pytest.mark.parametrize(("name", "do"), ASKED)
def test_a_command_runs_as_the_rules_say(ruled: House, name: str, do: str) -> None:
    """What is denied, or asked about where nobody is there, makes no file; the agent reads the rule's text."""
    place = ruled.home / f"made-by-{name}"
    place.mkdir(exist_ok=True)
    turn = told(ruled, name, f"cd {place} && touch {place}/{do}")
    assert turn.code == 0, turn.errors
    assert (place / do).exists() is (do not in {"deny", "ask"})
    # Gemini CLI shows what a hook says before a tool to the user.
    heard = turn.errors if (name, do) == ("gemini", "inform") else turn.whole
    assert do == "nothing" or RULES[do] in heard
