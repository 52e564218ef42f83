"""What the providers cost, by day and stage."""

import time
from collections.abc import Sequence
from typing import Any

import apsw

from memman.model.records import Usage
from memman.sqlite import TranslatedErrors

COLUMNS = ("day", "stage", "provider", "model", "calls", "tokens_in", "tokens_out", "cost", "unpriced")
SUMMED = ("calls", "tokens_in", "tokens_out", "cost")
_KEPT_DAYS = 400
# No call takes so many tokens; a provider that says so must not overflow a column.
_MOST_TOKENS = 10**9


def today() -> str:
    """Return the current day, UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime())


class Ledger:
    """The ledger of one queue, over its open connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db

    def enter(self, stage: str, provider: str, model: str, usage: Usage) -> None:
        """Add one call to today's account."""
        tokens_in, tokens_out = min(usage.tokens_in, _MOST_TOKENS), min(usage.tokens_out, _MOST_TOKENS)
        sql = (
            "INSERT INTO ledger VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + 1,"
            " tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out,"
            " cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced"
        )
        row = (today(), stage, provider, model, tokens_in, tokens_out, usage.cost or 0.0, usage.cost is None)
        with TranslatedErrors(self.db.filename):
            self.db.execute(sql, row)

    def spent_today(self, of: Sequence[str] = ()) -> tuple[float, int, int]:
        """Return today's dollars and tokens, and how often a model was called; of providers `of`, by default of all."""
        sql = (
            "SELECT coalesce(sum(cost), 0.0), coalesce(sum(tokens_in + tokens_out), 0),"
            " coalesce(sum(calls) FILTER (WHERE stage <> 'embed'), 0) FROM ledger WHERE day = ?"
        )
        if of:
            sql += f" AND provider IN ({', '.join('?' * len(of))})"
        with TranslatedErrors(self.db.filename):
            cost, tokens, calls = self.db.execute(sql, (today(), *of)).get
        return cost, tokens, calls

    def totals(self) -> dict[str, dict[str, Any]]:
        """Return what each stage's calls came to, over all days kept."""
        sums = ", ".join(f"sum({name})" for name in SUMMED)
        rows = self.db.execute(f"SELECT stage, {sums} FROM ledger GROUP BY stage")
        return {stage: dict(zip(SUMMED, row, strict=True)) for stage, *row in rows}

    def days(self, limit: int) -> list[dict[str, Any]]:
        """Return the newest entries, as dicts of COLUMNS."""
        rows = self.db.execute("SELECT * FROM ledger ORDER BY day DESC, stage, provider, model LIMIT ?", (limit,))
        return [dict(zip(COLUMNS, row, strict=True)) for row in rows]

    def maintain(self) -> None:
        """Keep the accounts of the newest _KEPT_DAYS days that have any, whatever day the clock says it is."""
        kept = "SELECT DISTINCT day FROM ledger ORDER BY day DESC LIMIT ?"
        self.db.execute(f"DELETE FROM ledger WHERE day NOT IN ({kept})", (_KEPT_DAYS,))
