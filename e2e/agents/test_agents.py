"""What is corrected in one client stands before the model in the next session of every client, where it bears."""

from dataclasses import dataclass

import pytest
from clients import CLIENTS, Turn
from model_server import SAY

from conftest import House


@dataclass(frozen=True)
class Fact:
    """What a user corrects, what is asked about it later, and the word that only the correction holds."""

    correction: str
    question: str
    mark: str


FACTS = {
    "claude-code": Fact(
        "No, we deploy billing with Nomad, never with Kubernetes.", "How do we deploy billing?", "Nomad"
    ),
    "codex": Fact(
        "No, the invoice tests run against Postgres, not against SQLite.",
        "What do the invoice tests run against?",
        "Postgres",
    ),
    "gemini": Fact(
        "No, the release notes are written in AsciiDoc, not in Markdown.",
        "How are the release notes written?",
        "AsciiDoc",
    ),
    "opencode": Fact(
        "No, the staging cluster is in Frankfurt, not in Dublin.", "Where is the staging cluster?", "Frankfurt"
    ),
    "openclaw": Fact(
        "No, the metrics dashboards are built with Grafana, not with Kibana.",
        "What are the metrics dashboards built with?",
        "Grafana",
    ),
}
UNRELATED = "Write a haiku about the moon over a quiet lake."
MARKS = [fact.mark for fact in FACTS.values()]


@pytest.fixture(name="told", scope="module")
def _told(house: House) -> dict[str, Turn]:
    """Return the turns in which each client was told its correction."""
    turns = house.each({name: [fact.correction] for name, fact in FACTS.items()})
    return {name: turn for (name, _), turn in turns.items()}


@pytest.fixture(name="asked", scope="module")
def _asked(house: House, told: dict[str, Turn]) -> dict[tuple[str, str], Turn]:
    """Return the turns of later sessions, after a drain."""
    assert told
    house.memman("scheduler", "drain")
    questions = [*(fact.question for fact in FACTS.values()), UNRELATED]
    return house.each(dict.fromkeys(CLIENTS, questions))


@pytest.mark.parametrize("name", CLIENTS)
def test_a_turn_goes_as_it_always_did(told: dict[str, Turn], name: str) -> None:
    """The client succeeds and prints the model's answer; a memory that is empty adds nothing to the prompt."""
    turn = told[name]
    assert (turn.code, SAY in turn.output) == (0, True), turn.errors
    assert "memman" not in turn.beside.replace(FACTS[name].correction, "")


@pytest.mark.parametrize("asker", CLIENTS)
@pytest.mark.parametrize("teller", CLIENTS)
def test_a_correction_stands_beside_the_next_related_prompt(
    asked: dict[tuple[str, str], Turn], teller: str, asker: str
) -> None:
    """What a user corrected in one client is beside the question of a later session in each client."""
    fact = FACTS[teller]
    turn = asked[asker, fact.question]
    assert (turn.code, SAY in turn.output) == (0, True), turn.errors
    assert fact.mark in turn.beside


@pytest.mark.parametrize("asker", CLIENTS)
def test_an_unrelated_prompt_carries_nothing(asked: dict[tuple[str, str], Turn], asker: str) -> None:
    """Beside a prompt that no memory bears on stands nothing of memman's."""
    turn = asked[asker, UNRELATED]
    assert (turn.code, SAY in turn.output) == (0, True), turn.errors
    assert turn.beside.count("memman-memory") == 0
    assert [mark for mark in MARKS if mark in turn.beside] == []


@pytest.mark.parametrize("asker", CLIENTS)
def test_a_session_begins_with_the_guide(asked: dict[tuple[str, str], Turn], asker: str) -> None:
    """What every session begins with is in the request, once."""
    assert "memman keeps what earlier sessions left" in asked[asker, UNRELATED].whole


def test_what_was_recalled_is_not_learned_again(house: House, asked: dict[tuple[str, str], Turn]) -> None:
    """After all those sessions and another drain there are as many memories as there were corrections."""
    assert asked
    house.memman("scheduler", "drain")
    listed = house.memman("insights", "list")
    assert [listed.count(mark) for mark in MARKS] == [1] * len(MARKS), listed
