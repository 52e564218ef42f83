"""What hooks put before a model unasked, over a team's memories and over those of other projects."""

import pytest

from bench.unasked import ABROAD, ASIDE, OWN, measured


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """Give every prompt once."""
    return measured(str(tmp_path_factory.mktemp("unasked")), (OWN, ASIDE))


@pytest.mark.slow
def test_prompts_bring_what_bears_on_them_and_others_nothing(figures):
    """Four of five prompts get the memory that was meant; nothing comes of any that bears on none."""
    assert figures[OWN]["related"]["meant"] >= 48
    assert figures[OWN]["related"]["prompts"] == figures[OWN]["unrelated"]["prompts"] == 60
    assert figures[OWN]["unrelated"]["anything"] == 0


def test_prompts_bring_next_to_nothing_of_other_projects(figures):
    """In other projects' stores one prompt in a hundred brings anything, and one in ten of those on this project."""
    aside = figures[ASIDE]
    assert aside["unrelated" + ABROAD]["anything"] <= 0.01 * aside["unrelated" + ABROAD]["prompts"]
    assert aside["related" + ABROAD]["anything"] <= 0.1 * aside["related" + ABROAD]["prompts"]
    assert aside["answerable"]["meant"] >= 0.4 * aside["answerable"]["prompts"]
    assert aside["off-topic"]["anything"] == 0
