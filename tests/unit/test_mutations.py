"""tools/mutations.toml keeps up with the code: each fault can still be put in, and names tests that there are."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import mutations  # noqa: E402 - a tool is no package

TABLE = mutations.table()


def test_each_fault_can_be_put_in():
    """The text that it replaces stands in its file exactly once, and something else comes in its place."""
    assert len(TABLE) >= 40
    for one in TABLE:
        assert one.applied(ROOT) != (ROOT / one.file).read_text(encoding="utf-8")


def test_each_fault_names_tests_that_there_are():
    """A test that was renamed would leave its fault unnoticed."""
    for one in TABLE:
        assert one.tests
        for test in one.tests:
            path, _, name = test.partition("::")
            assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8"), one.id


def test_a_text_that_is_not_there_or_twice_is_refused(tmp_path):
    """Nobody is told that tests have noticed a fault that was not made, or was made elsewhere too."""
    (tmp_path / "code.py").write_text("a = 1\nb = 1\n", encoding="utf-8")
    for old in ("= 2", "= 1"):
        with pytest.raises(ValueError, match="times"):
            mutations.Mutation("x", "code.py", old, "= 3", ()).applied(tmp_path)
