"""What `memman recall` prints: how many lines and tokens, how many lines help, what questions without an answer get.

Those without an answer are what a data set gives no gold for, and every question asked of another scope's store.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from bench.dataset import ADVERSARIAL, Key, Query
from bench.rankers import SHOWN, day_after
from bench.shelves import Shelves
from memman.embed.static import StaticTable
from memman.recall import search
from memman.recall.render import lines, tokens
from memman.store.filters import Filters

# What is printed by default, and with --all.
WAYS = {"default": Filters(), "--all": Filters(every=True)}


@dataclass(frozen=True, slots=True)
class Printed:
    """The documents that a question's lines are, in their order, and the tokens of these lines."""

    query: Query
    keys: tuple[Key, ...]
    tokens: int

    @property
    def helpful(self) -> int:
        """How many lines are gold."""
        return sum(key in self.query.gold for key in self.keys)


def shown(shelves: Shelves, queries: Sequence[Query]) -> dict[str, dict[str, float]]:
    """Return the figures of each of WAYS."""
    scopes = list(shelves.by_scope)
    others = dict(pairwise([*scopes, *scopes[:1]])) if scopes[1:] else {}
    answerable = [query for query in queries if query.gold and query.category != ADVERSARIAL]
    asked = {
        "answerable": answerable,
        "labelled": [query for query in queries if not query.gold],
        "elsewhere": [replace(query, scope=others[query.scope]) for query in answerable] if others else [],
    }
    figures: dict[str, dict[str, float]] = {}
    for way, filters in WAYS.items():
        printed = {kind: list(_printed(shelves, some, filters)) for kind, some in asked.items() if some}
        figures[way] = {name: value for kind, some in printed.items() for name, value in _figures(kind, some)}
    return figures


def _printed(shelves: Shelves, queries: Sequence[Query], filters: Filters) -> Iterator[Printed]:
    readers = {scope: shelf.reader() for scope, shelf in shelves.by_scope.items()}
    table = StaticTable()
    for query in queries:
        reader, docs = readers[query.scope], shelves.by_scope[query.scope].docs
        now = day_after(reader)
        hits = search(reader, table, query.text, filters, SHOWN, now=now)
        cost = sum(map(tokens, lines(hits, now, query.text, None)))
        yield Printed(query, tuple(docs[hit.row.uid].key for hit in hits), cost)


def _figures(kind: str, printed: Sequence[Printed]) -> Iterator[tuple[str, float]]:
    """Name each figure of one kind of question; precision is of all lines together."""
    count = sum(len(one.keys) for one in printed)
    if kind == "answerable":
        for k in (5, SHOWN):
            yield (
                f"R@{k}",
                round(fmean(len(one.query.gold & set(one.keys[:k])) / len(one.query.gold) for one in printed), 4),
            )
        yield "precision", round(sum(one.helpful for one in printed) / max(count, 1), 4)
    yield f"{kind} lines", round(count / len(printed), 2)
    yield f"{kind} tokens", round(fmean(one.tokens for one in printed), 1)
    yield f"{kind} silent", round(fmean(not one.keys for one in printed), 4)
