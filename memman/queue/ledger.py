"""What the providers gave for each note, so that nothing is paid for twice, and what they cost."""

import time
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import apsw

from memman.model.objects import parsed
from memman.model.records import Usage
from memman.sqlite import TranslatedErrors

COLUMNS = ("day", "stage", "provider", "model", "calls", "tokens_in", "tokens_out", "cost", "unpriced")
_KEPT_DAYS = 400
# The repository that the work at hand is for; each note of a drain is a task of its own.
WORKED_FOR: ContextVar[str] = ContextVar("worked_for", default="")
# No call takes so many tokens; a provider that says so must not overflow a column.
_MOST_TOKENS = 10**9
_ENTER = """
INSERT INTO ledger(day, stage, provider, model, calls, tokens_in, tokens_out, cost, unpriced, repository)
VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + 1,
tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out,
cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced
"""


def today() -> str:
    """Return the current day, UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime())


class Journal:
    """What each paid stage of each note gave; over a queue's open connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db

    def read(self, note: str, stage: str, version: str) -> str | None:
        """Return a stage's output for `note`, None where it has none of this version, or what is no JSON."""
        sql = "SELECT CAST(output AS BLOB) FROM journal WHERE note = ? AND stage = ? AND version = ?"
        with TranslatedErrors(self.db.filename):
            text = str(self.db.execute(sql, (note, stage, version)).get or b"", "utf-8", "replace")
        return None if parsed(text) is None else text

    def write(self, note: str, stage: str, version: str, output: str) -> None:
        """Keep a stage's output for `note`. The note has got further, so its attempts count afresh."""
        with TranslatedErrors(self.db.filename):
            sql = "INSERT OR REPLACE INTO journal(note, stage, version, output) VALUES (?, ?, ?, ?)"
            self.db.execute(sql, (note, stage, version, output))
            self.db.execute("UPDATE note SET attempts = 1 WHERE uid = ? AND attempts > 1", (note,))


class Ledger:
    """What was spent by day, stage and repository; over a queue's open connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db

    def enter(
        self, stage: str, provider: str, model: str, usage: Usage, parts: Mapping[str, int] | None = None
    ) -> None:
        """Add one call to today's account of its repository, or of that which has the most of its `parts`."""
        parts = parts or {WORKED_FOR.get(): 1}
        tokens = (min(count, _MOST_TOKENS) for count in (usage.tokens_in, usage.tokens_out))
        repository = max(parts, key=lambda one: parts[one])
        row = (today(), stage, provider, model, *tokens, usage.cost or 0.0, usage.cost is None, repository)
        with TranslatedErrors(self.db.filename):
            self.db.execute(_ENTER, row)

    def spent_today(self) -> tuple[float, int, int]:
        """Return today's dollars and tokens, and how often a model was called."""
        sql = (
            "SELECT coalesce(sum(cost), 0.0), coalesce(sum(tokens_in + tokens_out), 0),"
            " coalesce(sum(calls) FILTER (WHERE stage <> 'embed'), 0) FROM ledger WHERE day = ?"
        )
        with TranslatedErrors(self.db.filename):
            cost, tokens, calls = self.db.execute(sql, (today(),)).get
        return cost, tokens, calls

    def days(self, limit: int) -> list[dict[str, Any]]:
        """Return the newest entries, as dicts of COLUMNS."""
        sums = ", ".join(f"sum({name})" for name in COLUMNS[4:])
        sql = f"SELECT day, stage, provider, model, {sums} FROM ledger GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2, 3, 4"
        rows = self.db.execute(f"{sql} LIMIT ?", (limit,))
        return [dict(zip(COLUMNS, row, strict=True)) for row in rows]

    def spent_since(self, day: str) -> list[dict[str, Any]]:
        """Return what was spent from a day on, newest first, by day, stage, model and repository."""
        names = (*COLUMNS, "repository")
        order = "day DESC, stage, provider, model, repository"
        sql = f"SELECT {', '.join(names)} FROM ledger WHERE day >= ? ORDER BY {order}"
        return [dict(zip(names, row, strict=True)) for row in self.db.execute(sql, (day,))]

    def maintain(self) -> None:
        """Keep the accounts of the newest _KEPT_DAYS days that have any, whatever day the clock says it is."""
        kept = "SELECT DISTINCT day FROM ledger ORDER BY day DESC LIMIT ?"
        self.db.execute(f"DELETE FROM ledger WHERE day NOT IN ({kept})", (_KEPT_DAYS,))
