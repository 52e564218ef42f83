"""The labelled questions of `bench/data`, asked of stores made for them: what speaks for each hit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import dataset, shelves
from bench.confidence import forgotten
from bench.rankers import SHOWN, ranked, without
from memman.embed.static import StaticTable
from memman.recall.confidence import Judge, usual
from memman.store.sqlite.reader import SqliteReader

DATA = Path(__file__).parent / "data"
# The stores that numbers are fitted to, and those kept aside to see what the numbers are worth.
FITTED, ASIDE = "fitted", "aside"
ANSWERABLE, OFF_TOPIC, REMOVED = "answerable", "off-topic", "gold removed"
UNANSWERABLE = ("near-miss", "elsewhere", OFF_TOPIC, REMOVED)

Evidence = tuple[float, float | None, bool]
# What a store without vectors would bring up.
worded_only = without("meaning")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what speaks for each hit, best first; `gold` says which answer it.

    `worded` is what would speak for the hits of a store without vectors.
    """

    kind: str
    text: str
    evidence: tuple[Evidence, ...]
    worded: tuple[Evidence, ...]
    gold: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """All questions of one half, and the mean and deviation of cosines in each of its stores."""

    asked: tuple[Asked, ...]
    usual: tuple[tuple[float, float], ...]


def ask(half: str, work: str) -> Answers:
    """Ask every question of one half of the set, the answerable ones again with their answer forgotten."""
    data = dataset.load(str(DATA / half / "docs.jsonl"), str(DATA / half / "queries.jsonl"))
    made, table = shelves.build(data, f"{work}/{half}"), StaticTable()
    results: list[Asked] = []
    for scope, shelf in made.by_scope.items():
        own = [query for query in data.queries if query.scope == scope]
        results += _of_one_store(shelf, table, own)
    return Answers(tuple(results), tuple(usual(shelf.reader(), table) for shelf in made.by_scope.values()))


def _of_one_store(shelf: shelves.Shelf, table: StaticTable, queries: Sequence[dataset.Query]) -> list[Asked]:
    reader, rows = shelf.reader(), shelf.rows
    results = []
    with shelf.writer() as store:
        for query in queries:
            gold = {rows[key] for key in query.gold}
            results.append(_asked(reader, table, query.category, query.text, gold))
            if gold:
                with forgotten(store, sorted(gold)) as without:
                    results.append(_asked(without, table, REMOVED, query.text, set()))
    return results


def _asked(reader: SqliteReader, table: StaticTable, kind: str, text: str, gold: set[str]) -> Asked:
    hits = ranked(reader, table, text, SHOWN)
    judge = Judge(reader, table, text, [hit.read for hit in hits])
    evidence = tuple(judge.weighed(hit.read).evidence for hit in hits)
    judge.number = None
    worded = tuple(judge.weighed(hit.read).evidence for hit in worded_only(reader, table, text)[:SHOWN])
    return Asked(kind, text, evidence, worded, tuple(hit.row.uid in gold for hit in hits))


def by_kind(asked: Sequence[Asked]) -> Mapping[str, list[Asked]]:
    """Part questions by their kind."""
    kinds: dict[str, list[Asked]] = {}
    for one in asked:
        kinds.setdefault(one.kind, []).append(one)
    return kinds
