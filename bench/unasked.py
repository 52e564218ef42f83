"""What is put before a model that did not ask: the memory that was meant, or nothing where nothing bears on a prompt.

`python -m bench.unasked` gives hooks the prompts of `bench/data/unasked`, and the questions of the other stores there
as prompts, and prints as JSON for how many what was meant comes up, and for how many anything does.
"""

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench import dataset, shelves
from bench.dataset import Query
from bench.shelves import Shelf
from memman.config.scope import Here
from memman.hot.frame import harmless
from memman.hot.remind import reminder
from memman.hot.session import Session

DATA = Path(__file__).parent / "data"
# Stores that the thresholds were fitted to, and those kept aside.
OWN, FITTED, ASIDE = "unasked", "fitted", "aside"
ABROAD = ", in a store of another project"

# Prompts, those that bring what was meant, and those that bring anything.
Figures = dict[str, dict[str, int]]


def main() -> int:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as work:
        print(json.dumps(measured(work, (OWN, FITTED, ASIDE)), indent=2))
    return 0


def measured(work: str, names: Iterable[str]) -> dict[str, Figures]:
    """Return the figures of some sets by kind of prompt; the prompts of OWN are given in the stores of every set."""
    loaded = {name: dataset.load(f"{DATA}/{name}/docs.jsonl", f"{DATA}/{name}/queries.jsonl") for name in names}
    abroad = [Query(q.text, q.scope, frozenset(), q.category + ABROAD) for q in loaded[OWN].queries]
    figures = {}
    for name, data in loaded.items():
        made = shelves.build(data, f"{work}/{name}").by_scope
        asked = [(made[query.scope], query) for query in data.queries]
        if name != OWN:
            asked += [(shelf, query) for shelf in made.values() for query in abroad]
        figures[name] = _counted(asked)
    return figures


def _counted(asked: Iterable[tuple[Shelf, Query]]) -> Figures:
    figures: Figures = {}
    for shelf, query in asked:
        counts = figures.setdefault(query.category, {"prompts": 0, "meant": 0, "anything": 0})
        block = _reminded(shelf, query.text)
        meant = any(harmless(text) in block for text in _wanted(shelf, query))
        for name, counted in (("prompts", True), ("meant", meant), ("anything", bool(block))):
            counts[name] += counted
    return figures


def _wanted(shelf: Shelf, query: Query) -> Iterator[str]:
    return (doc.text for doc in shelf.docs.values() if doc.key in query.gold)


def _reminded(shelf: Shelf, prompt: str) -> str:
    folder = Path(shelf.path).parent
    return reminder(str(folder.parents[1]), folder.name, Here(), prompt, Session("", "", ""))


if __name__ == "__main__":
    sys.exit(main())
