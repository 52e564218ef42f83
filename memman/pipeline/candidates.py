"""The memories that a fact may bear on, best first, at a cost that does not grow with the store."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from memman.config.scope import same
from memman.embed.base import Vectors
from memman.embed.base import cosines as whole
from memman.model.records import Candidate, Fact, Note
from memman.model.terms import match_any, query_terms
from memman.model.uid import memory_uid
from memman.pipeline.comparison import stems
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.scope import around, place, scope
from memman.pipeline.trust import source
from memman.pipeline.vectors import EVERYTHING, alike, near_about, nearest
from memman.pipeline.vectors import text_cosines as own
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader

# Candidates a fact is compared with, and rows each search may contribute.
OFFERED = 8
_POOL = 24
# What words, the built-in vector and the judge's count in the order of candidates (docs/adr/0036).
WEIGHTS = (0.2, 0.5, 1.0)
# Memories that a search by words reads, rarest word first: common words tell nothing, and would make it grow.
_READ = 150
_MAX_TERMS = 8
# A memory is offered from this cosine on, by the built-in vectors or the judge's, or with this many words in common.
NEAR, ABOUT = 0.45, 0.25
SHARED = 2
# The judge compares a fact with so many of them at most, none of which has this much less for it than the best
# (docs/adr/0036).
COMPARED, SPREAD = 6, 0.35


def find(tools: Tools, note: Note, fact: Fact, vector: Vectors) -> tuple[Candidate, ...]:
    """Rank the current memories that hold where `fact` was said: by words, `vector` (shape (384,)) and the judge's."""
    reader, judge = tools.reader, tools.judge
    number = reader.embedder_id(tools.local.fingerprint)
    filters = around(tools, note, fact)
    worded = dict(lexical(reader, fact.text, filters))
    like = nearest(reader, tools.local.fingerprint, vector, _POOL, filters)
    judged = near_about(reader, judge, fact.text, _POOL, filters)
    current = reader.filtered({*worded, *like, *judged}, filters)
    ids = [memory for memory in dict.fromkeys((*worded, *like, *judged)) if memory in current]
    if not ids:
        return ()
    cosines = whole(vector, reader.planes(number, ids)) if number is not None else {}
    about = alike(reader, judge, fact.text, ids)
    top = max(worded.values(), default=0.0) or 1.0
    said = {m: (worded.get(m, 0.0) / top, cosines.get(m, 0.0), about.get(m)) for m in ids}
    score = {m: _score(*one) for m, one in said.items()}
    best = sorted(ids, key=lambda m: (-score[m], m))[:OFFERED]
    return tuple(_candidates(reader, best, own(reader, tools.local, vector, best), about, score))


def near(fact: Fact, found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates that are near enough to a fact to ask about."""
    words = stems(fact.text)
    names = {name.casefold() for name in fact.entities}
    for candidate in found:
        if (
            candidate.similarity >= NEAR
            or candidate.about >= ABOUT
            or not names.isdisjoint(name.casefold() for name in candidate.entities)
            or len(words & stems(candidate.text)) >= SHARED
        ):
            yield candidate


def _score(words: float, cosine: float, about: float | None) -> float:
    """Weigh what speaks for a memory; one that the judge has not read yet is as likely as its words make it."""
    by_words, by_vector, by_judge = WEIGHTS
    if about is None:
        by_words, by_vector = (by_judge + one for one in (by_words, by_vector))
        return (words * by_words + cosine * by_vector) * sum(WEIGHTS) / (by_words + by_vector)
    return by_words * words + by_vector * cosine + by_judge * about


def lexical(reader: SqliteReader, text: str, filters: Filters = EVERYTHING) -> list[tuple[int, float]]:
    """Return (id, BM25) of memories that share telling words with `text`."""
    rare = telling(reader, query_terms(text))
    if not rare:
        return []
    return reader.lexical(f"{{text terms}} : ({match_any(rare)})", filters, _POOL)


def telling(reader: SqliteReader, terms: list[str]) -> list[str]:
    """Return the rarest of `terms`, those in too many memories left out."""
    counted = sorted((count, term) for term, count in reader.frequencies(terms, _READ + 1).items() if count)
    upto = accumulate(count for count, _ in counted)
    return [term for read, (_, term) in zip(upto, counted, strict=True) if read <= _READ][:_MAX_TERMS]


async def in_flight(tools: Tools, plan: Plan, local: Vectors) -> list[tuple[Candidate, ...]]:
    """Return, for each fact, what notes just before this one are about to store and it may bear on."""
    ahead = [(note, n, fact) for note, facts in plan.earlier for n, fact in enumerate(facts) if not fact.held]
    if not ahead:
        return [()] * len(plan.facts)
    texts = [fact.text for _, _, fact in ahead]
    vectors = (await tools.local.embed(texts)).vectors
    about = tools.judge.about([fact.text for fact in plan.facts]) @ tools.judge.about(texts).T
    words = [stems(text) for text in texts]
    found = []
    holds = [scope(note, fact).repository for note, _, fact in ahead]
    for fact, cosines, judged in zip(plan.facts, (local @ vectors.T).tolist(), about.tolist(), strict=True):
        own, kin = stems(fact.text), tools.kin(place(plan.note, fact))
        shared = [len(own & theirs) for theirs in words]
        top = max(shared) or 1
        score = [_score(shared[k] / top, cosines[k], judged[k]) for k in range(len(texts))]
        here = [k for k, repository in enumerate(holds) if not repository or any(same(repository, one) for one in kin)]
        near = [k for k in here if cosines[k] >= NEAR or judged[k] >= ABOUT or shared[k] >= SHARED]
        best = sorted(near, key=lambda k: (-score[k], k))[:OFFERED]
        found.append(tuple(_ahead(*ahead[k], cosines[k], judged[k], score[k]) for k in best))
    return found


def closest(candidates: Sequence[Candidate], numbers: Mapping[str, int]) -> list[int]:
    """Return the numbers of the candidates, by uid, that a fact most probably bears on, the best first."""
    likely = sorted((one for one in candidates if one.uid in numbers), key=lambda one: -one.score)[:COMPARED]
    return [numbers[one.uid] for one in likely if one.score >= likely[0].score - SPREAD]


def _ahead(note: Note, n: int, fact: Fact, similarity: float, about: float, score: float) -> Candidate:
    uid = memory_uid(note.uid, n)
    whose = source(note, fact)
    return Candidate(uid, fact.text, fact.category, fact.entities, note.queued_at, similarity, whose, about, score)


def _candidates(
    reader: SqliteReader, ids: list[int], cosines: dict[int, float], about: dict[int, float], score: dict[int, float]
) -> Iterable[Candidate]:
    rows = reader.rows(ids)
    for memory in ids:
        row = rows[memory]
        yield Candidate(
            uid=row.uid,
            text=row.text,
            category=row.category,
            entities=tuple(json.loads(row.entities)),
            valid_from=row.valid_from,
            similarity=cosines[memory],
            source=row.source,
            about=about.get(memory, 0.0),
            score=score[memory],
        )
