"""Finding what the memories of each repository are about, without a model: a name that several of them share.

A name is a word, or what is known as a name, that at least LEAST memories have, that few others have, whose memories
are more alike in meaning than any memories of the repository are, and that means what they are about: "Redis" does,
"kept" does not. No list says which words are names.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memman.embed.base import LocalEmbedder
from memman.embed.static import StaticTable, spelled
from memman.model.terms import STOPWORDS, folded, stem, words
from memman.model.text import plain
from memman.secrets import SCREEN, screened
from memman.sqlite import TranslatedErrors
from memman.store.sqlite import record_log, vectors
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.topics import KEY, LEAST, MADE

# Memories of a repository that are looked at, the newest; topics that one has, or one for so many memories.
_MOST, _TOPICS, _FOR_EACH = 2_000, 24, 10
# The part of a repository's memories that a topic has at most, the least and the most of that; characters of a name.
_SHARE, _FEW, _MANY, _NAMED = 0.2, 8, 60, (3, 32)
# Counted up where topics are to be found anew in what has not changed.
_RULES = 1
# How much more alike a topic's memories are than those of the repository at large (mean cosine), and how many of them
# no weightier topic has.
_ALIKE, _NEW = 0.16, 2
# The cosine of a name's vector with the mean of its memories' that it has at least, and that of a name in a script of
# which there are no vectors of words.
_FITS, _SPELLED = 0.3, 0.5
# Where memories were changed since a record, and those that hold in a scope, the newest first.
_CHANGED = (
    "SELECT DISTINCT repository FROM record r CROSS JOIN memory m ON m.uid = r.memory"
    " CROSS JOIN scoped ON scoped.memory = m.id CROSS JOIN scope s ON s.id = scope WHERE r.id > ?"
)
_CURRENT = (
    "SELECT m.id, m.text, m.entities FROM scoped CROSS JOIN memory m ON m.id = memory"
    " WHERE scope = ? AND m.status = 'current' ORDER BY memory DESC LIMIT ?"
)
Matrix = npt.NDArray[np.float32]


class Group(NamedTuple):
    """Memories that share a name, by their places in the list; how alike they are, and how well it names them."""

    name: str
    members: frozenset[int]
    alike: float
    fits: float


def refresh(store: SqliteStore, embedder: LocalEmbedder) -> None:
    """Make the topics anew of each repository whose memories have changed; of all, where the rules have."""
    with TranslatedErrors(store.path):
        number, newest = store.reader.embedder_id(embedder.fingerprint), record_log.newest(store.db)
        last, _, rules = store.reader.meta(MADE).partition(" ")
        by = f"{_RULES} {SCREEN}"
        if number is None or (last, rules) == (str(newest), by):
            return
        every = "SELECT DISTINCT repository FROM scope"
        asked = store.db.execute(_CHANGED, (int(last),)) if rules == by else store.db.execute(every)
        made = {whose: _made(store, number, whose) for whose in [name for (name,) in asked]}
    with store.unit() as unit:
        for whose, found in made.items():
            unit.set_meta(KEY + whose, json.dumps(found, ensure_ascii=False) if found else None)
        unit.set_meta(MADE, f"{newest} {by}")


def _made(store: SqliteStore, embedder: int, repository: str) -> list[dict[str, Any]]:
    scopes = [number for (number,) in store.db.execute("SELECT id FROM scope WHERE repository = ?", (repository,))]
    rows: list[Any] = [row for scope in scopes for row in store.db.execute(_CURRENT, (scope, _MOST)).fetchall()]
    rows = sorted(rows, reverse=True)[:_MOST]
    known = vectors.unpacked(store.db, embedder, (row[0] for row in rows))
    rows = [row for row in rows if row[0] in known]
    if len(rows) < LEAST:
        return []
    matrix = np.stack([known[row[0]] for row in rows])
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1)
    groups = [*_groups([(text, json.loads(names)) for _, text, names in rows], matrix)]
    chosen = choose(groups, max(_TOPICS, len(rows) // _FOR_EACH))
    return [{"name": one.name, "ids": [rows[n][0] for n in sorted(one.members)]} for one in chosen]


def _groups(said: Sequence[tuple[str, Sequence[str]]], matrix: Matrix) -> Iterator[Group]:
    """Yield what shares a name and is alike, of memories given as text and names."""
    members: defaultdict[str, set[int]] = defaultdict(set)
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    table = StaticTable()
    for place, (text, names) in enumerate(said):
        for key, form in _names(text, names):
            members[key].add(place)
            forms[key][form] += 1
    usual = _likeness(matrix)
    most = min(max(_FEW, int(_SHARE * len(said))), _MANY)
    for key, places in members.items():
        if LEAST <= len(places) <= most:
            some, name = matrix[sorted(places)], _called(forms[key])
            alike, fits = _likeness(some) - usual, _fits(table, name, some)
            if alike >= _ALIKE and fits >= _FITS and screened(name) == name:
                yield Group(name, frozenset(places), alike, fits)
    table.close()


def _names(text: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (how it is compared, how it is written) of what may name a topic in a memory."""
    shortest, longest = _NAMED
    for form in words(text):
        if not (form.isdigit() or folded(form) in STOPWORDS) and shortest <= len(form) <= longest:
            yield stem(folded(form)), form
    for name in map(plain, names):
        if not name.isalpha() and shortest <= len(name) <= longest:
            yield name.casefold(), name


def _called(forms: Mapping[str, int]) -> str:
    """Return how a name is written most often, of a word that may begin a sentence the form that does not."""
    return max(forms, key=lambda form: (forms[form], form.islower(), form))


def _fits(table: StaticTable, name: str, matrix: Matrix) -> float:
    """Return the cosine of a name with the mean of some memories."""
    mean = matrix.mean(axis=0)
    return _SPELLED if spelled(name) else float(mean @ table.vector(name) / max(float(np.linalg.norm(mean)), 1e-9))


def _likeness(matrix: Matrix) -> float:
    """Return the mean cosine of unit vectors with one another."""
    count, total = len(matrix), matrix.sum(axis=0)
    return float(total @ total - count) / max(1, count * (count - 1))


def choose(groups: Sequence[Group], most: int = _TOPICS) -> list[Group]:
    """Return the topics that together tell most: each time the one that has most of what none has yet."""
    chosen, told, left = list[Group](), set[int](), [*groups]
    while left and len(chosen) < most:
        left = [one for one in left if len(one.members - told) >= _NEW]
        if left:
            best = max(left, key=lambda one: (len(one.members - told) * one.alike * one.fits, one.name))
            chosen.append(best)
            told |= best.members
            left.remove(best)
    return chosen
