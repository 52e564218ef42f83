"""The stores there are, each behind the same few handles: the oracle, SQLite, and two machines that share a server.

What is written goes to the machines in turn; what is read is read on another one than wrote it, after its pull.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from memman.embed.codes import planes
from memman.embed.static import StaticTable
from memman.judge.embedder import BuiltinEmbedder
from memman.model.records import EVERYWHERE, Draft, Fact, Fingerprint, Note, Provenance, Scope
from memman.model.vocabulary import OWN, UNDONE
from memman.pipeline import context
from memman.queue.entry import memory_uid
from memman.recall import answered
from memman.recall.hit import Hit
from memman.recall.labels import labelled, standing_back
from memman.recall.query import understood
from memman.store.filters import Filters
from memman.store.postgres.server import Server
from memman.store.replica.store import ReplicaStore
from memman.store.sqlite import purge, undone
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.undo import Work
from tests.support.oracle import Oracle

LOCAL, TABLE = BuiltinEmbedder(), StaticTable()
MODELS = '{"extract":"builtin"}'
OTHER = Fingerprint("openai", "scripted", 16)
# The columns of what a table keeps, but for those that a store gives for itself or works out.
_TOLD = {
    "memory": "id, uid, note, text, category, importance, entities, keywords, summary, source, origin, valid_from,"
    " valid_to, recorded_at, retired_at, status, superseded_by, uses",
    "receipt": "note, at, outcome, facts, agent, session, cwd, repository, revision, host, user, drain, models",
    "meta": "key, value",
    "scoped": "memory, repository, path",
    "mention": "memory, name",
    "alias": "memory, name, means",
    "link": "src, kind, dst, weight, detail",
    "evidence": "memory, kind, session, at",
    "freshness": "memory, ends_at, verified_at",
    "file": "memory, path, blob, changed_at",
    "embedder": "id, provider, model, dimension",
    "vector": "embedder, memory, planes, squares",
    "rejected": "digest, at",
    "log": "id, at, verb, memory, note, before, after",
}
_FROM = {
    "scoped": "(SELECT memory, repository, path FROM scoped JOIN scope ON scope.id = scope)",
    "mention": "(SELECT memory, name FROM mention JOIN entity ON entity.id = entity)",
}
Whole = dict[str, list[tuple[Any, ...]]]


def told(db: apsw.Connection) -> Whole:
    """Return all that a store of SQLite keeps, by table."""
    found: Whole = {
        table: list(db.execute(f"SELECT {columns} FROM {_FROM.get(table, table)} ORDER BY 1, 2, 3"))
        if columns.count(",") > 1
        else list(db.execute(f"SELECT {columns} FROM {_FROM.get(table, table)} ORDER BY 1, 2"))
        for table, columns in _TOLD.items()
    }
    found["meta"] = [(key, value) for key, value in found["meta"] if not key.startswith((OWN, UNDONE))]
    found["log"] = [(*line[:-2], *(side and json.loads(side) for side in line[-2:])) for line in found["log"]]
    return found


def told_of(oracle: Oracle) -> Whole:
    """Return all that the oracle keeps, as `told` does."""
    state = oracle.state
    found: Whole = {
        "memory": [tuple(row) for row in state.memories.values()],
        "receipt": [tuple(receipt.values()) for receipt in state.receipts.values()],
        "meta": [*state.meta.items(), *([("linkers", json.dumps([*state.linkers.items()]))] if state.linkers else [])],
        "scoped": [(memory, *scope) for memory, scope in state.scopes.items()],
        "mention": [(memory, name) for memory, names in state.named.items() for name in names],
        "alias": [(memory, *pair) for memory, pairs in state.aliases.items() for pair in pairs],
        "link": [(*key, *value) for key, value in state.links.items()],
        "evidence": [(*key, *value) for key, value in state.evidence.items()],
        "freshness": [(memory, *value) for memory, value in state.freshness.items()],
        "file": [(*key, *value) for key, value in state.files.items()],
        "embedder": [(number, *astuple(made)) for made, number in state.embedders.items()],
        "vector": [(*key, *value) for key, value in state.vectors.items()],
        "rejected": list(state.rejected.items()),
        "log": [tuple(line.values()) for line in state.log.values()],
    }
    return {
        table: sorted(rows, key=lambda row: row[:4] if table == "link" else row[:3]) for table, rows in found.items()
    }


def search(
    reader: Any,
    table: StaticTable,
    query: str,
    filters: Filters,
    limit: int,
    intent: str | None = None,
    now: int | None = None,
) -> list[Hit]:
    """Return what is `answered` to `query`, as it is `understood` at `now`."""
    asked = understood(query, now, filters.as_of).grounded(reader, filters)
    return answered(reader, table, asked, filters, limit, intent)


class Subject:
    """One store under test."""

    def __init__(self) -> None:
        self.local = LOCAL

    # --- as the pipeline and people's verbs write ---

    def note(
        self,
        uid: str,
        texts: Sequence[str],
        at: int,
        *,
        session: str = "s",
        source: str = "user",
        began: int | None = None,
        scope: Scope = EVERYWHERE,
        held: bool = False,
        facts: Sequence[Fact] = (),
        also: Any = None,
    ) -> list[int]:
        """Store a note of some facts, indexed and embedded, in one transaction; `also` is done in it too.

        They are for all who share the store: in one's own nothing is kept apart.
        """
        began = at if began is None else began
        note = Note(uid, "default", "", began, provenance=Provenance(source, "agent", session, host="h", user="u"))
        said = [*facts, *(Fact(text, held="reads as an order" if held else "") for text in texts)]
        with self.unit() as unit:
            if not unit.receipt(note, at, "stored", len(said), "d1", MODELS):
                return []
            number = unit.embedder(OTHER)
            rows = [
                unit.add(
                    Draft(
                        memory_uid(uid, n), uid, fact, source, note.provenance.origin, began,
                        ((number, self.cell(number, far(fact.text)), *planes(far(fact.text))),), scope, "shared",
                    ),
                    at, held=held,
                )
                for n, fact in enumerate(said)
            ]  # fmt: skip
            if not held:
                context.index(unit, self.local, self.cell, rows)
            if also:
                also(unit, rows)
        return rows

    def moved(self, verb: str, rows: Sequence[int], at: int) -> dict[int, bool]:
        """Forget, restore or approve memories."""
        with self.unit() as unit:
            return {memory: getattr(unit, verb)(memory, at) for memory in dict.fromkeys(rows)}

    def undo(self, notes: Sequence[str], at: int) -> dict[int, tuple[str, str]]:
        """Take notes back."""
        with self.unit() as unit:
            return self._take_back(unit, notes, at)

    def purge(self, rows: Sequence[int], at: int) -> None:
        """Delete memories for good."""
        with self.unit() as unit:
            for memory in rows:
                unit.forget(memory, at)
            self._purge(unit, rows, at)

    # --- as recall reads ---

    def recall(self, query: str, filters: Filters, limit: int = 10, intent: str | None = None) -> list[tuple[Any, ...]]:
        """Return all that a recall shows, hit by hit."""
        reader = self.reader
        if filters.here is not None and not filters.anywhere:
            filters = filters.scoped(reader.scopes(filters.here, inside=filters.inside))
        hits = search(reader, TABLE, query, filters, limit, intent, now=NOW)
        hits = standing_back(labelled(reader, hits, filters.as_of or NOW))
        return [
            (
                *hit.row, hit.alike, hit.maybe_replaced_by, hit.behind, hit.via, hit.labels, hit.read.anchor.stands_for,
                hit.score, hit.confidence, hit.coverage, hit.cosine, hit.reliability,
            )
            for hit in hits
        ]  # fmt: skip


# When all questions are asked: 2033-05-18, in Unix milliseconds.
NOW = 2_000_000_000_000


def far(text: str) -> Any:
    """Make a vector of a text as an embedder elsewhere might: any, but always the same."""
    return np.random.default_rng(sum(text.encode("utf-8", "replace"))).normal(size=OTHER.dimension).astype(np.float32)


class InMemory(Subject):
    """The oracle."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = self.writer = Oracle()
        self.unit, self.cell = self.writer.unit, self.writer.cell

    def _take_back(self, unit: Oracle, notes: Sequence[str], at: int) -> dict[int, tuple[str, str]]:
        return unit.take_back(notes, at)

    def _purge(self, unit: Oracle, rows: Sequence[int], at: int) -> None:
        unit.purge(rows, at)

    def whole(self) -> Whole:
        """Return all that is kept."""
        return told_of(self.writer)

    def wholes(self) -> list[Whole]:
        """Return all that is kept, by each who keeps it."""
        return [self.whole()]

    def close(self) -> None:
        """Nothing is open."""


