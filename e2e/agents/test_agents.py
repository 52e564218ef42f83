"""What is corrected in one client stands before the model in the next session of every client, where it bears."""

import os
from dataclasses import dataclass

import pytest
from clients import Turn
from house import House
from model_server import SAY


@dataclass(frozen=True)
class Fact:
    """What a user corrects, what is asked about it later, and the word that only the correction holds."""

    correction: str
    question: str
    mark: str


# The slow clients first, so that two at a time end together.
FACTS = {
    "openclaw": Fact(
        "No, the metrics dashboards are in Grafana, not in Kibana.", "Where are the metrics dashboards?", "Grafana"
    ),
    "opencode": Fact(
        "No, the staging cluster is in Frankfurt, not in Dublin.", "Where is the staging cluster?", "Frankfurt"
    ),
    "qwen": Fact(
        "No, the invoices are printed by Ghostscript, not by Cairo.", "What are the invoices printed by?", "Ghostscript"
    ),
    "copilot": Fact(
        "No, the nightly backups go to Backblaze, not to Glacier.", "Where do the nightly backups go?", "Backblaze"
    ),
    "cline": Fact(
        "No, the feature flags are in Unleash, not in LaunchDarkly.", "Where are the feature flags?", "Unleash"
    ),
    "gemini": Fact(
        "No, the release notes are in AsciiDoc, not in Markdown.", "Which format are the release notes in?", "AsciiDoc"
    ),
    "codex": Fact(
        "No, the search index is on Elasticsearch, not on Solr.", "What is the search index on?", "Elasticsearch"
    ),
    "claude-code": Fact(
        "No, the billing service runs on Nomad, not on Kubernetes.", "What does the billing service run on?", "Nomad"
    ),
}
PREFERENCE = "I prefer small pull requests over big ones."
UNRELATED = "Write a haiku about the moon over a quiet lake."
MARKS = [fact.mark for fact in FACTS.values()]
NAMES = list(FACTS)
# How many of the others, and itself, each is asked about, so that each was the teller as often.
OTHERS = len(NAMES) - 1 if os.environ.get("MEMMAN_LONG") else 1
PAIRS = [(NAMES[(at + away) % len(NAMES)], asker) for at, asker in enumerate(NAMES) for away in range(OTHERS + 1)]


@pytest.fixture(name="told", scope="module")
def _told(house: House) -> dict[tuple[str, str], Turn]:
    """Return the turns in which each client was told its correction, and one of them a preference too."""
    corrections = {name: [fact.correction] for name, fact in FACTS.items()}
    return house.each(corrections | {"claude-code": [*corrections["claude-code"], PREFERENCE]})


@pytest.fixture(name="asked", scope="module")
def _asked(house: House, told: dict[tuple[str, str], Turn]) -> dict[tuple[str, str], Turn]:
    """Return the turns of later sessions, after a drain."""
    assert told
    house.memman("scheduler", "drain", "--wait")
    return house.each(
        {asker: [UNRELATED, *(FACTS[teller].question for teller, one in PAIRS if one == asker)] for asker in NAMES}
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_turn_goes_as_it_always_did(told: dict[tuple[str, str], Turn], name: str) -> None:
    """The client succeeds and prints the model's answer; a memory that is empty adds nothing to the prompt."""
    turn = told[name, FACTS[name].correction]
    assert (turn.code, SAY in turn.output) == (0, True), turn.errors
    assert "memman" not in turn.beside


@pytest.mark.parametrize(("teller", "asker"), PAIRS)
def test_a_correction_stands_in_each_later_session(asked: dict[tuple[str, str], Turn], teller: str, asker: str) -> None:
    """What a user corrected in one client is before the model in a later session of each client."""
    fact = FACTS[teller]
    turn = asked[asker, fact.question]
    assert (turn.code, SAY in turn.output) == (0, True), turn.errors
    assert fact.mark in turn.whole


@pytest.mark.parametrize("asker", NAMES)
def test_an_unrelated_prompt_carries_nothing(asked: dict[tuple[str, str], Turn], asker: str) -> None:
    """Beside a prompt that no memory bears on stands nothing of memman's."""
    turn = asked[asker, UNRELATED]
    assert (turn.code, SAY in turn.output) == (0, True), turn.errors
    assert [mark for mark in ("memman-memory", *MARKS) if mark in turn.beside] == []


@pytest.mark.parametrize("asker", NAMES)
def test_a_session_begins_with_the_guide_and_preferences(asked: dict[tuple[str, str], Turn], asker: str) -> None:
    """What every session begins with is given to the model, whatever the prompt is about."""
    turn = asked[asker, UNRELATED]
    assert "memman keeps memories of earlier sessions" in turn.whole
    assert PREFERENCE in turn.whole


def test_what_was_recalled_is_not_learned_again(house: House, asked: dict[tuple[str, str], Turn]) -> None:
    """After all those sessions and another drain there are as many memories as were told."""
    assert asked
    house.memman("scheduler", "drain", "--wait")
    listed = house.memman("insights", "list")
    assert len(listed.splitlines()) == len(FACTS) + 1, listed
    assert [mark for mark in MARKS if listed.count(mark) != 1] == [], listed
