"""Each line of a prompt has a graded case: a right answer passes it, and one that ignores the line does not."""

import re

import pytest

from bench.prompts import bare, cases
from memman.pipeline.prompts import prompt

CASES = cases()
# Words of a prompt that ask for nothing themselves.
HEADINGS = {
    "extract": {"Rules"},
    "turn": {
        "and keep the few things in it that will still matter in other sessions.",
        "Keep",
        "Leave out",
        "Each fact",
    },
    "reconcile": set(),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_tells_right_from_wrong(case):
    """Its checks accept the right answer, and reject the one of somebody who was never told."""
    assert case.accepts(case.right)
    assert not case.accepts(case.wrong)


@pytest.mark.parametrize("task", ["extract", "turn", "reconcile"])
def test_each_line_has_a_case(task):
    """What no case is for is a heading, or the first sentence."""
    text = prompt(task)
    first = text.split("\n")[0].split(". ")[0]
    left = text.removeprefix(first)
    for line in sorted({line for case in CASES if case.task == task for line in case.lines}, key=len, reverse=True):
        assert line in text, line
        left = left.replace(line, "\n")
    pieces = {piece.strip(" .,;:-") for piece in re.split(r"\n|[;:]", left)}
    words = {piece for piece in pieces if re.search(r"\w", re.sub(r"\b(and|or|of)\b", "", piece))}
    assert words <= {heading.strip(" .") for heading in HEADINGS[task]}


@pytest.mark.parametrize("case", CASES[::20], ids=lambda case: case.id)
def test_a_case_is_put_as_the_product_puts_it(case):
    """With the prompt of its task, or with its first sentence alone."""
    request = case.request()
    assert (request.task, request.system) == (case.task, prompt(case.task))
    assert request.system.startswith(bare(request).rstrip("."))
    assert len(bare(request)) < 200
