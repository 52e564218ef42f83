"""What a recall may be narrowed to. Safe on the hot path."""

from memman.config.scope import holds, sees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memman.config.scope import Here


class Filters:
    """Conditions on memories, applied before any cut. Times are Unix milliseconds.

    `least` is the confidence a hit must have; `every` shows also what is far below the best. `here` and `inside` limit
    to scopes, unless `anywhere`.
    """

    __slots__ = (
        "anywhere", "as_of", "category", "every", "here", "history", "inside", "least", "scopes", "since", "source",
        "until", "window",
    )  # fmt: skip

    def __init__(
        self,
        *,
        category: str | None = None,
        source: str | None = None,
        since: int | None = None,
        until: int | None = None,
        as_of: int | None = None,
        history: bool = False,
        least: float | None = None,
        every: bool = False,
        here: "Here | None" = None,
        inside: bool = False,
        anywhere: bool = False,
        scopes: "frozenset[int] | None" = None,
    ) -> None:
        self.category, self.source = category, source
        self.since, self.until, self.as_of = since, until, as_of
        self.history, self.least, self.every = history, least, every
        self.here, self.inside, self.anywhere = here, inside, anywhere
        # The scopes by their numbers in a store; None where every memory has one of those that may pass.
        self.scopes = scopes
        # The first and the last row that a search looks at.
        self.window: tuple[int, int] | None = None

    def within(self, window: tuple[int, int]) -> "Filters":
        """Return the same conditions, for the rows of a window only."""
        return self.having(window=window)

    def scoped(self, scopes: "frozenset[int] | None") -> "Filters":
        """Return the same conditions, for memories of these scopes of a store only."""
        return self.having(scopes=scopes)

    def mine(self, repository: str, path: str) -> bool:
        """Whether what holds for a repository, or a folder of it, holds where one stands."""
        return self.here is not None and sees(self.here, repository, path, inside=self.inside)

    def having(self, **changes: "Any") -> "Filters":
        """Return the same conditions but for `changes`."""
        other = Filters()
        for name in Filters.__slots__:
            setattr(other, name, changes[name] if name in changes else getattr(self, name))
        return other

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
