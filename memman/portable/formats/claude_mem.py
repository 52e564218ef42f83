"""claude-mem's database: observations, summaries of sessions, prompts, and standing directives."""

import json
import os
from collections.abc import Iterator
from typing import Any

import apsw

from memman.portable import files
from memman.portable.incoming import Format, Found, Item

_FILE = "claude-mem.db"
_NEEDED = {"observations": {"title", "narrative", "project"}, "session_summaries": {"learned"}}
# What of a summary tells something that lasts.
_SUMMED = ("learned", "completed", "notes")
_CATEGORIES = {"decision": "decision", "discovery": "insight"}
_LACKS = (
    "prompts, signals of use, and what claude-mem has not worked through",
    "narratives of observations that have facts, and what summaries say of what was asked, looked at and comes next",
    "directives that are not in force",
    "subtitles, concepts, names of files and counts of tokens, and titles of what says more",
    "repositories: a project is known by its name alone",
)


def _path(path: str) -> str:
    return f"{path}/{_FILE}" if os.path.isdir(path) else path


def _fits(path: str) -> bool:
    found = files.tables(_path(path))
    return all(columns <= found.get(table, set()) for table, columns in _NEEDED.items())


def _read(path: str) -> Found:
    path, there = _path(path), files.tables(_path(path))
    with files.database(path) as db:
        items = [*_observations(db), *_summaries(db), *(_directives(db) if "directives" in there else ())]
        return Found(tuple(items), _LACKS)


def _project(db: apsw.Connection, table: str) -> str:
    """Return what names the project of a row: it may have been merged into another."""
    return "coalesce(merged_into_project, project)" if "merged_into_project" in _columns(db, table) else "project"


def _observations(db: apsw.Connection) -> Iterator[Item]:
    session, project = _named_session(db, "observations"), _project(db, "observations")
    sql = f"SELECT id, {session}, {project}, type, title, narrative, facts, text, created_at_epoch FROM observations"
    for number, thread, project, kind, title, narrative, facts, text, at in db.execute(f"{sql} ORDER BY 9, 1"):
        said = _listed(facts) or [narrative or text or title]
        for n, one in enumerate(said):
            key, category = f"observation {number}/{n}", _CATEGORIES.get(kind)
            yield _item(one, key, at, project, thread, category=category)


def _summaries(db: apsw.Connection) -> Iterator[Item]:
    session, project = _named_session(db, "session_summaries"), _project(db, "session_summaries")
    sql = f"SELECT id, {session}, {project}, created_at_epoch, {', '.join(_SUMMED)} FROM session_summaries"
    for number, thread, project, at, *said in db.execute(f"{sql} ORDER BY 4, 1"):
        for name, text in zip(_SUMMED, said, strict=True):
            yield _item(text, f"summary {number}/{name}", at, project, thread)


def _directives(db: apsw.Connection) -> Iterator[Item]:
    sql = "SELECT id, coalesce(project, ''), content, created_at_epoch FROM directives WHERE status = 'active'"
    for number, project, text, at in db.execute(f"{sql} ORDER BY 4, 1"):
        yield _item(text, f"directive {number}", at, project, "")


def _item(text: Any, key: str, at: Any, project: Any, session: Any, category: str | None = None) -> Item:
    # A repository that a person gives the project's name to shares what is known of it: `memman scope name`.
    whose = f"scope:{project}" if project else ""
    said = at if isinstance(at, int) else 0
    session = str(session or "")
    agent = "claude-mem" if session else ""
    text = text if isinstance(text, str) else ""
    return Item(text, key, said, category=category, repository=whose, agent=agent, session=session)


def _named_session(db: apsw.Connection, table: str) -> str:
    """Return the column that names the session: it was renamed once."""
    names = _columns(db, table)
    return next((name for name in ("memory_session_id", "sdk_session_id") if name in names), "''")


def _columns(db: apsw.Connection, table: str) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _listed(facts: str | None) -> list[str]:
    try:
        found = json.loads(facts or "[]")
    except ValueError:
        return []
    return [one for one in found if isinstance(one, str) and one.strip()] if isinstance(found, list) else []


FORMAT = Format("claude-mem", "the database of claude-mem", _fits, _read)
