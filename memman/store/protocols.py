"""What the pipeline asks of a store, whatever holds it.

The rest of memman asks more, and of SQLite: recall reads by `memman.store.sqlite.reader`, people's verbs and doctor by
`catalogue`, upkeep and recovery work on the tables and files themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from memman.embed import Vectors
from memman.model.records import Draft, Edge, Fingerprint, Note
from memman.store import MemoryRow
from memman.store.filters import Filters


class Reader(Protocol):
    """Reads. Lists come best first, ties by row id."""

    def meta(self, key: str) -> str:
        """Return a setting of the store, '' when unset."""

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

    def rows(self, ids: Iterable[int]) -> dict[int, MemoryRow]:
        """Return the memories of `ids`."""

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the text of each memory."""

    def filtered(self, ids: Iterable[int], filters: Filters) -> set[int]:
        """Return those of `ids` that `filters` admits."""

    def located(self, uids: Iterable[str]) -> set[int]:
        """Return the rows of memories, by whole uid, or by the uid of their note."""

    def aliases(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return (name, other name) for those of `names` that current memories say have another."""

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

    def shown_in(self, session: str, ids: Iterable[int]) -> set[int]:
        """Return those of `ids` that a session was shown."""

    def rejected(self, texts: Iterable[str]) -> set[str]:
        """Return those of `texts` that a person rejected."""

    def newest_of(self, origin: str, limit: int) -> list[int]:
        """Return the newest current memories of `origin`."""

    def found(self, part: str) -> list[tuple[int, str]]:
        """Return (id, uid) of memories whose uid begins with `part`, or whose note it names."""


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

    def tie(self, memory: int, blobs: Mapping[str, str]) -> None:
        """Keep which files, by path, a memory names, and what they hold."""

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

    def confirm(self, memory: int, note: Note, at: int) -> None:
        """Record that a note said again what `memory` says."""

    def link(self, edges: Iterable[Edge]) -> None:
        """Store edges between stored memories."""

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

    def unit(self) -> AbstractContextManager[Unit]:
        """Hold one write transaction."""

    def cell(self, embedder: int, vector: Vectors) -> int:
        """Return the cell of the partition that `vector` belongs to."""
