"""The docs say what the code does."""

import re
import subprocess
import sys
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
