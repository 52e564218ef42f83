"""What memman asks a server in turns and pulls, explained as a role that row-level security binds."""

import asyncio
import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from typing import Any

from bench import bulk
from memman.model.records import Hints
from memman.store.postgres import turn
from memman.store.postgres.server import Server
from memman.store.replica.store import ReplicaStore
from tests.support.plans import Plan, recorded

_FIRST = (0, "", "")
_NOTES = 5


def statements(owner: str, data: str, member: str, first: int) -> list[dict[str, Any]]:
    """Return each kind of statement of a note's turn, of the pull after it, and of a pull of everything.

    `first` is the number of the first note that is stored for it, by the owner's machine whose data folder is `data`.
    """
    found = []
    with closing(ReplicaStore.connected(data, "default", owner)) as store:
        began = store.number, _now(store)
        with recorded() as plans:
            write(store, first, _NOTES)
        found += _kinds("turn", plans)
    for kind, after in (("pull", began[1]), ("fill", _FIRST)):
        with recorded() as plans:
            _follow(member, began[0], after)
        found += _kinds(kind, plans)
    return found


def write(store: ReplicaStore, first: int, count: int) -> None:
    """Have notes number `first` to `first + count - 1` stored for all who share the store, each in a turn."""
    for plan in bulk.understood(first, count):
        asyncio.run(bulk.write(store, replace(plan, note=replace(plan.note, hints=Hints(visibility="shared")))))


def _now(store: ReplicaStore) -> turn.Position:
    with store.server.transaction() as db:
        told = db.execute("SELECT seq FROM memman.store WHERE id = %s", (store.number,)).fetchone() or (0,)
        return int(told[0]), "~", ""


def _follow(dsn: str, number: int, after: turn.Position) -> None:
    """Ask for all that changed after a position, page by page as a pull does, and keep none of it."""
    with closing(Server(dsn)) as server:
        more = True
        while more:
            with server.transaction() as db:
                feed = turn.look(server, db, number, after)
                db.execute("COMMIT")
            after, more = feed.to, feed.more


def _kinds(where: str, plans: Iterable[Plan]) -> list[dict[str, Any]]:
    """Put statements together that do the same to the same table; of each kind the one that touched most pages."""
    kinds: dict[str, list[Plan]] = {}
    for plan in plans:
        kinds.setdefault(f"{where}: {_kind(plan.statement)}", []).append(plan)
    return [_told(kind, some) for kind, some in kinds.items()]


def _told(kind: str, some: list[Plan]) -> dict[str, Any]:
    worst = max(some, key=lambda plan: plan.pages)
    return {
        "statement": kind,
        "n": len(some),
        "planning_ms": worst.planning,
        "execution_ms": worst.execution,
        "pages": worst.pages,
        "given": worst.given,
        "read": worst.read,
        "indexes": list(dict.fromkeys(name for plan in some for name in plan.indexes)),
        "scanned": list(dict.fromkeys(name for plan in some for name in plan.scanned)),
        "wasteful": sum(plan.wasteful for plan in some),
    }


def _kind(statement: str) -> str:
    """Name a statement by its verb and its table."""
    verb = statement.split(None, 1)[0]
    tables = re.findall(r'(?:FROM|INTO|UPDATE) "?memman"?\."?(\w+)', statement)
    return f"{verb} {tables[-1] if verb == 'SELECT' and tables else (tables or ['settings'])[0]}"