class OnDisk(Subject):
    """A store of SQLite, written by one connection and read by another."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.stores = [self._opened(folder)]
        self._turn = 0
        self._reader: SqliteReader | None = None

    def _opened(self, folder: Path) -> SqliteStore:
        folder.mkdir(parents=True, exist_ok=True)
        return SqliteStore(str(folder / "memman.db"))

    @property
    def writer(self) -> SqliteStore:
        """Whose turn it is."""
        return self.stores[self._turn % len(self.stores)]

    @property
    def reader(self) -> SqliteReader:
        """Read as recall does: from a file opened read-only, on the machine that wrote longest ago."""
        if self._reader is None:
            self._read.pull()
            self._reader = SqliteReader.open(self._read.path)
        return self._reader

    @property
    def _read(self) -> SqliteStore:
        """The machine that reads; where there are three, the next to write has yet to hear of the last change."""
        next_but_one = len(self.stores) > 2
        return self.stores[(self._turn + next_but_one) % len(self.stores)]

    def whole(self) -> Whole:
        """Return all that the machine keeps which reads."""
        return told(self.reader.db)

    @contextmanager
    def unit(self) -> Iterator[Any]:
        """Hold one write transaction; the next is another machine's."""
        self.shut()
        try:
            with self.writer.unit() as unit:
                yield unit
        finally:
            self._turn += 1

    def cell(self, embedder: int, vector: Any) -> int:
        """Return the cell of a vector."""
        return self.writer.cell(embedder, vector)

    def _take_back(self, unit: Any, notes: Sequence[str], at: int) -> dict[int, tuple[str, str]]:
        work = Work(unit)
        work.take_back(notes, at)
        statuses = work.settled()
        unit.record = None
        return statuses

    def _purge(self, unit: Any, rows: Sequence[int], at: int) -> None:
        purge.purge(unit, rows, at)
        undone.forget(unit.db, set(rows))

    def wholes(self) -> list[Whole]:
        """Return all that is kept, by each machine that keeps it."""
        for store in self.stores:
            store.pull()
        return [told(store.db) for store in self.stores]

    def shut(self) -> None:
        """Let go of what is read."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def close(self) -> None:
        """Close all."""
        self.shut()
        for store in self.stores:
            store.close()
        self.stores = []


class Shared(OnDisk):
    """Two machines that share a store of a server."""

    def __init__(self, folder: Path, dsn: str, name: str, machines: int) -> None:
        Subject.__init__(self)
        self.dsn, self.name, self.folder = dsn, name, folder
        self.joining: list[ReplicaStore] = []
        self.stores = [self.joined(f"host{n}") for n in range(machines)]
        self._turn = 0
        self._reader = None

    def joined(self, called: str) -> ReplicaStore:
        """Have one more machine share the store."""
        (self.folder / called).mkdir(parents=True)
        data = str(self.folder / called)
        store = ReplicaStore(data, f"{data}/memman.db", Server(self.dsn))
        store.connect(self.name, make=True)
        store.pull()
        self.joining.append(store)
        return store

    def close(self) -> None:
        """Close all that ever joined."""
        self.stores, self.joining = self.joining, []
        super().close()

    @cached_property
    def number(self) -> int:
        """The number of the store on the server."""
        return self.stores[0].number

    def on_server(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Ask the server itself about the store."""
        with closing(Server(self.dsn)) as server, server.db.transaction():
            server.db.execute("SELECT set_config('memman.store', %s, true)", (str(self.number),))
            return server.db.execute(sql, values).fetchall()


