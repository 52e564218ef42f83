"""What is asked of a store, whatever holds it: by the pipeline, by recall, by people's verbs that write.

The rest of memman asks more, and of SQLite: lists for people by `catalogue`; upkeep and recovery work on the tables and
files themselves. `tests/conformance` runs all of it over every store there is.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from memman.config.scope import Here
from memman.embed import Vectors
from memman.model.records import Draft, Edge, Fingerprint, Note, Scope
from memman.store import EdgeRow, MemoryRow
from memman.store.filters import Filters
from memman.store.sqlite.authorship import AuthorRow


class Reader(Protocol):
    """Reads. Lists come best first, ties by row id."""

    def meta(self, key: str) -> str:
        """Return a setting of the store, '' when unset."""

    def others(self) -> str:
        """Return what changes whenever another machine has changed memories, '' where none ever did."""

    def count(self) -> int:
        """Return about how many memories there are that a search can find."""

    def embedder_id(self, fingerprint: Fingerprint) -> int | None:
        """Return the number this store gave to vectors of `fingerprint`."""

    def lexical(self, match: str, filters: Filters, limit: int) -> list[tuple[int, float]]:
        """Return (id, BM25) of the best rows for a match expression."""

    def frequencies(self, terms: Iterable[str], cap: int) -> dict[str, int]:
        """Count, for each term, the memories whose text holds it, up to `cap`."""

    def nearest(
        self, embedder: int, code: bytes, filters: Filters, limit: int, cells: Sequence[int] = ()
    ) -> list[tuple[int, int]]:
        """Return (id, Hamming distance) of the nearest sign codes."""

    def planes(self, embedder: int, ids: Iterable[int]) -> Iterable[tuple[int, bytes, int]]:
        """Return (id, planes, squared length) of each memory's vector."""

    def cosines(self, embedder: int, query: Sequence[int], ids: Iterable[int]) -> dict[int, float]:
        """Return the cosine between a query's planes and each memory's vector, none where either is zero."""

    def cells_near(self, embedder: int, vector: Vectors) -> list[int]:
        """Return the cells of the partition around `vector`; empty means the whole store."""

    def holding(self, repository: str) -> frozenset[int]:
        """Return the scopes of one repository, or with '' what holds everywhere alone."""

    def scope_of(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return the repository and the folder of each of `ids` that does not hold everywhere."""

    def authorship(self, ids: Iterable[int]) -> dict[int, AuthorRow]:
        """Return who wrote each of `ids`, for whom it is and who retired it, where the store is shared."""

    def role(self) -> str:
        """Return who we are on the server of the store, '' where it has none."""

    def rows(self, ids: Iterable[int]) -> dict[int, MemoryRow]:
        """Return the memories of `ids`."""

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the text of each memory."""

    def filtered(self, ids: Iterable[int], filters: Filters) -> set[int]:
        """Return those of `ids` that `filters` admits."""

    def newer(self, uids: Iterable[str]) -> dict[str, tuple[int, str]]:
        """Return (id, uid), for those of `uids` that are maybe replaced, of what is in force on that side."""

    def ends(self, ids: Iterable[int]) -> dict[int, int]:
        """Return until when those of `ids` hold that do not hold for ever."""

    def located(self, uids: Iterable[str]) -> set[int]:
        """Return the rows of memories, by whole uid, or by the uid of their note."""

    def last_of(self, origin: str) -> int | None:
        """Return the newest current memory of `origin`."""

    def recent(self, since: int, limit: int) -> list[tuple[int, int]]:
        """Return (id, valid_from) of the newest current memories that began to hold after `since`."""

    def mentions(self, called: str, limit: int) -> tuple[int, list[int]]:
        """Return about how many memories mention a name, and the newest current ones."""

    def evidence(self, ids: Iterable[int]) -> dict[int, list[tuple[str, str, int]]]:
        """Return (kind, session, when) of what bears out each of `ids`, or speaks against it, oldest first."""

    def unconfirmed(self, ids: Iterable[int]) -> set[int]:
        """Return those of `ids` that only agents have said, and nobody bore out."""

    def contradicts(
        self, ids: Iterable[int], as_of: int | None = None, held: frozenset[int] | None = None
    ) -> dict[int, list[tuple[int, str, bool]]]:
        """Return (id, uid, whether surely) of what each of `ids` contradicts, being unconfirmed."""

    def shown_in(self, session: str, ids: Iterable[int]) -> set[int]:
        """Return those of `ids` that a session was shown."""

    def rejected(self, texts: Iterable[str]) -> set[str]:
        """Return those of `texts` that a person rejected."""

    def newest_of(self, origin: str, limit: int) -> list[int]:
        """Return the newest current memories of `origin`."""

    def found(self, part: str) -> list[tuple[int, str]]:
        """Return (id, uid) of memories whose uid begins with `part`, or whose note it names."""


class Searched(Protocol):
    """What recall reads. Lists come best first, ties by row id, so that the same question gets the same answer."""

    def meta(self, key: str) -> str:
        """Return a setting of the store, '' when unset."""

    def count(self) -> int:
        """Return about how many memories there are that a search can find."""

    def authorship(self, ids: Iterable[int]) -> dict[int, AuthorRow]:
        """Return who wrote each of `ids`, for whom it is and who retired it, where the store is shared."""

    def role(self) -> str:
        """Return who we are on the server of the store, '' where it has none."""

    def scopes(self, here: Here, *, inside: bool = False) -> frozenset[int] | None:
        """Return the scopes that hold `here`, by the store's numbers; None where every memory's does."""

    def scope_of(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return the repository and the folder of each of `ids` that does not hold everywhere."""

    def searched(self, model: str, dimension: int) -> tuple[int, str] | None:
        """Return number and provider of the vectors that are searched; None where there are none."""

    def embedder(self, provider: str, model: str, dimension: int) -> int | None:
        """Return the number this store gave to an embedder's vectors."""

    def lexical(self, match: str, filters: Filters, limit: int, newest: int | None = None) -> list[tuple[int, float]]:
        """Return (id, BM25) of the best rows for a match expression, or of the `newest` that match."""

    def matched(self, match: str, filters: Filters, limit: int) -> list[int]:
        """Return the newest rows that a match expression finds."""

    def estimated(self, match: str, cap: int) -> int:
        """Count the rows that a match expression finds; beyond `cap` by how densely the newest of them lie."""

    def nearest(
        self, embedder: int, code: bytes, filters: Filters, limit: int, cells: Sequence[int] = ()
    ) -> list[tuple[int, int]]:
        """Return (id, Hamming distance) of the nearest sign codes; `cells` bounds the search."""

    def cells_around(self, embedder: int, code: bytes) -> list[int]:
        """Return the cells of the partition around a sign code; empty means the whole store."""

    def cosines(self, embedder: int, query: Sequence[int], ids: Iterable[int]) -> dict[int, float]:
        """Return the cosine between a query's planes and each memory's vector, none where either is zero."""

    def window(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last row that can have begun to hold from `start` to `end`."""

    def held(self, filters: Filters, start: int, end: int, limit: int) -> list[int]:
        """Return the newest memories that began to hold from `start` to `end`, superseded ones among them."""

    def began(self, ids: Iterable[int]) -> dict[int, int]:
        """Return when each of `ids` began to hold."""

    def filtered(self, ids: Iterable[int], filters: Filters) -> set[int]:
        """Return those of `ids` that `filters` admits."""

    def heirs(self, ids: Iterable[int], as_of: int | None = None) -> dict[int, int]:
        """Return, for those of `ids` that are superseded, or were `as_of` a moment, what is in force in their place."""

    def newer(
        self, uids: Iterable[str], as_of: int | None = None, held: frozenset[int] | None = None
    ) -> dict[str, tuple[int, str]]:
        """Return (id, uid), for those of `uids` that are maybe replaced, of what does so and has a scope of `held`."""

    def contradicts(
        self, ids: Iterable[int], as_of: int | None = None, held: frozenset[int] | None = None
    ) -> dict[int, list[tuple[int, str, bool]]]:
        """Return (id, uid, whether surely) of what each of `ids` contradicts within `held`, surest first."""

    def located(self, uids: Iterable[str]) -> set[int]:
        """Return the rows of memories, by whole uid, or by the uid of their note."""

    def has_receipt(self, note: str) -> bool:
        """Whether the store has dealt with a note, or with the one that replaces it."""

    def sound_rows(self, ids: Iterable[int]) -> dict[int, MemoryRow]:
        """Return the memories of `ids` that say what was once written."""

    def harmless(self, rows: Iterable[MemoryRow]) -> list[MemoryRow]:
        """Take secrets out of rows, but of those that are known to hold none."""

    def edges(self, ids: Iterable[int]) -> list[EdgeRow]:
        """Return the edges that touch `ids`, each `near` one of these."""

    def evidence(self, ids: Iterable[int]) -> dict[int, list[tuple[str, str, int]]]:
        """Return (kind, session, when) of what bears out each of `ids`, or speaks against it, oldest first."""

    def unconfirmed(self, ids: Iterable[int]) -> set[int]:
        """Return those of `ids` that only agents have said, and nobody bore out."""

    def ends(self, ids: Iterable[int]) -> dict[int, int]:
        """Return until when those of `ids` hold that do not hold for ever."""

    def ended(self, ids: Iterable[int], as_of: int | None = None) -> set[int]:
        """Return those of `ids` that are past their end, now or at a time."""

    def changed_files(self, ids: Iterable[int], by: int) -> dict[int, int]:
        """Return, of those of `ids` that name a file changed since, up to `by`, when that was first seen."""

    def standing(
        self,
        sources: Sequence[str],
        limit: int,
        scopes: frozenset[int] | None = None,
        *,
        wishes: bool,
        uses: int = 0,
    ) -> list[MemoryRow]:
        """Return current preferences, or all but those, the most important first."""

    def before(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the text of what each of these memories superseded last."""

    def protected(self, sources: Sequence[str], limit: int, scopes: frozenset[int] | None = None) -> list[MemoryRow]:
        """Return current memories that a person protected, the most important first."""


class Unit(Protocol):
    """Writes inside one transaction."""

    def receipt(self, note: Note, at: int, outcome: str, facts: int, drain: str = "", models: str = "") -> bool:
        """Record that `note` is done, by which drain and which models (JSON); False when it already was."""

    def add(self, draft: Draft, at: int, *, held: bool = False) -> int:
        """Store one memory, or hold it back for review; return its row id."""

    def supersede(self, old: int, new: int, at: int, valid_to: int, why: str) -> bool:
        """Close `old` in favour of `new`; False when it is not current any more."""

    def doubt(self, old: int, new: int, at: int, why: str) -> bool:
        """Mark `old` as maybe replaced by `new`; False where one of them is not current."""

    def contradict(self, new: int, old: int, at: int, why: str, *, sure: bool) -> bool:
        """Have `new` say that it contradicts `old` until it is borne out; False where one of them is not current."""

    def accord(self, new: int, old: int, at: int) -> bool:
        """Have `new` contradict `old` no more; False when it did not."""

    def tie(self, memory: int, blobs: Mapping[str, str]) -> None:
        """Keep which files, by path, a memory names, and what they hold."""

    def keep(self, memory: int, at: int) -> bool:
        """Have `memory` be maybe replaced no more; False when it was not."""

    def reinstate(self, memory: int, at: int) -> bool:
        """Undo `supersede`: `memory` holds again, beside what took its place; False when not superseded."""

    def move(self, memory: int, scope: Scope, at: int) -> bool:
        """Have a memory hold for another scope; False where it does already."""

    def scope(self, memory: int) -> Scope:
        """Return what a memory holds for."""

    def protect(self, memory: int, at: int, *, wanted: bool) -> bool:
        """Let no drain retire `memory` or doubt it, or let it again; False when that is so already."""

    def forget(self, memory: int, at: int, verb: str = "forget", why: str = "") -> bool:
        """Retire `memory` from every recall, past ones too; False when it already is."""

    def restore(self, memory: int, at: int) -> bool:
        """Undo `forget`; False when `memory` is not forgotten."""

    def approve(self, memory: int, at: int) -> bool:
        """Let what was held back be found; False when `memory` is not held back."""

    def bear_out(self, memory: int, kind: str, session: str, at: int) -> bool:
        """Keep one piece of evidence for or against a memory, once a session; False when it was there already."""

    def expire(self, memory: int, ends_at: int | None, at: int, why: str = "") -> bool:
        """Have a memory hold until `ends_at`, None for ever; False where it does so already."""

    def report(self, memory: int, kind: str, session: str, at: int) -> bool:
        """Keep what a session reported of `memory` in place of what it did before; False where that is the same."""

    def verify(self, memory: int, blobs: Mapping[str, str], session: str, at: int) -> None:
        """Record that a person found `memory` still true: what it names is as it should be."""

    def refuse(self, text: str, at: int) -> None:
        """Have nobody but the user propose `text` again, until what says it is restored."""

    def tell(self, at: int, verb: str, name: str, why: str) -> None:
        """Write a line to the log about what is no memory."""

    def confirm(self, memory: int, note: Note, at: int) -> None:
        """Record that a note said again what `memory` says."""

    def link(self, edges: Iterable[Edge]) -> None:
        """Store edges; of two with the same ends and kind a person's stays, or else the heavier."""

    def link_by_hand(self, edge: Edge, at: int) -> None:
        """Store a person's edge over whatever edge of its kind there is."""

    def unlink(self, kinds: Sequence[str], memory: int) -> None:
        """Drop the edges of some kinds that a memory got when it was linked; none a person made."""

    def linked(self, linker: str, first: int, last: int | None = None) -> None:
        """Note what made the edges of memories from row `first` on, to `last` or the newest."""

    def touched(self, memories: Sequence[int]) -> list[int]:
        """Return `memories` and those whose context they are."""

    def in_context(self, memory: int) -> list[tuple[int, int, str]]:
        """Return (distance, id, text) of a memory, at 0, and of those around it in its session."""

    def index(self, memories: Iterable[int]) -> None:
        """Write the text index of `memories` afresh, each with its context."""

    def put_vectors(self, embedder: int, rows: Iterable[tuple[int, int, bytes, int]]) -> None:
        """Store vectors: (memory, cell, planes, squared length)."""

    def outdate(self, memories: Sequence[int]) -> None:
        """Drop what another local embedder than the built-in one made of memories whose context has changed."""

    def embedder(self, fingerprint: Fingerprint) -> int:
        """Return the number of `fingerprint`'s vectors in this store."""

    def put_aliases(self, memory: int, pairs: Iterable[tuple[str, str]]) -> None:
        """Store which names `memory` says mean the same, in place of what it said before."""

    def set_meta(self, key: str, value: str | None) -> None:
        """Set one of the store's settings; None removes it."""


class Store(Protocol):
    """A store opened for writing."""

    def pull(self) -> int:
        """Bring in what other machines have changed, and return how much: 0 where nobody shares it."""

    def unit(self) -> AbstractContextManager[Unit]:
        """Hold one write transaction."""

    def cell(self, embedder: int, vector: Vectors) -> int:
        """Return the cell of the partition that `vector` belongs to."""
