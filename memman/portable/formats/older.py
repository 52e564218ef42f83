"""Stores of memman 0.15 to 0.51, another program of this name: a database, or the data folder with several."""

import json
import os
from collections.abc import Iterator, Mapping
from glob import escape, glob
from typing import Any

from memman.model.moments import ms
from memman.model.vocabulary import CATEGORIES
from memman.portable import files
from memman.portable.incoming import Format, Found, Item

_NEEDED = {"id", "content", "created_at", "deleted_at"}
_WANTED = ("category", "importance", "entities", "replaced_by")
_LACKS = ("summaries, embeddings, counts of use and the log", "what was deleted ({deleted})", "edges ({edges})")


def _paths(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    return sorted(glob(f"{escape(path)}/data/*/memman.db")) or sorted(glob(f"{escape(path)}/memman.db"))


def _fits(path: str) -> bool:
    return any(files.tables(one).get("insights", set()) >= _NEEDED for one in _paths(path))


def _read(path: str) -> Found:
    items: list[Item] = []
    counts = {"deleted": 0, "edges": 0}
    for one in _paths(path):
        there = files.tables(one)
        if not there.get("insights", set()) >= _NEEDED:
            continue
        with files.database(one) as db:
            names = [name for name in _WANTED if name in there["insights"]]
            sql = f"SELECT id, content, created_at, {', '.join([*names, 'deleted_at'])} FROM insights ORDER BY 3, 1"
            rows = [
                dict(zip(("id", "content", "created_at", *names, "deleted_at"), row, strict=True))
                for row in db.execute(sql)
            ]
            counts["edges"] += db.execute("SELECT count(*) FROM edges").get if "edges" in there else 0
        counts["deleted"] += sum(bool(row["deleted_at"]) for row in rows)
        items += _items([row for row in rows if not row["deleted_at"]])
    return Found(tuple(items), tuple(said.format(**counts) for said in _LACKS))


def _items(rows: list[dict[str, Any]]) -> Iterator[Item]:
    before = {row["replaced_by"]: row["id"] for row in rows if row.get("replaced_by")}
    for row in rows:
        category, importance = row.get("category"), row.get("importance")
        yield Item(
            row["content"] or "",
            key=str(row["id"]),
            at=ms(str(row["created_at"] or "")),
            category=category if category in CATEGORIES else None,
            importance=importance if importance in range(1, 6) else None,
            entities=_entities(row),
            replaces=str(before.get(row["id"], "")),
        )


def _entities(row: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        return tuple(one for one in json.loads(row.get("entities") or "[]") if isinstance(one, str))
    except (ValueError, TypeError):
        return ()


FORMAT = Format("memman-older", "a store of memman 0.15 to 0.51", _fits, _read)