def alike(one: Sequence[tuple[Any, ...]], other: Sequence[tuple[Any, ...]]) -> bool:
    """Whether two recalls show the same in the same order, scores within 10⁻⁹."""
    return len(one) == len(other) and all(
        a == b or (isinstance(a, float) and isinstance(b, float) and abs(a - b) <= 1e-9)
        for mine, its in zip(one, other, strict=True)
        for a, b in zip(mine, its, strict=True)
    )


KINDS = ("memory", "sqlite", "postgres")
_numbers = count()


@contextmanager
def made(dsn: str) -> Iterator[Callable[..., Subject]]:
    """Make stores, closed at the end: `make("postgres", machines=3)`, `make("sqlite")`, `make("memory")`."""
    opened: list[Subject] = []
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - nothing need last
    with tempfile.TemporaryDirectory(dir=memory) as quick:

        def make(kind: str, machines: int = 2) -> Subject:
            number = next(_numbers)
            folder = Path(quick) / str(number)
            match kind:
                case "memory":
                    opened.append(InMemory())
                case "sqlite":
                    opened.append(OnDisk(folder))
                case _:
                    opened.append(Shared(folder, dsn, f"store{os.getpid()}-{number}", machines))
            return opened[-1]

        yield make
        for one in opened:
            one.close()
