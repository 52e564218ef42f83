"""The code keeps the shape it promises: small modules, short functions, nothing unfinished."""

import ast
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "memman").rglob("*.py"))


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def _functions() -> list[int]:
    trees = [ast.parse(path.read_text()) for path in MODULES]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return sorted(n.end_lineno - n.lineno + 1 for n in nodes if isinstance(n, kinds) and n.end_lineno)


def test_modules_are_small() -> None:
    """Half the modules have at most 130 lines, nine of ten at most 400, none over 600."""
    sizes = sorted(map(_lines, MODULES))

    assert statistics.median(sizes) <= 130
    assert sizes[int(0.9 * len(sizes))] <= 400
    assert sizes[-1] <= 600


def test_functions_are_short() -> None:
    """Of a hundred functions ninety-five have at most 40 lines, and none has over 80."""
    sizes = _functions()

    assert sizes[int(0.95 * len(sizes))] <= 40
    assert sizes[-1] <= 80


def test_tests_outweigh_half_the_code() -> None:
    """There is at least half a line of test for each line of code."""
    tests = sum(map(_lines, (ROOT / "tests").rglob("*.py")))

    assert tests >= 0.5 * sum(map(_lines, MODULES))


def test_nothing_is_left_unfinished() -> None:
    """No module carries a note to finish it later."""
    marks = ("TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error")

    assert [path.name for path in MODULES if any(mark in path.read_text() for mark in marks)] == []


@pytest.mark.promise("R20")
def test_nobody_imports_the_standard_sqlite3(kept) -> None:
    """The standard library's module would drop APSW's locks within the same process."""
    imports = [
        path.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Import) and any(name.name == "sqlite3" for name in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "sqlite3")
    ]

    assert imports == []
    kept(f"{len(MODULES)} modules: {len(imports)} import sqlite3")
