"""The docs say what the code does."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_generated_pages_are_up_to_date() -> None:
    """The pages on commands, errors and keys, and the tables in others, are what the code would write today."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools/generate_docs.py", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_links_between_pages_lead_somewhere() -> None:
    """Every relative link in the README and the docs names a file that exists."""
    links = [
        (page, target)
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target
    ]

    assert len(links) > 20
    assert [(page.name, target) for page, target in links if not (page.parent / target).exists()] == []


def removes_secrets(module: Path) -> bool:
    """Whether a module calls what takes secrets out of a text or finds them in it."""
    removing = {"screened", "masked", "redact", "leaks", "cleaned", "through", "within"}
    return any(
        isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("memman.secrets")
        and removing & {name.name for name in node.names}
        for node in ast.walk(ast.parse(module.read_text()))
    )


def test_the_page_on_secrets_names_every_place_where_they_are_removed() -> None:
    """The modules in its table are those that call what removes secrets."""
    section = (ROOT / "docs/secrets.md").read_text().partition("## Where it is done")[2].partition("\n\n`screened`")[0]
    package = ROOT / "memman"
    callers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if path.parent.name != "secrets" and removes_secrets(path)
    }

    assert set(re.findall(r"`([\w/]+\.py)`", section)) == callers


def shown(picture: Path) -> list[str]:
    """Return the lines of a recorded terminal."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text())


def test_the_recorded_terminal_is_what_the_program_prints_today(tmp_path: Path) -> None:
    """The picture of the README shows the commands and the lines of a recording made now, ids and ages apart."""
    picture = tmp_path / "terminal.svg"
    subprocess.run([sys.executable, ROOT / "tools/record_terminal.py", picture], check=True)

    def lasting(path: Path) -> list[str]:
        return [re.sub(r"^[0-9a-f]{8,}|\b\d+[smh]\b|\bnow\b", "", line) for line in shown(path)]

    assert lasting(picture) == lasting(ROOT / "docs/terminal.svg")
    assert sum(line.startswith("$ memman") for line in shown(picture)) > 5


def test_every_promise_has_a_proof_and_every_proof_a_promise() -> None:
    """The ids in the table of promises are those that tests are marked with."""
    table = tomllib.loads((ROOT / "tools/promises.toml").read_text())
    promised = {name for section in table.values() for name in section if name != "title"}
    marks = {
        mark
        for path in (*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("e2e/**/test_*.py"))
        for mark in re.findall(r"mark\.promise\(\"(\w+)\"\)", path.read_text())
    }

    assert len(promised) > 30
    assert promised == marks


def test_every_promise_is_run_over_all_stores_or_says_why_not() -> None:
    """The table of kinds has a reason wherever it has not all three."""
    code = "import json, promises; print(json.dumps({one: [len(k), w] for one, (k, w) in promises.kinds().items()}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "tools", capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert len(found) > 30
    assert [promise for promise, (over, why) in found.items() if over < 3 and not why] == []


def test_every_clause_of_the_contract_names_tests_that_are_there() -> None:
    """Each of the sixteen clauses names a file of tests, and every test named beside a file is in it."""
    clauses = (ROOT / "docs/contract.md").read_text().split("\n## ")[1:]
    assert [clause.split(".")[0] for clause in clauses] == [str(n) for n in range(1, 17)]
    for clause in clauses:
        proofs = re.findall(r"\]\(\.\./(tests/[\w/.]+)\)((?:\s+`\w+`)*)", clause)
        assert proofs, clause
        for path, names in proofs:
            written = (ROOT / path).read_text()
            assert [name for name in re.findall(r"`(\w+)`", names) if f"def {name}(" not in written] == [], path
