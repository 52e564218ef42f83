"""A data set to measure retrieval on: documents and questions in the plain form, read from any path."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

# The store that holds every scope.
ALL = ""
# Reported apart: what these ask for was said of somebody else, or of nobody.
ADVERSARIAL = "adversarial"
_BEGAN_MS = 1_700_000_000_000

# A document is known by its scope and its id: two scopes may use the same ids.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Doc:
    """One memory. `at` is in Unix milliseconds; `session` is '' where there is none."""

    scope: str
    id: str
    session: str
    at: int
    text: str

    @property
    def key(self) -> Key:
        """What tells it from all others."""
        return self.scope, self.id


@dataclass(frozen=True, slots=True)
class Query:
    """One question, the documents that answer it (none: unanswerable), and its kind."""

    text: str
    scope: str
    gold: frozenset[Key]
    category: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """Documents in the order they were said, and questions about them."""

    docs: tuple[Doc, ...]
    queries: tuple[Query, ...]

    @property
    def scopes(self) -> dict[str, list[Doc]]:
        """The documents of each store that a question is asked of."""
        wanted = dict.fromkeys(query.scope for query in self.queries)
        stores: dict[str, list[Doc]] = {scope: [] for scope in wanted}
        for doc in self.docs:
            for scope in {doc.scope, ALL} & wanted.keys():
                stores[scope].append(doc)
        return stores

    @property
    def answerable(self) -> tuple[Query, ...]:
        """The questions that rankings are judged by."""
        return tuple(query for query in self.queries if query.gold)

    def merged(self) -> "Dataset":
        """Return the same questions asked of one store that holds everything."""
        return Dataset(self.docs, tuple(Query(q.text, ALL, q.gold, q.category) for q in self.queries))


def load(docs: str, queries: str, most: int | None = None) -> Dataset:
    """Read a data set, with `most` only so many of its questions, evenly chosen.

    Documents are told apart by scope and id; those said at an unknown time follow the one before them.
    """
    read = sorted(_docs(docs), key=lambda doc: doc.at)
    scopes: dict[str, list[str]] = {}
    for doc in read:
        scopes.setdefault(doc.id, []).append(doc.scope)
    return Dataset(tuple(read), tuple(_query(line, scopes) for line in _some(_lines(queries), most)))


def _some(lines: Sequence[dict[str, Any]], most: int | None) -> Sequence[dict[str, Any]]:
    return lines if most is None or len(lines) <= most else [lines[n * len(lines) // most] for n in range(most)]


def _docs(path: str) -> Iterator[Doc]:
    at = _BEGAN_MS
    for line in _lines(path):
        at = _milliseconds(line.get("ts")) or at
        scope, session = str(line.get("scope") or ALL), str(line.get("session") or "")
        yield Doc(scope, str(line["id"]), session and f"{scope}/{session}", at, str(line["text"]))


def _query(line: dict[str, Any], scopes: dict[str, list[str]]) -> Query:
    scope = str(line.get("scope") or ALL)
    gold = {(own, str(name)) for name in line.get("gold") or () for own in ([scope] if scope else scopes.get(name, []))}
    return Query(str(line["q"]), scope, frozenset(gold), str(line.get("cat") or "any"))


def _milliseconds(ts: Any) -> int | None:
    """Read a time: ISO 8601 (UTC where no zone is given), or Unix seconds or milliseconds."""
    if ts is None or ts == "":
        return None
    if isinstance(ts, int | float):
        return int(ts if ts > 1e11 else ts * 1000)
    read = datetime.fromisoformat(str(ts))
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1000)


def _lines(path: str) -> Sequence[dict[str, Any]]:
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
