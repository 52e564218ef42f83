"""The docs say what the code does."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_generated_pages_are_up_to_date() -> None:
    """The pages on commands, errors, keys and stages are what the code would write today."""
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


def test_every_promise_has_a_proof_and_every_proof_a_promise() -> None:
    """The ids in the table of promises are those that tests are marked with."""
    table = tomllib.loads((ROOT / "docs/promises.toml").read_text())
    promised = {name for section in table.values() for name in section if name != "title"}
    marks = {
        mark
        for path in (*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("e2e/**/test_*.py"))
        for mark in re.findall(r"mark\.promise\(\"(\w+)\"\)", path.read_text())
    }

    assert len(promised) > 30
    assert promised == marks
