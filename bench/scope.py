"""Two repositories in one store: what is recalled in each, and what a session begins with, by real processes.

Usage: python -m bench.scope [--json FILE]. Facts, questions and personal wishes are in `bench/data/scopes`, written by
somebody who had seen nothing of memman. The first repository is moved, and has a work tree and a clone, before it is
asked again.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data" / "scopes"
REPOSITORIES = ("harbor", "quill")
MEMMAN = (sys.executable, "-m", "memman")


def lines(name: str) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]


class Home:
    """A home of its own, with two repositories below it."""

    def __init__(self, folder: str) -> None:
        self.root = Path(folder)
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
        self.environ = kept | {"HOME": folder, "GIT_CONFIG_GLOBAL": os.devnull}
        self.folders = {name: self.root / name for name in REPOSITORIES}
        for name, place in self.folders.items():
            place.mkdir()
            self.git(place, "init", "--quiet")
            self.git(place, "commit", "--quiet", "--allow-empty", "--message", f"Begin {name}")

    def git(self, folder: Path, *args: str) -> None:
        """Run git."""
        named = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        command = ("git", "-C", str(folder), *named, *args)
        subprocess.run(command, env=self.environ, check=True)

    def run(self, folder: Path, *args: str, said: str = "") -> str:
        """Run memman in a folder; return what it prints."""
        command = (*MEMMAN, *args)
        done = subprocess.run(
            command, cwd=folder, env=self.environ, input=said, capture_output=True, text=True, check=True
        )
        return done.stdout

    def hits(self, folder: Path, question: str) -> list[str]:
        """Return the texts that a recall finds."""
        return [hit["text"] for hit in json.loads(self.run(folder, "recall", "--json", question))["hits"]]


def learned(home: Home) -> dict[str, set[str]]:
    """Have the facts of each repository, and half of the wishes in each, remembered; return the facts."""
    wishes = [one["text"] for one in lines("personal")]
    facts = {}
    for n, name in enumerate(REPOSITORIES):
        mine = [one["text"] for one in lines(name)]
        facts[name] = set(mine)
        home.run(home.folders[name], "remember", "--lines", "-", said="\n".join([*mine, *wishes[n::2]]))
    home.run(home.root, "scheduler", "drain", "--wait")
    return facts


def asked(home: Home, folder: Path, name: str, other: set[str]) -> dict[str, int]:
    """Ask a repository's questions in a folder: how many are answered, and how many hits are foreign."""
    mine = [one["text"] for one in lines(name)]
    found = {one["question"]: home.hits(folder, one["question"]) for one in lines(f"{name}-questions")}
    answered = sum(mine[one["answer"]] in found[one["question"]] for one in lines(f"{name}-questions"))
    foreign = [text for hits in found.values() for text in hits if text in other]
    begun = home.run(folder, "prime")
    return {
        "questions": len(found),
        "answered": answered,
        "hits": sum(map(len, found.values())),
        "foreign hits": len(foreign),
        "foreign at session start": sum(text in begun for text in other),
    }


def measured(folder: str) -> dict[str, Any]:
    """Measure all of it in a home of its own."""
    home = Home(folder)
    facts = learned(home)
    first, second = REPOSITORIES
    moved = home.folders[first].rename(home.root / "renamed")
    home.git(moved, "worktree", "add", "--quiet", str(home.root / "tree"))
    home.git(home.root, "clone", "--quiet", str(moved), "clone")
    places = {"moved": (moved, first), "work tree": (home.root / "tree", first), "clone": (home.root / "clone", first)}
    places[second] = (home.folders[second], second)
    others = {first: facts[second], second: facts[first]}
    figures = {what: asked(home, place, name, others[name]) for what, (place, name) in places.items()}
    wishes = lines("personal")
    for what, place in {"moved": moved, second: home.folders[second], "no repository": home.root}.items():
        found = sum(one["text"] in home.hits(place, one["question"]) for one in wishes)
        figures.setdefault(what, {})["personal wishes found"] = found
    return figures | {"wishes": len(wishes)}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures, and write them if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    out = parser.parse_args(argv).json
    with tempfile.TemporaryDirectory() as folder:
        figures = json.dumps(measured(folder), indent=1)
    print(figures)
    if out:
        out.write_text(figures + "\n")


if __name__ == "__main__":
    main()
