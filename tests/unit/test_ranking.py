"""The order of recall over sixty memories of one project: what answers a question stands among the first.

`easy` questions have the words of their answer; `named` ones have a name that only their answer has, among words that
others share; `reworded` ones share few words with it or none.
"""

import json
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"
FIRST = 5
# Of each kind, the least share of answers among the FIRST, and the least mean reciprocal rank: what recall reached,
# rounded down. A change that reaches more raises them.
FLOORS = {"easy": (1.0, 1.0), "named": (0.9, 0.62), "reworded": (0.7, 0.42)}


def read(name):
    """Read the rows of a file of tests/data."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


MEMORIES, QUESTIONS = read("ranking_memories"), read("ranking_questions")


@pytest.fixture
def project(box):
    """Give a store with the memories, each subject a session."""
    for one in MEMORIES:
        box.remember(one["text"], session=one["session"], agent="tester")
    assert box.drain().done == len(MEMORIES)
    return box


def reciprocal(box, asked):
    """Return the reciprocal of the place at which recall shows a question's answer, 0 where it does not."""
    answer = next(one["text"] for one in MEMORIES if one["id"] == asked["answer"])
    shown = box.recall(asked["question"])
    return 1 / (shown.index(answer) + 1) if answer in shown else 0.0


def test_answers_stand_among_the_first(project):
    """Of each kind of question recall answers as many as it did, and as high."""
    reached = {}
    for kind in FLOORS:
        found = [reciprocal(project, asked) for asked in QUESTIONS if asked["kind"] == kind]
        among = sum(one >= 1 / FIRST for one in found)
        reached[kind] = among / len(found), sum(found) / len(found)
    assert all(have >= least for kind in FLOORS for have, least in zip(reached[kind], FLOORS[kind], strict=True)), (
        reached
    )


def test_the_set_is_as_large_as_it_should_be():
    """Sixty memories, no two of one name, and forty questions whose answers are among them."""
    names = {one["id"] for one in MEMORIES}
    assert len(MEMORIES) == len(names) == 60
    assert len(QUESTIONS) == 40
    assert {one["answer"] for one in QUESTIONS} <= names
    assert {one["kind"] for one in QUESTIONS} == set(FLOORS)
