"""The plans of all that memman sends to a server, each taken amid the transaction that the statement is part of.

    with recorded() as plans:
        store.pull()
    assert not [plan.statement for plan in plans if plan.wasteful]

Every message is sent statement by statement meanwhile; each is explained, which runs it, taken back, and run.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from psycopg import ClientCursor

from memman.store.postgres import turn
from memman.store.postgres.server import Connection

_BEYOND_EXPLAINING = ("BEGIN", "COMMIT")
# Rows that may be read beside those that are given: of tables that fit into a page, where no index is worth its while.
_BESIDE = 60
# Rows read for each that is given: itself, and what says who may see it; of an edge both its ends do.
_EACH = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """How one statement was run.

    Times are milliseconds, `pages` of 8 KiB those that it touched; `given` are the rows that it returns or writes,
    `read` those that were looked at for them, `nodes` what it is made of, outermost first. `compiled` is told only by
    a server that can.
    """

    statement: str
    planning: float
    execution: float
    pages: int
    given: int
    read: int
    compiled: bool
    nodes: Sequence[dict[str, Any]]

    @property
    def wasteful(self) -> bool:
        """Whether more was read than the rows that were asked for, and who may see them."""
        return self.read > _EACH * self.given + _BESIDE

    @property
    def indexes(self) -> list[str]:
        """The indexes that are used, each once."""
        return list(dict.fromkeys(node["Index Name"] for node in self.nodes if "Index Name" in node))

    @property
    def scanned(self) -> list[str]:
        """The tables of which every row was read."""
        return [node["Relation Name"] for node in self.nodes if node["Node Type"] == "Seq Scan"]


@contextmanager
def recorded() -> Iterator[list[Plan]]:
    """Give the plans of all statements that turns and pulls of this process send meanwhile."""
    plans: list[Plan] = []

    def batch(db: Connection, *statements: turn.Statement, **_: float) -> list[list[Any]]:
        found = []
        with ClientCursor(db) as cursor:
            for query, values in statements:
                said = cursor.mogrify(query, values)
                if not said.startswith(_BEYOND_EXPLAINING):
                    plans.append(_explained(db, said))
                cursor.execute(said.encode())
                if cursor.description:
                    found.append(cursor.fetchall())
        return found

    with patch.object(turn, "batch", batch):
        yield plans


def _explained(db: Connection, said: str) -> Plan:
    with ClientCursor(db) as cursor:
        cursor.execute(b"SAVEPOINT explained")
        cursor.execute(b"EXPLAIN (ANALYZE, BUFFERS, VERBOSE, FORMAT JSON) " + said.encode())
        ((told,),) = cursor.fetchone() or (([],),)
        cursor.execute(b"ROLLBACK TO SAVEPOINT explained")
        cursor.execute(b"RELEASE SAVEPOINT explained")
    plan = told["Plan"]
    pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    nodes = list(_nodes(plan))
    source = plan if plan["Node Type"] != "ModifyTable" else next(_below(plan, "Outer"))
    times = told["Planning Time"], told["Execution Time"]
    return Plan(said, *times, pages, _rows(source), sum(map(_looked_at, nodes)), "JIT" in told, nodes)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def _below(plan: dict[str, Any], how: str) -> Iterator[dict[str, Any]]:
    return (node for node in plan["Plans"] if node["Parent Relationship"] == how)


def _looked_at(node: dict[str, Any]) -> int:
    """Count the rows of tables that a node took a look at."""
    looks = "Relation Name" in node and node["Node Type"] != "ModifyTable"
    return _rows(node) + round(node.get("Rows Removed by Filter", 0) * node["Actual Loops"]) if looks else 0


def _rows(node: dict[str, Any]) -> int:
    return round(node["Actual Rows"] * node["Actual Loops"])
