"""Two repositories, real clients: what one of them was told of itself stands before no model in the other."""

import pytest
from house import House

NAMES = ("claude-code", "codex", "gemini", "opencode")
CORRECTION = "No, we build with Bazel here, not with make."
PREFERENCE = "I prefer small pull requests over big ones."
QUESTION = "What do we build with, Bazel or make?"
REPOSITORIES = ("shop", "blog")


@pytest.fixture(name="told", scope="module")
def _told(house: House) -> House:
    """Return the house with two repositories, after a correction and a preference were told in the first."""
    for name in REPOSITORIES:
        house.repository(name)
    for prompt in (CORRECTION, PREFERENCE):
        turn = house.desks["claude-code"].ask(prompt, folder=REPOSITORIES[0])
        assert turn.code == 0, turn.errors
    house.memman("scheduler", "drain", "--wait")
    return house


@pytest.mark.parametrize("name", NAMES)
def test_a_repository_s_rule_stays_in_it(told: House, name: str) -> None:
    """The model is given the correction in the repository it was made in, and the preference in both."""
    here, there = (told.desks[name].ask(QUESTION, folder=folder) for folder in REPOSITORIES)
    assert (here.code, there.code) == (0, 0), here.errors + there.errors
    assert CORRECTION.removeprefix("No, ") in here.whole
    assert CORRECTION.removeprefix("No, ") not in there.whole
    assert PREFERENCE in here.whole
    assert PREFERENCE in there.whole
