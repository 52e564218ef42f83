"""Members of a store on a server, each with a store and a connection of their own, in this process."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from memman.model.records import Draft, Fact, Note, Provenance, Scope
from memman.model.uid import memory_uid, new_uid
from memman.store.postgres.exchange import connect, exchange
from memman.store.postgres.server import Server
from memman.store.records import Parts, Record
from memman.store.sqlite import index, record_log, words
from memman.store.sqlite.store import SqliteStore
from tests.support.postgres import Database

REPOSITORY = Scope("example.org/harbour")


class Member:
    """A role, or one of its machines: what it does stays here until it `meets` the server."""

    def __init__(self, database: Database, role: str, folder: Path, dsn: str = "") -> None:
        self.store = SqliteStore(f"{folder}/memman.db")
        self.server = Server(dsn or database.dsn(role))
        number = self.server.store("team", make=True)
        assert number
        self.number = number
        connect(self.store, self.server, number)

    def meet(self) -> int:
        """Exchange with the server; return how many records came."""
        return exchange(self.store, self.server, self._take)

    def _take(self, records: Sequence[Record], seen: Mapping[str, int]) -> list[Record]:  # noqa: ARG002 - nothing is compared
        with self.store.unit() as unit:
            new = record_log.add(unit.db, records)
            unit.follow(new)
        return new

    def tell(self, text: str, *, private: bool = False, at: int = 1) -> str:
        """Store a memory, of a note of its own; return its uid."""
        note = Note(new_uid(at), "team", text, at, provenance=Provenance(cwd=text if private else ""))
        with self.store.unit() as unit:
            unit.receipt(note, at, "stored", 1)
            uid = memory_uid(note.uid, 0)
            scope = Scope() if private else REPOSITORY
            row = unit.add(Draft(uid, note.uid, Fact(text, entities=("heron",)), "user", "@", at, (), scope), at)
            words.index(unit.db, [row])
        return uid

    def row(self, uid: str) -> int:
        """Return the row of a memory here."""
        row = index.row_of(self.store.db, uid)
        assert row, uid
        return row

    def states(self) -> dict[str, Parts]:
        """Return the state of everything, by uid, but for who is meant by nobody."""
        ours, found = self.server.known.role, {}
        for uid in record_log.memories(self.store.db):
            state = index.state(self.store.db, uid)
            if "text" in state:
                state = {"author": ours, "retired_by": ours} | state
            found[uid] = state
        return {uid: state for uid, state in found.items() if state}

    def texts(self) -> list[str]:
        """Return what this machine recalls."""
        sql = "SELECT text FROM memory WHERE status = 'current' ORDER BY text"
        return [text for (text,) in self.store.db.execute(sql)]

    def push(self, *said: dict[str, Any], host: str = "hostile") -> None:
        """Send the server what no memman would, in the shape of what it would, from a host named after `host`."""
        host = host if re.fullmatch("[0-9a-f]{16}", host) else blake2b(host.encode(), digest_size=8).hexdigest()
        given = [
            {"n": n, "at": 5, "act": f"act{host}{n}", "kind": "learned", "body": "", "author": "",
             "visibility": ""} | one
            for n, one in enumerate(said, 1)
        ]  # fmt: skip
        with self.server.translated():
            self.server.db.execute("SELECT memman.push(%s, %s, %s)", (self.number, host, json.dumps(given)))

    def close(self) -> None:
        """Close both."""
        self.store.close()
        self.server.close()


@contextmanager
def members(database: Database, folder: Path, roles: Sequence[str], **may: str) -> Iterator[dict[str, Member]]:
    """Hold a store that the first of some roles owns; `may` says what others may do but write."""
    found: dict[str, Member] = {}
    for role in roles:
        dsn = database.role(role, "memman_writer")
        if found:
            with closing(Server(database.dsn(roles[0]))) as server:
                admit = "SELECT memman.admit(%s, %s, %s)"
                server.db.execute(admit, (found[roles[0]].number, database.called(role), may.get(role, "write")))
        (folder / role).mkdir(exist_ok=True)
        found[role] = Member(database, role, folder / role, dsn)
    try:
        yield found
    finally:
        for one in found.values():
            one.close()
