"""Which rows a transaction changed."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import apsw

from memman.model.vocabulary import OWN
from memman.store.tables import TABLES

# Table -> the groups of it that changed, in the order in which they first did.
Groups = Mapping[str, list[Any]]


@contextmanager
def captured(db: apsw.Connection) -> Iterator[Callable[[], Groups]]:
    """Watch what is written to the tables that hosts share; what it gives tells the groups changed so far."""
    session = apsw.Session(db, "main")
    session.table_filter(lambda name: name in TABLES)
    session.attach()
    places = {name: _columns(db, name).index(table.group) for name, table in TABLES.items()}
    try:
        yield lambda: _groups(session, places)
    finally:
        session.close()


def _columns(db: apsw.Connection, table: str) -> list[str]:
    return [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,))]


def _groups(session: apsw.Session, places: Mapping[str, int]) -> Groups:
    found: dict[str, dict[Any, None]] = {}
    for change in apsw.Changeset.iter(session.changeset()):
        row: Any = change.new if change.op == "INSERT" else change.old
        group = row[places[change.name]]
        if change.name == "meta" and group.startswith(OWN):
            continue
        found.setdefault(change.name, {})[group.hex() if isinstance(group, bytes) else group] = None
    return {name: list(groups) for name, groups in found.items()}


def listed(groups: list[Any]) -> str:
    """Write groups as a JSON list."""
    return json.dumps(groups, ensure_ascii=False)
