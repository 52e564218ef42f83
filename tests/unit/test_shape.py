"""Nothing is left unfinished, and nobody imports what would break locks."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "memman").rglob("*.py"))


def test_nothing_is_left_unfinished() -> None:
    """No module carries a note to finish it later."""
    marks = ("TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error")

    assert [path.name for path in MODULES if any(mark in path.read_text() for mark in marks)] == []


@pytest.mark.slow
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
