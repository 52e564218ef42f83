"""A command that a user's rule forbids does not run in a real client, one to ask about neither, and all others do.

What a memory says of a command is told once a session.
"""

import pytest
from house import House

NAMES = ("claude-code", "codex", "copilot", "gemini", "qwen", "cline")
# Those that put nothing before their model of a command that runs.
DEAF = ("gemini", "qwen")
# What is done before a command that makes a file of this name, and what the model then reads.
RULES = {"deny": "Nobody makes that file.", "ask": "Ask me before that file.", "inform": "That file is temporary."}
ASKED = [(name, do) for name in NAMES for do in (*RULES, "nothing")]


@pytest.fixture(name="ruled", scope="module")
def _ruled(house: House) -> House:
    """Return a house with a rule of each kind, which a person has added."""
    for do, text in RULES.items():
        house.person("rule", "add", text, "--match", f"touch */{do}", "--do", do)
    return house


@pytest.mark.parametrize(("name", "do"), ASKED)
def test_a_command_runs_as_the_rules_say(ruled: House, name: str, do: str) -> None:
    """What is denied, or asked about where nobody is there, makes no file; the agent reads the rule's text."""
    place = ruled.home / f"made-by-{name}"
    place.mkdir(exist_ok=True)
    turn = ruled.desks[name].run(f"cd {place} && touch {place}/{do}")
    assert turn.code == 0, turn.errors
    assert (place / do).exists() is (do not in {"deny", "ask"})
    if (name, do) == ("gemini", "inform"):
        assert RULES[do] in turn.errors  # it shows that to the user
    elif do != "nothing":
        assert (RULES[do] in turn.whole) is ((name, do) != ("qwen", "inform"))


@pytest.mark.parametrize("name", NAMES)
def test_what_a_memory_says_of_a_command_reaches_the_model(house: House, name: str) -> None:
    """As the client puts what a hook says of a tool before its model."""
    house.memman("remember", "Only the importer writes to drop_box.")
    house.memman("scheduler", "drain", "--wait")
    turn = house.desks[name].run("echo drop_box >/dev/null && mkdir -p drop_box")
    assert turn.code == 0, turn.errors
    assert ("bear on this command" in turn.whole) is (name not in DEAF)
