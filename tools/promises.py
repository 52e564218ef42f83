"""docs/promises.md: each promise, the tests that prove it, and the figures their long forms last saw.

The table is promises.toml beside this file, the figures are kept in promises.json, the tests are found by their marks.
`python tools/promises.py FOLDER` takes over what MEMMAN_FIGURES=FOLDER collected.
"""

import ast
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
FIGURES = HERE / "tools/promises.json"
_HEAD = """# Promises

What memman promises, what must be seen for the promise to be kept, and what was seen last. Every row is a test:
`make test` runs all of them in a short form, `make crash` and `make soak` in the long form that the figures are from.
"""


def proofs(tests: Path = HERE) -> dict[str, list[tuple[str, str]]]:
    """Find the tests marked with each promise: (file, name)."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path in sorted((*tests.glob("tests/**/test_*.py"), *tests.glob("e2e/**/test_*.py"))):
        source = path.read_text()
        if "mark.promise" in source:
            for name, promise in _marks(ast.parse(source)):
                found.setdefault(promise, []).append((str(path.relative_to(tests)), name))
    return found


def _marks(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.promise":
                    yield node.name, ast.literal_eval(mark.args[0])


def take(folder: Path) -> None:
    """Keep the figures of a run; those of tests that are gone are dropped."""
    named = {f"{file}::{name}" for rows in proofs().values() for file, name in rows}
    kept: dict[str, dict[str, str]] = {}
    seen: list[dict[str, Any]] = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    for promise, tests in json.loads(FIGURES.read_text()).items() if FIGURES.exists() else ():
        kept[promise] = dict(tests)
    for one in seen:
        kept.setdefault(one["promise"], {})[one["test"]] = one["figure"] + ("" if one["long"] else " (short form)")
    sound = {
        promise: {test: tests[test] for test in sorted(tests) if test.partition("[")[0] in named}
        for promise, tests in sorted(kept.items())
    }
    FIGURES.write_text(json.dumps(sound, indent=1, ensure_ascii=False) + "\n")


def page() -> str:
    """Write the page."""
    table = tomllib.loads((HERE / "tools/promises.toml").read_text())
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    tests = proofs()
    return _HEAD + "".join(_section(section, tests, figures) for section in table.values())


def _section(
    section: dict[str, Any], tests: dict[str, list[tuple[str, str]]], figures: dict[str, dict[str, str]]
) -> str:
    rows = [
        f"| {promise} | {' | '.join(said)} | {_seen(figures.get(promise, {}))} | {_named(tests.get(promise, []))} |\n"
        for promise, said in section.items()
        if promise != "title"
    ]
    head = "| | promise | to be seen | seen | proof |\n| --- | --- | --- | --- | --- |\n"
    return f"\n## {section['title']}\n\n{head}{''.join(rows)}"


def _seen(figures: dict[str, str]) -> str:
    return "<br>".join(dict.fromkeys(figures.values())).replace("|", "\\|") or "holds" if figures else "—"


def _named(tests: list[tuple[str, str]]) -> str:
    files = dict.fromkeys(file for file, _ in tests)
    return "<br>".join(f"[{Path(file).name}](../{file})" for file in files) or "—"


if __name__ == "__main__":
    take(Path(sys.argv[1]))
