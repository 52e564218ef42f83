"""What a recall may be narrowed to. Safe on the hot path."""

from memman.config.scope import holds, sees
from memman.store import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memman.config.scope import Here


class Filters(Value):
    """Conditions on memories, applied before any cut. Times are Unix milliseconds.

    `least` is the confidence a hit must have; `every` shows also what is far below the best. `here` and `inside` limit
    to scopes, unless `anywhere`; `scopes` are these by their numbers in a store, None where every memory has one that
    may pass. `window` is the first and the last row that a search looks at.
    """

    category: str | None = None
    source: str | None = None
    since: int | None = None
    until: int | None = None
    as_of: int | None = None
    history: bool = False
    least: float | None = None
    every: bool = False
    here: "Here | None" = None
    inside: bool = False
    anywhere: bool = False
    scopes: frozenset[int] | None = None
    window: tuple[int, int] | None = None

    def mine(self, repository: str, path: str) -> bool:
        """Whether what holds for a repository, or a folder of it, holds where one stands."""
        return self.here is not None and sees(self.here, repository, path, inside=self.inside)

    @property
    def past(self) -> bool:
        """Whether retired memories are wanted too."""
        return self.history or self.as_of is not None

    def conditions(self) -> "list[tuple[str, Any]]":
        """Return (SQL over memory `m`, value) for each condition but on being in force: succession decides that."""
        asked = (
            ("m.category = ?", self.category),
            ("m.source = ?", self.source),
            ("m.recorded_at >= ?", self.since),
            ("m.recorded_at < ?", self.until),
            ("m.recorded_at <= ?", self.as_of),
        )
        return [(sql, value) for sql, value in asked if value is not None]

    def admits(
        self, *, category: str | None, source: str, recorded_at: int, repository: str = "", scope: str = ""
    ) -> bool:
        """Whether a note that is not stored yet would pass; where nobody says, it is its repository's."""
        return (
            self.as_of is None
            and (self.here is None or self.anywhere or holds(self.here, repository, scope, inside=self.inside))
            and self.category in (None, category)
            and self.source in (None, source)
            and (self.since is None or recorded_at >= self.since)
            and (self.until is None or recorded_at < self.until)
        )
