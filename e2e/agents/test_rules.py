"""A command that a user's rule forbids does not run in a real client, one to ask about neither, and all others do.

What a memory says of a command is told once a session.
"""

import pytest
from house import House

NAMES = ("claude-code", "codex", "gemini", "cline")
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
    # Gemini CLI shows what a hook says before a tool to the user.
    heard = turn.errors if (name, do) == ("gemini", "inform") else turn.whole
    assert do == "nothing" or RULES[do] in heard


@pytest.mark.parametrize("name", NAMES)
def test_what_a_memory_says_of_a_command_reaches_the_model(house: House, name: str) -> None:
    """As the client puts what a hook says of a tool before its model; Gemini CLI puts nothing there."""
    house.memman("remember", "Only the importer writes to drop_box.")
    house.memman("scheduler", "drain", "--wait")
    turn = house.desks[name].run("echo drop_box >/dev/null && mkdir -p drop_box")
    assert turn.code == 0, turn.errors
    assert ("bear on this command" in turn.whole) is (name != "gemini")
