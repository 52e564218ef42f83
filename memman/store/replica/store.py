"""A replica opened for writing: what it writes, the server takes first, in this host's turn."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from memman.clock import now_ms
from memman.config.buried import bury_texts
from memman.config.filesystem import ensure_safe_folder, refuse_shared
from memman.config.places import store_path
from memman.config.tombstones import bury
from memman.model.errors import NewerSchema, NoServer, NotSetUp, ServerRefused
from memman.sqlite import LISTED, Transaction, TranslatedErrors, id_list
from memman.store.opening import address
from memman.store.postgres import turn
from memman.store.postgres.server import Connection, Server
from memman.store.postgres.turn import Feed, Turn
from memman.store.replica import authorship, position, reach
from memman.store.replica.apply import apply
from memman.store.replica.capture import Groups, captured, listed
from memman.store.replica.detached import refuse_unaddressed
from memman.store.sqlite import traces
from memman.store.sqlite.purge import forget_samples
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.traces import Gone
from memman.store.tables import TABLES

# Tables whose rows get numbers that are never given again.
_NUMBERED = ("memory", "log", "rule")
_OTHERS = " UNION ALL ".join(
    f"SELECT '{name}', {column} FROM memman.{table} WHERE store = %(store)s AND author <> current_user"
    " AND NOT (SELECT memman.is_member(current_user, %(store)s, '{own}'))"
    for name, table, column in (("memory", "authorship", "memory"), ("rule", "rule", "id"))
)
_READ_ONLY = {
    reach.READ: "this role may only read the store on the server {}",
    reach.COPY: "the server {} is a read-only copy: give the address of the primary",
}


class ReplicaStore(SqliteStore):
    """A replica of one store of a server; `connect` says of which."""

    def __init__(self, data: str, path: str, server: Server) -> None:
        super().__init__(path)
        self.data, self.server = data, server

    @classmethod
    def connected(cls, data: str, name: str, dsn: str) -> Self:
        """Open the replica `name` below the data folder; the server is asked for nothing yet."""
        path = store_path(data, name)
        ensure_safe_folder(data)
        refuse_shared(data, path)
        return cls(data, path, Server(dsn))

    @classmethod
    def at(cls, data: str, path: str, name: str) -> Self:
        """Open another replica of what the store `name` is one of, at `path`. Raises NotSetUp."""
        refuse_unaddressed(data, name)
        return cls(data, path, Server(address(data, name)))

    def connect(self, name: str, *, make: bool) -> None:
        """Make this a replica of the store `name`. Raises NoServer and ServerRefused."""
        number = self.server.store(name, make=make)
        if number is None:
            raise ServerRefused(f"the server {self.server} has no store {name!r} that this role is a member of")
        with TranslatedErrors(self.path), Transaction(self.db):
            position.connect(self.db, self.server.id(), number, self.server.known.role)
        if reach.last(self.path) is None:
            reach.filling(self.path)

    @property
    def number(self) -> int:
        """The number of the store on the server. Raises ServerRefused where that is another server now."""
        return position.same_store(self.db, self.server, self.path)

    def pull(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Bring in what others have changed; return how much. Killed meanwhile, the next goes on.

        Raises NoServer and ServerRefused, where recall goes on with what is here.
        """
        brought = total = 0
        with self._reached():
            number = self.number
            while True:
                with self.server.transaction() as db:
                    feed = turn.look(self.server, db, number, position.position(self.db))
                    if progress and not total:
                        total = turn.pending(db, number, position.position(self.db))
                    db.execute("COMMIT")
                brought += self._bring_in(feed)
                if progress and brought:
                    progress(brought, max(brought, total))
                if not feed.more:
                    reach.reached(self.path, now_ms(), feed.may)
                    return brought

    def check_writing(self) -> None:
        """Raise ServerRefused where the server lets us only read, and NoServer where it is out of reach."""
        with self._reached():
            number = self.number
            with self.server.transaction() as db:
                may = turn.look(self.server, db, number, position.END).may
        why = _READ_ONLY.get(may)
        if why:
            raise ServerRefused(why.format(self.server))

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Take note where the server does not answer, or not as it should."""
        try:
            with self.server.translated():
                yield
        except (NoServer, ServerRefused, NewerSchema, NotSetUp) as error:
            reach.missed(self.path, self.server.cause(error))
            raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold one transaction of the server and then the replica; what the latter lacks its next pull brings."""
        with self._reached():
            number = self.number
        with TranslatedErrors(self.path), self.server.transaction() as db:
            with self._reached():
                held = self._begun(db, number)
                self._follow(db, number, held.feed)
            with captured(self.db) as changed, Transaction(self.db):
                self.number_rows(held.numbers)
                yield
                if groups := changed():
                    authorship.sign(self.db, self.server.known.role, groups)
                    groups = authorship.told(self.db, changed())
                    position.move(self.db, (held.seq + 1, position.WHOLE, ""))
                    numbers = self._numbers(held.numbers)
                    rows = self._rows(groups)
                    with self._reached():
                        turn.push(db, number, held.seq + 1, rows, numbers, held.numbers)
                else:
                    db.execute("COMMIT")

    def close(self) -> None:
        """Close the replica, and the connection to its server."""
        self.server.close()
        super().close()

    def _rows(self, groups: Groups) -> dict[str, Any]:
        return {
            name: (groups[name], table.read(self.db, listed(groups[name])))
            for name, table in TABLES.items()
            if name in groups
        }

    def _begun(self, db: Connection, number: int) -> Turn:
        """Wait for the turn; where more than a page came before it, bring that in first, while others have theirs."""
        held = turn.begin(self.server, db, number, position.position(self.db))
        if held.feed.more:
            db.execute("ROLLBACK")
            self.pull()
            held = turn.begin(self.server, db, number, position.position(self.db))
        return held

    def _follow(self, db: Connection, number: int, feed: Feed) -> None:
        """Bring in, amid a turn, all that came before it."""
        self._bring_in(feed)
        while feed.more:
            feed = turn.more(db, number, feed.to)
            self._bring_in(feed)

    def _bring_in(self, feed: Feed) -> int:
        found = feed.changes
        if not found:
            return 0
        with TranslatedErrors(self.path), Transaction(self.db):
            gone = self._going(found)
            apply(self.db, found)
            position.move(self.db, feed.to)
            if "memory" in found:
                position.heard(self.db, feed.to)
            if gone:
                self._bury(gone)
        self.reader.forget_partitions()
        return sum(len(groups) for groups, _ in found.values())

    def _going(self, found: Mapping[str, Any]) -> dict[int, tuple[Any, ...]]:
        """Return, by row, uid, successor, note, text and summary of the memories here that the server has not."""
        groups, rows = found.get("memory", ((), ()))
        gone = id_list(set(groups) - {row[0] for row in rows})
        sql = f"SELECT id, uid, superseded_by, note, text, summary FROM memory WHERE id {LISTED} ORDER BY id"
        return {memory: row for memory, *row in self.db.execute(sql, (gone,))}

    def _bury(self, gone: Mapping[int, tuple[Any, ...]]) -> None:
        """Keep what others purged from coming back here; the next drain sees to its bytes and traces."""
        sql = f"SELECT DISTINCT memory FROM log WHERE verb = 'purge' AND memory {LISTED}"
        uids = {uid for (uid,) in self.db.execute(sql, (json.dumps([row[0] for row in gone.values()]),))}
        if purged := [row for row in gone.values() if row[0] in uids]:
            bury_texts(self.data, [said for *_, text, summary in purged for said in (text, summary)])
            bury(self.data, [(note, uid) for uid, _, note, *_ in purged], now_ms())
        forget_samples(self.db)
        position.drop(self.db)
        position.lose(self.db, {memory: Gone(row[0], row[1], row[0] in uids) for memory, row in gone.items()})

    def settle(self) -> None:
        """Take out of rows that only we see what they say of memories that others took from us."""
        if position.gone(self.db) and reach.may(self.path) not in _READ_ONLY:
            with self.unit() as unit:
                traces.settle(unit.db, position.gone(unit.db))
                position.settled(unit.db)

    def others(self) -> set[tuple[str, int]]:
        """Return table and row of the memories and rules that only others may change, amid a transaction."""
        return set(self.server.db.execute(_OTHERS, {"store": self.number}).fetchall())

    def number_rows(self, numbers: Mapping[str, int]) -> None:
        """Have new rows get numbers that no host has given."""
        for name in _NUMBERED:
            self.db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            self.db.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, numbers.get(name, 0)))

    def _numbers(self, before: Mapping[str, int]) -> dict[str, int]:
        now: dict[str, int] = dict(self.db.execute("SELECT name, seq FROM sqlite_sequence"))
        return {name: max(now.get(name, 0), before.get(name, 0)) for name in _NUMBERED}
