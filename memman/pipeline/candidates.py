"""The memories that a fact may bear on, best first, at a cost that does not grow with the store."""

import json
from collections.abc import Iterable
from itertools import accumulate

import numpy as np

from memman.embed import Vectors
from memman.embed.codes import cosines as whole
from memman.embed.static import sign_code
from memman.model.records import Candidate, Fact, Fingerprint, Note, memory_uid
from memman.model.terms import match_any, query_terms
from memman.pipeline.context import cosines as own
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.trust import source
from memman.pipeline.words import stems
from memman.store.filters import Filters
from memman.store.protocols import Reader

# Candidates a fact is compared with, and rows each search may contribute.
OFFERED = 8
_POOL = 24
# Memories that a search by words reads, rarest word first: common words tell nothing, and would make it grow.
_READ = 150
_MAX_TERMS = 8
# A fact in flight is offered from this cosine on, or with this many words in common.
NEAR = 0.45
SHARED = 2
EVERYTHING = Filters()


def find(tools: Tools, fact: Fact, vector: Vectors) -> tuple[Candidate, ...]:
    """Rank the current memories nearest to `fact` by words and by the built-in vector (shape (384,))."""
    reader = tools.reader
    number = reader.embedder_id(tools.local.fingerprint)
    worded = dict(lexical(reader, fact.text))
    near = nearest(reader, tools.local.fingerprint, vector)
    current = reader.filtered({*worded, *near}, EVERYTHING)
    ids = [memory for memory in dict.fromkeys((*worded, *near)) if memory in current]
    if not ids:
        return ()
    cosines = whole(vector, reader.planes(number, ids)) if number is not None else {}
    top = max(worded.values(), default=0.0) or 1.0
    score = {m: 0.5 * worded.get(m, 0.0) / top + 0.5 * cosines.get(m, 0.0) for m in ids}
    best = sorted(ids, key=lambda m: (-score[m], m))[:OFFERED]
    return tuple(_candidates(reader, best, own(reader, tools.local, vector, best)))


def lexical(reader: Reader, text: str) -> list[tuple[int, float]]:
    """Return (id, BM25) of memories that share telling words with `text`."""
    rare = telling(reader, query_terms(text))
    if not rare:
        return []
    return reader.lexical(f"{{text terms}} : ({match_any(rare)})", EVERYTHING, _POOL)


def telling(reader: Reader, terms: list[str]) -> list[str]:
    """Return the rarest of `terms`, those in too many memories left out."""
    counted = sorted((count, term) for term, count in reader.frequencies(terms, _READ + 1).items() if count)
    upto = accumulate(count for count, _ in counted)
    return [term for read, (_, term) in zip(upto, counted, strict=True) if read <= _READ][:_MAX_TERMS]


def nearest(reader: Reader, fingerprint: Fingerprint, vector: Vectors, limit: int = _POOL) -> list[int]:
    """Return the memories whose sign codes are nearest to `vector`, in the cells around it."""
    number = reader.embedder_id(fingerprint)
    if number is None or not np.any(vector):
        return []
    cells = reader.cells_near(number, vector)
    return [memory for memory, _ in reader.nearest(number, sign_code(vector.tolist()), EVERYTHING, limit, cells)]


async def in_flight(tools: Tools, plan: Plan, local: Vectors) -> list[tuple[Candidate, ...]]:
    """Return, for each fact, what notes just before this one are about to store and it may bear on.

    `local` are the built-in vectors of the note's own facts, shape (facts, 384).
    """
    ahead = [(note, n, fact) for note, facts in plan.earlier for n, fact in enumerate(facts) if not fact.held]
    if not ahead:
        return [()] * len(plan.facts)
    vectors = (await tools.local.embed([fact.text for _, _, fact in ahead])).vectors
    words = [stems(fact.text) for _, _, fact in ahead]
    found = []
    for fact, cosines in zip(plan.facts, (local @ vectors.T).tolist(), strict=True):
        own = stems(fact.text)
        near = [k for k, cosine in enumerate(cosines) if cosine >= NEAR or len(own & words[k]) >= SHARED]
        best = sorted(near, key=lambda k: (-cosines[k], k))[:OFFERED]
        found.append(tuple(_ahead(*ahead[k], cosines[k]) for k in best))
    return found


def _ahead(note: Note, n: int, fact: Fact, similarity: float) -> Candidate:
    uid = memory_uid(note.uid, n)
    whose = source(note, fact)
    return Candidate(uid, fact.text, fact.category, fact.entities, note.queued_at, similarity, whose)


def _candidates(reader: Reader, ids: list[int], cosines: dict[int, float]) -> Iterable[Candidate]:
    rows = reader.rows(ids)
    for memory in ids:
        row = rows[memory]
        yield Candidate(
            uid=row[1],
            text=row[3],
            category=row[4],
            entities=tuple(json.loads(row[6])),
            valid_from=row[11],
            similarity=cosines[memory],
            source=row[9],
        )
