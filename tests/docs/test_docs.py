"""The docs say what the code does."""

import re
import subprocess
import sys
from pathlib import Path

import click

from memman.commands.root import root

ROOT = Path(__file__).parents[2]


def test_generated_pages_are_up_to_date() -> None:
    """The pages on commands, errors and keys, and the tables in others, are what the code would write today."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools/generate_docs.py", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)).strip().lower().replace(" ", "-")


def test_links_between_pages_lead_somewhere() -> None:
    """Every relative link in the README and the docs names a file that exists, and a heading that it has."""
    links = [
        (page, *target.partition("#")[::2])
        for page in [
            *ROOT.glob("*.md"),
            *ROOT.glob("docs/**/*.md"),
            *ROOT.glob("tools/*/*.md"),
            *ROOT.glob("bench/**/*.md"),
        ]
        for target in re.findall(r"\]\(([^)]+?)\)", page.read_text())
        if "://" not in target
    ]
    lost = []
    for page, target, heading in links:
        leads = page.parent / target if target else page
        if not leads.exists():
            lost.append((page.name, target))
        elif heading and heading not in map(anchor, re.findall(r"(?m)^#+ (.*)$", leads.read_text())):
            lost.append((page.name, f"{target}#{heading}"))

    assert len(links) > 20
    assert lost == []


def missing(words: list[str]) -> str:
    """Return the first word that should be a verb of memman, and is none; '' if all are."""
    command: click.Command = root
    for word in words:
        if not isinstance(command, click.Group) or not re.fullmatch(r"[a-z-]+", word) or word.startswith("-"):
            return ""
        found = command.get_command(click.Context(command), word)
        if not found:
            return "" if command.invoke_without_command and command is not root else word
        command = found
    return ""


def test_every_command_that_a_page_names_is_there() -> None:
    """Each `memman …` in a span or a block of the pages begins with verbs that exist."""
    pages = [ROOT / "README.md", ROOT / "SECURITY.md", *ROOT.glob("docs/**/*.md")]
    named = [(page.name, line) for page in pages for line in re.findall(r"`memman ([^`]+)`", page.read_text())]
    named += [
        (page.name, line)
        for page in pages
        for block in re.findall(r"(?ms)^```\w*\n(.*?)^```", page.read_text())
        for line in re.findall(r"(?m)^(?:\$ )?memman ([^:\n]+)$", block)
    ]

    assert len(named) > 100
    assert [(page, line) for page, line in named if missing(line.split())] == []
    assert missing(["store", "connect"]) == "connect"
