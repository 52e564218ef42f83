"""What pipeline and recall read of the oracle."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from math import log
from typing import Any

import numpy as np

from memman.clock import now_ms
from memman.config.scope import Here, same, sees
from memman.embed.codes import sign_code, unpacked
from memman.model.names import expression, mentions
from memman.model.records import EVERYWHERE, Fingerprint, Scope
from memman.model.vocabulary import (
    BUILTIN,
    CLAIMS,
    EDGE_KINDS,
    HIDDEN,
    MAYBE,
    NEWER,
    PROTECTED,
    REPLACED,
)
from memman.store import EdgeRow, MemoryRow
from memman.store.filters import Filters
from memman.store.sqlite.authorship import AuthorRow
from memman.store.sqlite.rejected import digest
from tests.support.oracle.state import State
from tests.support.oracle.words import K1, B, Match

STRAGGLERS, MENTIONS = 256, 64
BEARS_OUT = ("said", "approved", "verified")


class Reads:
    """The reads of one store."""

    def __init__(self) -> None:
        self.state = State()
        # Numbers of scopes mean nothing outside of one store.
        self.numbers: list[Scope] = [EVERYWHERE]
        self._note, self._since, self._before = "", "", State()

    def meta(self, key: str) -> str:
        """Return a setting."""
        return self.state.meta.get(key, "")

    def others(self) -> str:
        """Nobody else changes it."""
        return ""

    def count(self) -> int:
        """Return the last row in the index."""
        return max(self.state.index, default=0)

    def embedder_id(self, fingerprint: Fingerprint) -> int | None:
        """Return the number of an embedder."""
        return self.state.embedders.get(fingerprint)

    def embedder(self, provider: Any, model: str = "", dimension: int = 0) -> Any:
        """Return the number of an embedder; a fingerprint that is new gets one."""
        if not isinstance(provider, Fingerprint):
            return self.state.embedders.get(Fingerprint(provider, model, dimension))
        return self.state.embedders.setdefault(provider, max(self.state.embedders.values(), default=0) + 1)

    def searched(self, dimension: int) -> list[int]:
        """Return the vectors that are searched: the built-in ones of every version."""
        made = self.state.embedders.items()
        return sorted(n for one, n in made if (one.provider, one.dimension) == (BUILTIN, dimension))

    def lexical(self, match: str, filters: Filters, limit: int, newest: int | None = None) -> list[tuple[int, float]]:
        """Return (id, BM25) of the best rows."""
        asked = Match(match)
        rows = [memory for memory in sorted(self.state.index) if self._admits(memory, filters, scoped=False)]
        rows = [memory for memory in rows if asked.finds(self.state.index[memory])]
        rows = rows if newest is None else rows[-newest:]
        scores = self._bm25(asked, [memory for memory in rows if self._in_scope(memory, filters.scopes)])
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def _bm25(self, asked: Match, rows: Iterable[int]) -> dict[int, float]:
        every = self.state.index.values()
        sizes = {memory: sum(map(len, row.values())) for memory, row in self.state.index.items()}
        mean = sum(sizes.values()) / len(sizes) if sizes else 0.0
        weights = []
        for n in range(len(asked.phrases)):
            hits = sum(asked.frequency(row, n) > 0 for row in every)
            idf = log((len(sizes) - hits + 0.5) / (hits + 0.5))
            weights.append(idf if idf > 0 else 1e-6)
        scores = {}
        for memory in rows:
            score = 0.0
            for n, weight in enumerate(weights):
                often = asked.frequency(self.state.index[memory], n)
                score += weight * (often * (K1 + 1) / (often + K1 * (1 - B + B * sizes[memory] / mean)))
            scores[memory] = score
        return scores

    def matched(self, match: str, filters: Filters, limit: int) -> list[int]:
        """Return the newest rows that match."""
        asked = Match(match)
        rows = [n for n, row in self.state.index.items() if asked.finds(row) and self._admits(n, filters)]
        return sorted(rows, reverse=True)[:limit]

    def matching(self, match: str, cap: int) -> int:
        """Count the rows that match."""
        return len(self.matched(match, Filters(), cap))

    def estimated(self, match: str, cap: int) -> int:
        """Count the rows that match, or reckon how many do."""
        found, total = self.matched(match, Filters(), cap), self.count()
        return len(found) if len(found) < cap else len(found) * total // (total - found[-1] + 1)

    def frequencies(self, terms: Iterable[str], cap: int) -> dict[str, int]:
        """Count the rows that hold each term."""
        return {term: self.matching(f'{{text terms}} : "{term}"', cap) for term in terms}

    def nearest(
        self,
        embedder: int,
        code: bytes,
        filters: Filters,
        limit: int,
        cells: Sequence[int] = (),  # noqa: ARG002 - all is one cell
    ) -> list[tuple[int, int]]:
        """Return (id, Hamming distance) of the nearest sign codes."""
        wanted, found = int.from_bytes(code, "big"), []
        for (made_by, memory), (planes, squares) in self.state.vectors.items():
            seen = squares and self.state.memories[memory].status not in HIDDEN and self._admits(memory, filters)
            if made_by == embedder and seen:
                found.append(((int.from_bytes(sign_code(planes), "big") ^ wanted).bit_count(), memory))
        return [(memory, distance) for distance, memory in sorted(found)[:limit]]

    def planes(self, embedder: int, ids: Iterable[int]) -> list[tuple[int, bytes, int]]:
        """Return (id, planes, squared length)."""
        vectors = self.state.vectors
        return [(n, *vectors[embedder, n]) for n in sorted(set(ids)) if (embedder, n) in vectors]

    def cosines(self, embedder: int, query: Sequence[int], ids: Iterable[int]) -> dict[int, float]:
        """Return the cosine to each memory."""
        dimension = next(made.dimension for made, number in self.state.embedders.items() if number == embedder)
        bits = [np.unpackbits(np.frombuffer(n.to_bytes((dimension + 7) // 8, "big"), np.uint8)) for n in query]
        asked = sum(weight * bit.astype(np.int64) for weight, bit in zip((1, 2, 4, -8), bits, strict=True))[:dimension]
        length, found = float(asked @ asked) ** 0.5, {}
        for memory, blob, squares in self.planes(embedder, ids) if length else ():
            if squares:
                found[memory] = float(asked @ unpacked(blob, dimension).astype(np.int64)) / (length * squares**0.5)
        return found

    def cells_near(self, embedder: int, vector: Any) -> list[int]:  # noqa: ARG002 - all is one cell
        """Return no cells: the whole store."""
        return []

    cells_around = cells_near

    def _number(self, scope: Scope) -> int:
        if scope not in self.numbers:
            self.numbers.append(scope)
        return self.numbers.index(scope)

    def _in_scope(self, memory: int, scopes: Collection[int] | None) -> bool:
        return scopes is None or self._number(self.state.scopes.get(memory, EVERYWHERE)) in scopes

    def scopes(self, here: Here, *, inside: bool = False) -> frozenset[int] | None:
        """Return the scopes that hold here."""
        seen = [n for n, one in enumerate(self.numbers) if one == EVERYWHERE or sees(here, *one, inside=inside)]
        return frozenset(seen) if len(seen) < len(self.numbers) else None

    def holding(self, repository: str) -> frozenset[int]:
        """Return the scopes of a repository."""
        of = (n for n, one in enumerate(self.numbers) if one != EVERYWHERE and same(repository, one.repository))
        return frozenset(of) if repository else frozenset((0,))

    def authorship(self, ids: Iterable[int]) -> dict[int, AuthorRow]:
        """Return for whom each is, where that was said; nobody has a name here."""
        said = self.state.visibility
        return {memory: AuthorRow((memory, "", said[memory], "")) for memory in ids if memory in said}

    def role(self) -> str:
        """Return nobody."""
        return ""

    def repositories(self) -> list[str]:
        """Return the repositories that memories hold for."""
        return list(dict.fromkeys(one.repository for one in self.numbers if one.repository))

    def scope_of(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return the scope of each that does not hold everywhere."""
        found = {memory: self.state.scopes.get(memory, EVERYWHERE) for memory in ids}
        return {memory: tuple(scope) for memory, scope in found.items() if scope.repository}

    def rows(self, ids: Iterable[int]) -> dict[int, MemoryRow]:
        """Return memories."""
        return {memory: self.state.memories[memory] for memory in sorted(set(ids) & self.state.memories.keys())}

    sound_rows = rows

    def harmless(self, rows: Iterable[MemoryRow]) -> list[MemoryRow]:
        """Return the rows: secrets were taken out of all."""
        return list(rows)

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the text of each."""
        return {memory: row.text for memory, row in self.rows(ids).items()}

    def _admits(self, memory: int, filters: Filters, *, scoped: bool = True) -> bool:
        """Whether a search may bring up a memory: nothing is said of its being in force."""
        row, (first, last) = self.state.memories[memory], filters.window or (0, 2**63 - 1)
        return (
            filters.category in (None, row.category)
            and filters.source in (None, row.source)
            and (filters.since is None or row.recorded_at >= filters.since)
            and (filters.until is None or row.recorded_at < filters.until)
            and (filters.as_of is None or row.recorded_at <= filters.as_of)
            and first <= memory <= last
            and (not scoped or self._in_scope(memory, filters.scopes))
        )

    def filtered(self, ids: Iterable[int], filters: Filters) -> set[int]:
        """Return those that filters admit."""
        allowed = ("current", "superseded") if filters.past else ("current",)
        moment = None if filters.history else filters.as_of
        everywhere = filters.having(window=None)
        return {
            memory
            for memory, row in self.rows(ids).items()
            if row.status in allowed
            and self._admits(memory, everywhere)
            and (moment is None or row.retired_at is None or row.retired_at > moment)
        }

    def _gone(self, row: MemoryRow, as_of: int | None) -> bool:
        return row.status == "superseded" and (as_of is None or row.retired_at <= as_of)

    def _heir(self, memory: int | None, as_of: int | None) -> MemoryRow | None:
        """Follow who superseded whom, from a memory to the one in force; None for a ring, or where nothing is."""
        passed: set[int] = set()
        while memory in self.state.memories and memory not in passed:
            passed.add(memory)
            row = self.state.memories[memory]
            if not self._gone(row, as_of):
                return row
            memory = row.superseded_by
        return None

    def heirs(self, ids: Iterable[int], as_of: int | None = None) -> dict[int, int]:
        """Return what is in force in the place of what is superseded."""
        old = [memory for memory, row in self.rows(ids).items() if self._gone(row, as_of)]
        found = {memory: self._heir(memory, as_of) for memory in old}
        return {memory: heir.id for memory, heir in found.items() if heir}

    def newer(
        self, uids: Iterable[str], as_of: int | None = None, held: Collection[int] | None = None
    ) -> dict[str, tuple[int, str]]:
        """Return what is in force on the newer side of a doubt."""
        found = {}
        for uid in uids:
            first = self._row(self.meta(MAYBE + uid))
            if first and (as_of is None or first.recorded_at <= as_of):
                heir = self._heir(first.id, as_of)
                holds = heir and heir.status not in HIDDEN and not self.ended([heir.id], as_of)
                if holds and heir.uid != uid and self._in_scope(heir.id, held):
                    found[uid] = (heir.id, heir.uid)
        return found

    def later(self, ids: Iterable[int]) -> list[tuple[int, int, int]]:
        """Return (older, newer, weight) of the edges that say what may tell a change of each memory."""
        wanted, kind, began = set(ids), EDGE_KINDS.index(NEWER), self.began([*self.state.memories])
        found = [(old, new, weight) for (new, its, old), (weight, _) in self.state.links.items() if its == kind]
        told = [one for one in found if one[0] in wanted and began[one[1]] > began[one[0]]]
        return sorted(told, key=lambda one: (one[2], began[one[1]], one[1], one[0]))

    def _row(self, uid: str) -> MemoryRow | None:
        return next((row for row in self.state.memories.values() if row.uid == uid), None)

    def located(self, uids: Iterable[str]) -> set[int]:
        """Return the rows of uids of memories and notes."""
        wanted = set(uids)
        return {row.id for row in self.state.memories.values() if wanted & {row.uid, row.note}}

    def found(self, part: str) -> list[tuple[int, str]]:
        """Return what part of an id names."""
        rows = sorted((row.uid, row.id) for row in self.state.memories.values() if row.uid.startswith(part))[:10]
        if not rows and len(part) >= 8:
            return [(n, row.uid) for n, row in sorted(self.state.memories.items()) if row.note.endswith(part)]
        return [(memory, uid) for uid, memory in rows]

    def has_receipt(self, note: str) -> bool:
        """Whether a note is dealt with."""
        return note in self.state.receipts or REPLACED + note in self.state.meta

    def evidence(self, ids: Iterable[int]) -> dict[int, list[tuple[str, str, int]]]:
        """Return evidence, oldest first."""
        wanted, found = set(ids), {}
        for (memory, kind, session), (at,) in self.state.evidence.items():
            if memory in wanted:
                found.setdefault(memory, []).append((kind, session, at))
        return {memory: sorted(pieces, key=lambda one: (one[2], one[0], one[1])) for memory, pieces in found.items()}

    def unconfirmed(self, ids: Iterable[int]) -> set[int]:
        """Return what only agents have said."""
        borne_out = {memory for memory, kind, _ in self.state.evidence if kind in BEARS_OUT}
        return {
            memory
            for memory, row in self.rows(ids).items()
            if row.source == "agent" and PROTECTED + row.uid not in self.state.meta and memory not in borne_out
        }

    def contradicts(
        self, ids: Iterable[int], as_of: int | None = None, held: Collection[int] | None = None
    ) -> dict[int, list[tuple[int, str, bool]]]:
        """Return what unconfirmed memories contradict, what they surely do first."""
        found = {}
        for memory in sorted(self.unconfirmed(ids)):
            said = self._claims(self.state.memories[memory].uid)
            rows = [row for row in map(self._row, said) if row and self._was_in_force(row, as_of)]
            pairs = [(row.id, row.uid, said[row.uid] == "surely") for row in rows if self._in_scope(row.id, held)]
            if pairs:
                found[memory] = sorted(pairs, key=lambda one: (not one[2], one[0]))
        return found

    def _claims(self, uid: str) -> dict[str, str]:
        return dict(json.loads(self.meta(CLAIMS + uid) or "{}"))

    def _was_in_force(self, row: MemoryRow, as_of: int | None) -> bool:
        return row.status not in HIDDEN and not self._gone(row, as_of) and (as_of is None or row.recorded_at <= as_of)

    def ends(self, ids: Iterable[int]) -> dict[int, int]:
        """Return until when memories hold."""
        fresh = self.state.freshness
        return {memory: fresh[memory][0] for memory in ids if memory in fresh and fresh[memory][0] is not None}

    def ended(self, ids: Iterable[int], as_of: int | None = None) -> set[int]:
        """Return which are past their end."""
        at = now_ms() if as_of is None else as_of
        return {memory for memory, end in self.ends(ids).items() if end <= at}

    def changed_files(self, ids: Iterable[int], by: int) -> dict[int, int]:
        """Return since when files differ."""
        wanted, found = set(ids), {}
        for (memory, _), (_, at) in self.state.files.items():
            if memory in wanted and at is not None and at <= by:
                found[memory] = min(at, found.get(memory, at))
        return found

    def shown_in(self, session: str, ids: Iterable[int]) -> set[int]:  # noqa: ARG002 - recall is not counted here
        """Return nothing: what was shown is no part of this."""
        return set()

    def rejected(self, texts: Iterable[str]) -> set[str]:
        """Return what was rejected."""
        return {text for text in texts if digest(text) in self.state.rejected}

    def edges(self, ids: Iterable[int]) -> list[EdgeRow]:
        """Return the edges at memories, from either end."""
        wanted, found = set(ids), []
        for (src, kind, dst), (weight, detail) in self.state.links.items():
            plain = "next" if weight == 10_000 else "near"
            edge = (src, EDGE_KINDS[kind], dst, weight / 10_000, plain if kind == 0 and not detail else detail)
            found += [EdgeRow((*edge, near, far)) for near, far in ((src, dst), (dst, src)) if near in wanted]
        return sorted(found, key=lambda one: (one.near, one.kind, one.far, one.near != one.src))

    def _first(self, moment: int, column: str) -> int:
        before = [n for n, row in self.state.memories.items() if getattr(row, column) < moment]
        return max(before, default=0) + 1

    def window(self, start: int, end: int) -> tuple[int, int]:
        """Return the rows that can have begun in a time."""
        ends = (self._first(end, column) for column in ("recorded_at", "valid_from"))
        return self._first(start, "recorded_at"), max(ends) + STRAGGLERS

    def began(self, ids: Iterable[int]) -> dict[int, int]:
        """Return when each began."""
        return {memory: row.valid_from for memory, row in self.rows(ids).items()}

    def held(self, filters: Filters, start: int, end: int, limit: int) -> list[int]:
        """Return what began in a time, newest first."""
        rows = self.state.memories.items()
        there = (n for n, row in rows if row.status not in HIDDEN and start <= row.valid_from < end)
        return sorted((n for n in there if self._admits(n, filters)), reverse=True)[:limit]

    def _current(self, test: Callable[[MemoryRow], bool]) -> list[MemoryRow]:
        """Return current memories, newest first."""
        return [
            row for _, row in sorted(self.state.memories.items(), reverse=True) if row.status == "current" and test(row)
        ]

    def _holds(self, row: MemoryRow, sources: Sequence[str], scopes: frozenset[int] | None) -> bool:
        over = self.ends([row.id]).get(row.id, 2**63) <= now_ms()
        return row.source in sources and self._in_scope(row.id, scopes) and not over

    def protected(self, sources: Sequence[str], limit: int, scopes: frozenset[int] | None = None) -> list[MemoryRow]:
        """Return what a person protected."""
        found = self._current(lambda row: PROTECTED + row.uid in self.state.meta and self._holds(row, sources, scopes))
        return sorted(found, key=lambda row: -row.importance)[:limit]

    def before(self, ids: Sequence[int]) -> dict[int, str]:
        """Return what each superseded last."""
        found = sorted(self.state.memories.items())
        return {row.superseded_by: row.text for _, row in found if row.superseded_by in set(ids)}

    def standing(
        self,
        sources: Sequence[str],
        limit: int,
        scopes: frozenset[int] | None = None,
        *,
        wishes: bool,
        uses: int = 0,
    ) -> list[MemoryRow]:
        """Return the weightiest."""
        found = self._current(
            lambda row: (row.category == "preference") is wishes and self._holds(row, sources, scopes)
        )
        return sorted(found, key=lambda row: -(2 * row.importance + min(row.uses, uses)))[:limit]

    def last_of(self, origin: str) -> int | None:
        """Return the newest of an origin."""
        return next(iter(self.newest_of(origin, 1)), None)

    def newest_of(self, origin: str, limit: int) -> list[int]:
        """Return the newest of an origin."""
        return [row.id for row in self._current(lambda row: row.origin == origin)][:limit]

    def recent(self, since: int, limit: int) -> list[tuple[int, int]]:
        """Return what began lately, among the newest rows."""
        looked = sorted(self.state.memories, reverse=True)[: 4 * limit]
        return [
            (row.id, row.valid_from) for row in self._current(lambda row: row.id in looked and row.valid_from > since)
        ][:limit]

    def mentions(self, called: str, limit: int) -> tuple[int, list[int]]:
        """Return who mentions a name."""
        match = expression(called)
        if not match:
            return 0, []
        known = sum(called.casefold() in names for names in self.state.named.values())
        rows = [self.state.memories[memory] for memory in self.matched(match, Filters(), MENTIONS)]
        found = [
            row.id
            for row in rows
            if row.status == "current" and (mentions(row.text, called) or mentions(row.entities, called))
        ]
        return max(known, len(found)), found[:limit]
