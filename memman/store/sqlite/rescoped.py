"""Giving all that holds for one repository to another identity, memories and rules: in one transaction."""

from collections.abc import Collection, Sequence

from memman.model.records import Scope
from memman.sqlite import LISTED, id_list
from memman.store.sqlite import rules, scopes
from memman.store.sqlite.unit import SqliteUnit

MEMORY, RULE = "memory", "rule"
# What moves, by its kind and uid, and its scopes before and afterwards as (repository, path).
Move = tuple[str, str, Sequence[str], Sequence[str]]

_HELD = {
    MEMORY: "SELECT m.uid, repository, path FROM memory m JOIN scoped ON memory = m.id JOIN scope ON scope.id = scope",
    RULE: "SELECT rule.uid, repository, path FROM rule JOIN scope ON scope.id = rule.scope",
}


def planned(unit: SqliteUnit, former: Collection[str], identity: str) -> list[Move]:
    """Return what has to move so that all that holds for the identities `former` holds for `identity`."""
    numbers = frozenset[int]().union(*(scopes.holding(unit.db, one) for one in former if one))
    numbers -= scopes.holding(unit.db, identity)
    listed = id_list(numbers)
    return [
        (kind, uid, (repository, path), (identity, path))
        for kind, held in _HELD.items()
        for uid, repository, path in unit.db.execute(f"{held} WHERE scope.id {LISTED} ORDER BY 1", (listed,))
    ]


def move(unit: SqliteUnit, moves: Collection[Move], at: int) -> list[Move]:
    """Do those of `moves` that are still to be done, and return them: what is elsewhere by now, or gone, stays."""
    done = []
    for one in moves:
        kind, uid, before, after = one
        row = unit.db.execute(f"{_HELD[kind]} WHERE uid = ?", (uid,)).fetchone()
        if row is None or [*row[1:]] != [*before]:
            continue
        if kind == RULE:
            rules.move(unit, uid, Scope(*before), Scope(*after), at)
        else:
            unit.move(unit.db.execute("SELECT id FROM memory WHERE uid = ?", (uid,)).get, Scope(*after), at)
        done.append(one)
    return done
