"""The benches run: what they name is there."""

from bench import sizes


def test_the_sources_that_decide_a_stores_content_are_there() -> None:
    assert sizes.version() == sizes.version() != ""
