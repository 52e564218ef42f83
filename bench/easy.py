"""A lexical test that ought to be easy: ten thousand templated facts, and questions that name one component each."""

import random
import sys
from collections.abc import Iterator
from typing import Any

from bench import baselines, rankers, words
from bench.command import run
from bench.dataset import Dataset, Doc, Query
from bench.machine import described
from bench.shelves import Shelves, build
from bench.tables import markdown

FACTS, QUERIES = 10_000, 100
# Recalls of one question, each with the store opened afresh, that must give one order.
TIMES = 10
_SEED = "memman-easy-1"
_SCOPE = "easy"
# A statement about a component, and the question it answers.
_TEMPLATES = (
    ("{c} listens on port {n}.", "which port does {c} listen on"),
    ("{p} owns {c}.", "who owns {c}"),
    ("The timeout of {c} is {n} ms.", "what is the timeout of {c}"),
    ("The migrations of {c} run with {l}.", "how do the migrations of {c} run"),
    ("Run the tests of {c} with make test-{n}.", "how do I run the tests of {c}"),
    ("{c} stores its {t} in {l}.", "where does {c} store its data"),
    ("{c} is deployed to {w} with {l}.", "where is {c} deployed"),
    ("{c} retries failed {t} {n} times.", "how often does {c} retry"),
    ("The logs of {c} are kept for {n} days.", "how long are the logs of {c} kept"),
    ("{c} was rewritten in {l} because {r}.", "why was {c} rewritten"),
)


def components(count: int) -> list[str]:
    """Name components: area, role and a coined word, no two alike, many with words in common."""
    chance = random.Random(_SEED)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    names: dict[str, None] = {}
    while len(names) < count:
        coined = "".join(chance.choices(syllables, k=3))
        names[f"{chance.choice(words.AREAS)}-{chance.choice(words.ROLES)}-{coined}"] = None
    return list(names)


def dataset(facts: int = FACTS, queries: int = QUERIES) -> Dataset:
    """Return one fact about each component, and questions about evenly chosen ones."""
    chance = random.Random(_SEED + "/facts")
    docs, asked = [], []
    every = facts // queries
    for n, name in enumerate(components(facts)):
        statement, question = chance.choice(_TEMPLATES)
        docs.append(Doc(_SCOPE, str(n), "", 1_700_000_000_000 + n * 60_000, _said(statement, name, chance)))
        if n % every == 0:
            asked.append(Query(question.format(c=name), _SCOPE, frozenset({(_SCOPE, str(n))}), "easy"))
    return Dataset(tuple(docs), tuple(asked[:queries]))


def _said(statement: str, name: str, chance: random.Random) -> str:
    choices = {"l": words.LIBRARIES, "p": words.PEOPLE, "r": words.REASONS, "t": words.THINGS, "w": words.PLACES}
    filling = {slot: chance.choice(some) for slot, some in choices.items()}
    return statement.format(c=name, n=chance.randrange(2, 9_000), **filling)


def measure(data: Dataset, work: str) -> dict[str, Any]:
    """Return how often the fact asked for is shown first, beside plain full-text search, and the orders seen."""
    shelves = build(data, work)
    contestants = {
        "memman": rankers.in_stores(shelves, rankers.shown),
        "BM25": baselines.bm25(data.scopes),
        "dense": baselines.dense(data.scopes),
    }
    first = {
        name: 100 * sum(next(iter(ranker(q)), None) in q.gold for q in data.queries) / len(data.queries)
        for name, ranker in contestants.items()
    }
    return {"machine": described(), "facts": len(data.docs), "hit@1": first, "orders": orders(data, shelves)}


def orders(data: Dataset, shelves: Shelves) -> int:
    """Return how many orders TIMES identical recalls of the first questions give, at worst."""
    asked = data.queries[:TIMES]
    seen: list[set[tuple[object, ...]]] = [set() for _ in asked]
    for _ in range(TIMES):
        ranker = rankers.in_stores(shelves, rankers.shown)
        for query, found in zip(asked, seen, strict=True):
            found.add(tuple(ranker(query)))
    return max(map(len, seen))


def main() -> int:
    """Run the bench from the command line."""
    return run("easy", __doc__, FACTS, lambda facts, work: measure(dataset(facts), work), table)


def table(figures: dict[str, Any]) -> str:
    """Write the shares, and the number of orders."""
    lines = list(_lines(figures))
    return markdown(("ranker", f"hit@1 of {figures['facts']:,} facts"), lines) + (
        f"\n\n{TIMES} identical recalls: {figures['orders']} order(s)"
    )


def _lines(figures: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, share in figures["hit@1"].items():
        yield name, f"{share:.0f} %"


if __name__ == "__main__":
    sys.exit(main())
