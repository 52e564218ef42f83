"""Two repositories in one store: what is recalled in each, and what a session begins with, by real processes.

Usage: python -m bench.scope [FOLDER] [--told | --answers FILE] [--json FILE]. Facts, questions and wishes are in
`bench/data/scopes`, or in FOLDER: `personal.jsonl`, and for each of two repositories NAME.jsonl and
NAME-questions.jsonl; written by somebody who had seen nothing of memman. The first repository is moved, and has a work
tree and a clone, before it is asked again; then the store is taken to a second home by a backup, where there is but a
clone of each. `--answers` are those of a model that was asked about each note before, as JSON lines with the `note` and
its `facts`: it extracts them in the drain in place of the program.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.support.providers import ScriptedProvider

DATA = Path(__file__).parent / "data" / "scopes"
MEMMAN = (sys.executable, "-m", "memman")
_QUESTIONS = "-questions"
_NOTE = re.compile(r"<note>\n(.*?)\n</note>", re.DOTALL)


@dataclass(frozen=True)
class Texts:
    """What is told and asked: a folder of JSON lines."""

    folder: Path
    answers: Path | None = None

    @cached_property
    def extracted(self) -> dict[str, list[dict[str, Any]]]:
        """Return what a model extracted of each note, if one was asked."""
        lines = self.answers.read_text("utf-8").splitlines() if self.answers else ()
        return {one["note"]: one["facts"] for one in map(json.loads, lines)}

    def facts(self, note: str) -> set[str]:
        """Return what memories say of a note."""
        return {one["text"] for one in self.extracted[note]} if self.answers else {note}

    @cached_property
    def repositories(self) -> list[str]:
        """Return the names of the two."""
        return sorted(path.stem.removesuffix(_QUESTIONS) for path in self.folder.glob(f"*{_QUESTIONS}.jsonl"))

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Read a file."""
        return [json.loads(line) for line in (self.folder / f"{name}.jsonl").read_text("utf-8").splitlines()]

    def questions(self, name: str) -> list[dict[str, Any]]:
        """Return what is asked in a repository, and which of its facts answers."""
        return self.lines(name + _QUESTIONS)


class Home:
    """A home of its own, with two repositories below it."""

    def __init__(self, root: Path, texts: Texts) -> None:
        self.root, self.texts = root, texts
        root.mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
        self.environ = kept | {"HOME": str(root), "GIT_CONFIG_GLOBAL": os.devnull}
        self.folders = {name: self.root / name for name in texts.repositories}

    def begin(self) -> None:
        """Make the repositories, each with its own first commit."""
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


@contextmanager
def replayed(home: Home) -> Iterator[None]:
    """Have the drain ask a model that answers what it did before, if there are answers."""
    if home.texts.answers is None:
        yield
        return

    def respond(asked: dict[str, Any]) -> dict[str, Any]:
        note = _NOTE.search(asked["user"])
        return {"facts": home.texts.extracted[note[1].strip()]} if note else {"verdicts": [], "causes": []}

    with ScriptedProvider(respond=respond) as provider:
        settings = {"LLM_PROVIDER": "openai", "LLM_ENDPOINT": f"{provider.url}/v1", "LLM_API_KEY": "none"}
        settings |= {"BUDGET_CALLS": "100000", "BUDGET_TOKENS": "1000000000"}
        place = home.root / ".memman"
        place.mkdir(mode=0o700)
        (place / "env").write_text("".join(f"MEMMAN_{name}={value}\n" for name, value in settings.items()))
        (place / "env").chmod(0o600)
        yield


def learned(home: Home, *, told: bool) -> dict[str, set[str]]:
    """Have the facts of each repository, and half of the wishes in each, remembered; return the facts.

    With `told` the wishes are said to be personal.
    """
    wishes = [one["text"] for one in home.texts.lines("personal")]
    facts = {}
    for n, name in enumerate(home.texts.repositories):
        mine = [one["text"] for one in home.texts.lines(name)]
        facts[name] = set().union(*map(home.texts.facts, mine))
        personal = ("--scope", "personal") if told else ()
        for options, texts in (((), mine), (personal, wishes[n::2])):
            home.run(home.folders[name], "remember", "--lines", *options, "-", said="\n".join(texts))
    home.run(home.root, "scheduler", "drain", "--wait")
    return facts


def asked(home: Home, folder: Path, name: str, other: set[str]) -> dict[str, int]:
    """Ask a repository's questions in a folder: how many are answered, and how many hits are foreign."""
    mine, questions = [one["text"] for one in home.texts.lines(name)], home.texts.questions(name)
    found = {one["question"]: home.hits(folder, one["question"]) for one in questions}
    answered = sum(not home.texts.facts(mine[one["answer"]]).isdisjoint(found[one["question"]]) for one in questions)
    foreign = [text for hits in found.values() for text in hits if text in other]
    begun = home.run(folder, "prime")
    return {
        "questions": len(found),
        "answered": answered,
        "hits": sum(map(len, found.values())),
        "foreign hits": len(foreign),
        "foreign at session start": sum(text in begun for text in other),
    }


def carried(home: Home, places: dict[str, Path]) -> Home:
    """Take the store to a second home by a backup, and clone the repositories there."""
    second = Home(home.root.with_name("second"), home.texts)
    home.run(home.root, "backup", "create")
    shutil.copytree(home.root / ".memman/backups", second.root / ".memman/backups")
    second.run(second.root, "backup", "restore", "latest", "--to", "default")
    for name, place in places.items():
        second.git(second.root, "clone", "--quiet", str(place), name)
    return second


def measured(folder: str, texts: Texts, *, told: bool = False) -> dict[str, Any]:
    """Measure all of it in homes of their own."""
    home = Home(Path(folder) / "first", texts)
    home.begin()
    with replayed(home):
        facts = learned(home, told=told)
    first, second = texts.repositories
    moved = home.folders[first].rename(home.root / "renamed")
    home.git(moved, "worktree", "add", "--quiet", str(home.root / "tree"))
    home.git(home.root, "clone", "--quiet", str(moved), "clone")
    places = {"moved": (moved, first), "work tree": (home.root / "tree", first), "clone": (home.root / "clone", first)}
    places[second] = (home.folders[second], second)
    others = {first: facts[second], second: facts[first]}
    figures = {what: asked(home, place, name, others[name]) for what, (place, name) in places.items()}
    elsewhere = carried(home, {first: moved, second: home.folders[second]})
    for name in texts.repositories:
        figures[f"{name}, cloned in a second home"] = asked(elsewhere, elsewhere.folders[name], name, others[name])
    wishes = texts.lines("personal")
    for what, (where, place) in {
        "moved": (home, moved),
        second: (home, home.folders[second]),
        "no repository": (home, home.root),
        f"{first}, cloned in a second home": (elsewhere, elsewhere.folders[first]),
        f"{second}, cloned in a second home": (elsewhere, elsewhere.folders[second]),
    }.items():
        found = sum(not texts.facts(one["text"]).isdisjoint(where.hits(place, one["question"])) for one in wishes)
        figures.setdefault(what, {})["personal wishes found"] = found
    return figures | {"wishes": len(wishes)}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures, and write them if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--told", action="store_true", help="say of the wishes that they are personal")
    parser.add_argument("--answers", type=Path, help="what a model answered about each note")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        figures = json.dumps(measured(folder, Texts(options.folder, options.answers), told=options.told), indent=1)
    print(figures)
    if options.json:
        options.json.write_text(figures + "\n")


if __name__ == "__main__":
    main()
