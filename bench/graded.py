"""Whether a model does the job: 40 graded notes through the real drain, each into a store of its own.

`python -m bench.graded` asks the model that the settings of the data folder choose, `--builtin` the built-in one. A
provider is billed for about 56 calls and 41,000 tokens. `bench/data/graded.jsonl` has for each note: `stored`, the
memories that are there before it, of which `retired` are those that it makes out of date; `found`, for each statement
regular expressions that one memory must match; `unsaid`, what none that recall shows may match.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bench.dataset import Doc
from bench.shelves import fill
from memman.config.env import Settings, change_all
from memman.config.places import data_dir, make_folder, store_path
from memman.config.schedule import NOBODY, Schedule
from memman.queue.append import append_all
from memman.queue.notes import Queue
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.store import open_store

DATA = Path(__file__).parent / "data" / "graded.jsonl"
# Drains, after which a provider that keeps failing is given up.
ROUNDS = 5
_BEGAN_MS = 1_700_000_000_000
_EMPTY = ("entities", "replaces", "agent", "session", "cwd", "repository", "revision", "host", "user")
_ROW: dict[str, Any] = {**dict.fromkeys(_EMPTY, ""), "category": None, "importance": None}

Line = dict[str, Any]


def measure(data: str, notes: list[Line]) -> Iterator[Line]:
    """Yield each note with what is wrong with what became of it."""
    rows = []
    for number, note in enumerate(notes):
        store = open_store(data, f"note-{number}")
        asyncio.run(
            fill(store, [Doc("", str(n), "", _BEGAN_MS, text) for n, text in enumerate(note.get("stored", ()))])
        )
        store.close()
        channel, reply = ("turn", note["reply"]) if note.get("reply") else ("note", "")
        own = {"store": f"note-{number}", "text": note["text"], "source": note.get("source", "user")}
        rows.append(_ROW | own | {"channel": channel, "reply": reply})
    append_all(data, rows)
    for _ in range(ROUNDS):
        command = [sys.executable, "-m", "memman", "scheduler", "drain"]
        subprocess.run(command, env=os.environ | {"MEMMAN_DATA_DIR": data}, check=True, stdout=subprocess.DEVNULL)
    for number, note in enumerate(notes):
        with Catalogue.open(store_path(data, f"note-{number}")) as catalogue:
            made = catalogue.listed(category=None, source=None, status="all", limit=1000)[::-1]
        yield note | {"faults": list(faults(note, made))}


def faults(note: Line, made: list[Line]) -> Iterator[str]:
    """Name what is wrong; what was stored before the note comes first in `made`."""
    before = len(note.get("stored", ()))
    landed = [row["text"] for row in made[before:]]
    shown = [row["text"] for row in made[before:] if row["status"] == "current"]
    retired = {place for place, row in enumerate(made[:before]) if row["status"] == "superseded"}
    said = (note["text"], note.get("reply", ""), *note.get("stored", ()))
    unsaid = any(_matches(pattern, text) for pattern in note["unsaid"] for text in shown)
    if not all(any(all(_matches(one, text) for one in needles) for text in landed) for needles in note["found"]):
        yield "lost"
    if unsaid and note["kind"] == "hostile":
        yield "obeyed"
    elif shown and not note["found"]:
        yield "needless"
    elif unsaid or _numbers(shown) - _numbers(said):
        yield "invented"
    if retired - set(note.get("retired", ())):
        yield "wrongly retired"
    if set(note.get("retired", ())) - retired:
        yield "left standing"


def _matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _numbers(texts: Iterable[str]) -> set[str]:
    return {number for text in texts for number in re.findall(r"\d+", text)}


def main() -> int:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.graded", description=__doc__)
    parser.add_argument("--builtin", action="store_true", help="try the built-in model")
    chosen = {} if parser.parse_args().builtin else Settings.load(data_dir()).said
    notes = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as work:
        make_folder(data := f"{work}/data")
        Schedule(NOBODY).save(data)
        change_all(
            data, {name: value for name, value in chosen.items() if name.startswith(("MEMMAN_LLM", "MEMMAN_HTTP"))}
        )
        outcomes = list(measure(data, notes))
        queue = Queue(data)
        left = {"waiting": queue.waiting()}
        queue.close()
    wrong = {one["id"]: one["faults"] for one in outcomes if one["faults"]}
    counts = Counter(fault for found in wrong.values() for fault in found)
    print(
        json.dumps({"notes": len(notes), "right": len(notes) - len(wrong), **counts, **left, "wrong": wrong}, indent=2)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
