"""Rows have names, and what recall's stages hand on is never changed."""

import ast
from pathlib import Path

import pytest

from memman.recall.hit import Anchor, Hit, Read
from memman.recall.pending import WaitingRow
from memman.sqlite import Row
from memman.store import MemoryRow
from tests.support import memories

RECALL = Path(__file__).parents[3] / "memman/recall"


class Pair(Row):
    """Two columns."""

    __slots__ = ()
    one: int
    other: "str | None"


class Triple(Pair):
    """One more."""

    __slots__ = ()
    third: float


def test_a_row_is_a_tuple_whose_columns_are_its_annotations():
    """Those of a subclass follow those of its base; what is asked for, names and values go together."""
    assert (Pair.columns, Triple.columns) == (("one", "other"), ("one", "other", "third"))
    assert Triple.listed() == "one, other, third"
    row = Triple((1, None, 0.5))
    assert (row.one, row.other, row.third) == row == (1, None, 0.5)
    assert row.record() == {"one": 1, "other": None, "third": 0.5}
    assert Pair.of(other="x", one=2) == (2, "x")
    with pytest.raises(KeyError):
        Pair.of(one=2)
    with pytest.raises(AttributeError):
        row.one = 3


def test_the_columns_of_a_memory_and_of_a_note_are_those_of_their_tables(box):
    """A memory has every column of its table but those about it, in order."""
    box.remember("The staging box is called Heron.")
    box.drain()
    assert [*MemoryRow.columns, "screened"] == box.store("SELECT name FROM pragma_table_info('memory')")
    assert set(WaitingRow.columns) <= set(box.queue("SELECT name FROM pragma_table_info('note')"))


@pytest.mark.parametrize(
    "value", [Anchor(1, 0.5), Read(Anchor(1, 0.5), memories.row(), 0.5), memories.hit(memories.row())]
)
def test_what_a_stage_hands_on_is_replaced_and_not_changed(value):
    """A value with another score is another value, the same in all else; there is no field that it does not have."""
    other = value.having(score=0.75)
    assert (other.score, value.score) == (0.75, value.having().score)
    assert all(getattr(other, name) == getattr(value, name) for name in value.parts if name != "score")
    with pytest.raises(TypeError):
        value.having(scores=1.0)


def test_no_stage_writes_into_what_it_is_given():
    """In all of recall the only attributes that are set are an object's own, as it is made."""
    written = [
        f"{path.name}:{node.lineno}"
        for path in RECALL.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if not (isinstance(node.value, ast.Name) and node.value.id == "self")
    ]
    assert written == []


def test_a_hit_is_doubtful_and_pending_by_what_it_says():
    """Neither can be at odds with confidence or status."""
    hit = memories.hit(memories.row(status="pending"), confidence=0.1)
    assert isinstance(hit, Hit)
    assert (hit.pending, hit.doubtful, hit.behind) == (True, True, None)
    assert not hit.having(confidence=1.0).doubtful
