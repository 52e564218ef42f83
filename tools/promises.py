"""docs/promises.md: each promise, the tests that prove it, and the figures their long forms last saw.

The table is promises.toml beside this file, the figures are kept in promises.json, the tests are found by their marks.
Over which kinds of store each is run they say by `over`, and promise_kinds.toml why not over the others.
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
KINDS = {"sqlite": "by itself", "postgres": "on a server", "folder": "by a folder"}
_HEAD = """# Promises

What memman promises, what must be seen for the promise to be kept, and what was seen last. Every row is a test:
`make test` runs all of them in a short form, `make crash` and `make soak` in the long form that the figures are from.
"""
_KINDS_HEAD = """
## Over which stores

A store may be by itself, a replica of one on a [server](sharing.md) (Postgres, where the person has a plain role that
row-level security binds), or synced by a [folder](sync.md). Tests run over the kinds that say yes; most end with
another machine that joins and must have the same.

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


def kinds(tests: Path = HERE) -> dict[str, tuple[set[str], str]]:
    """Return, by promise, over which kinds of store its tests run, and why not over the others."""
    said = tomllib.loads((HERE / "tools/promise_kinds.toml").read_text())
    found: dict[str, set[str]] = {promise: set(over) for promise, over in said["over"].items()}
    for promise, proved in proofs(tests).items():
        if promise not in found:
            found[promise] = set().union(*(_over(tests / file, name) for file, name in proved))
    nothing = dict.fromkeys(said["none"]["promises"], said["none"]["because"])
    return {
        promise: (set() if promise in nothing else over, nothing.get(promise) or said["why"].get(promise, ""))
        for promise, over in found.items()
    }


def _over(file: Path, test: str) -> set[str]:
    """Return the kinds that a test is `over`."""
    (found,) = [
        one for one in ast.walk(ast.parse(file.read_text())) if isinstance(one, ast.FunctionDef) and one.name == test
    ]
    marks = [one for one in found.decorator_list if isinstance(one, ast.Call) and ast.unparse(one.func) == "over"]
    given = [set(KINDS) if isinstance(one, ast.Starred) else {ast.literal_eval(one)} for m in marks for one in m.args]
    return set().union(*given) if marks else {"sqlite"}


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
    return _HEAD + "".join(_section(section, tests, figures) for section in table.values()) + _over_which()


def _over_which() -> str:
    """Write the table of kinds, in the order of the promises."""
    table, over = tomllib.loads((HERE / "tools/promises.toml").read_text()), kinds()
    order = [promise for section in table.values() for promise in section if promise != "title"]
    said = [[one, *("yes" if kind in over[one][0] else "—" for kind in KINDS), over[one][1]] for one in order]
    rows = [["", *KINDS.values(), "what not, and why"], ["---"] * (len(KINDS) + 2), *said]
    return _KINDS_HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


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
