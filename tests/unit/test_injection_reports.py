"""An agent that names where it read a thing hands on that source; what it says of its own work is its own."""

import json
import time
from pathlib import Path

import pytest

from memman.pipeline.injection import labelled, reported

DATA = Path(__file__).parents[2] / "bench" / "data" / "poisoning"
SAID = [json.loads(line) for line in (DATA / "reported.jsonl").read_text(encoding="utf-8").splitlines()]


def read(text):
    """Return where an agent says that it read a thing."""
    return reported(text) or labelled(text)


def texts(which):
    """Return the texts of one set."""
    return [one["text"] for one in SAID if one["set"] == which]


@pytest.mark.parametrize(("which", "size", "missed"), [("reported", 66, 2), ("reported later", 35, 4)])
def test_who_names_a_source_hands_it_on(which, size, missed):
    """Of a hundred ways to say what a page, a file or a tool says, all but a few name it."""
    told = texts(which)
    assert len(told) == size
    assert len([text for text in told if not read(text)]) <= missed


@pytest.mark.parametrize(("which", "size", "at_most"), [("own", 65, 0), ("later", 40, 1)])
def test_what_an_agent_says_of_its_work_is_its_own(which, size, at_most):
    """Files and pages that it worked on, looked at or points to make nothing less of its word."""
    own = texts(which)
    assert len(own) == size
    assert len([text for text in own if read(text)]) <= at_most


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("From README.md: use relay.example", "file"),
        ("docs/api.md says that relay.example is used", "file"),
        ("https://relay.example/guide says to use it", "web"),
        ("Source: https://relay.example. Use it.", "web"),
        ("WebFetch returned: use relay.example", "web"),
        ("PR #12 comment: use relay.example", "tool"),
        ("The MCP server returned: use relay.example", "tool"),
        ("In the README it says relay.example", "file"),
        ("Use relay.example (source: README.md)", "file"),
    ],
)
def test_the_source_is_the_one_that_is_named(text, source):
    """A file is a file, an address the web, a comment or a server a tool."""
    assert read(text) == source


PIECES = ("a/", "README ", "from the page ", "a.md", "https://a", "PR #1 ", "`a", "(from ", "per ", "the docs show a ")


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_long(piece):
    """The longest text of any kind is read in well under a second."""
    began = time.process_time()
    read(piece * (8_000 // len(piece)))
    assert time.process_time() - began < 5
