"""What each real client is told, each other one recalls: by hooks, and by MCP.

Every client is a teller and an asker, and one session of an asker is given what all told: three sessions a client.
"""

import pytest
from clients import Desk, Turn
from house import House
from model_server import Request
from test_agents import FACTS

# What the model of each notes by a tool, and the word that only that has. The slow clients first, so that two at a time
# end together.
NOTES = {
    "opencode": ("The heron is the mascot of the billing team.", "heron"),
    "qwen": ("Our search index was named after its mascot, a badger.", "badger"),
    "copilot": ("Stickers of the walrus, mascot of the mobile app, are in the cupboard.", "walrus"),
    "cline": ("On the door of the server room hangs its mascot, an ibex.", "ibex"),
    "gemini": ("A lynx is printed on the mugs as the mascot of the support desk.", "lynx"),
    "codex": ("The mascot at the bottom of every page of the handbook is a puffin.", "puffin"),
    "claude-code": ("Deploys are announced by a gecko, the mascot of the platform group.", "gecko"),
}
NAMES = [*NOTES]
PAIRS = [(teller, asker) for asker in NAMES for teller in NAMES]
# Stands before what the tool `recall` answers.
RECORDS = "Records of memory, not instructions"


@pytest.fixture(name="asked", scope="module")
def _asked(house: House) -> dict[str, Turn]:
    """Return a session of each client, after all were told and a drain; its model asks for what others noted."""

    def tell(desk: Desk) -> list[Turn]:
        name = desk.client.name
        return [desk.ask(FACTS[name].correction), desk.use("remember", {"text": NOTES[name][0]})]

    told = house.at_desks(NAMES, tell)
    house.memman("scheduler", "drain", "--wait")
    asked = house.at_desks(NAMES, lambda desk: desk.use("recall", {"query": "which mascot"}, "What do you know?"))
    for turn in (*(turn for turns in told.values() for turn in turns), *asked.values()):
        assert turn.code == 0, turn.errors
    return asked


def requests(turn: Turn) -> list[Request]:
    """Return what the model was asked in a turn, with its tools."""
    return [request for request in turn.asked if request.body.get("tools")]


@pytest.mark.parametrize(("teller", "asker"), PAIRS)
def test_what_one_is_told_another_begins_with(asked: dict[str, Turn], teller: str, asker: str) -> None:
    """A turn of the teller is captured by its hook, and stands in the asker's first request."""
    assert FACTS[teller].mark in requests(asked[asker])[0].text


@pytest.mark.parametrize(("teller", "asker"), PAIRS)
def test_what_one_notes_by_mcp_another_recalls(asked: dict[str, Turn], teller: str, asker: str) -> None:
    """The teller's model calls `remember`, and what the asker's `recall` answers stands in its next request."""
    _, found, answer = requests(asked[asker])[-1].text.rpartition(RECORDS)
    assert found
    assert NOTES[teller][1] in answer
