"""What each failure costs the note and the drain: a table, read from the top. Waiting times: memman.queue.notes."""

from dataclasses import dataclass

from memman.model.errors import (
    BadReply,
    BudgetSpent,
    Busy,
    CannotWrite,
    ProviderMisconfigured,
    ProviderUnavailable,
    StoreError,
)


@dataclass(frozen=True, slots=True)
class Consequence:
    """`spends` an attempt of the note, or it `waits` for a time; `ails` the provider.

    `shuts` the store or `stops` the drain for this pass.
    """

    spends: bool = False
    waits: bool = False
    ails: bool = False
    shuts: bool = False
    stops: bool = False


TABLE: tuple[tuple[type[Exception], Consequence], ...] = (
    (ProviderUnavailable, Consequence(waits=True, ails=True)),
    (BadReply, Consequence(waits=True, ails=True)),
    (BudgetSpent, Consequence(stops=True)),
    (ProviderMisconfigured, Consequence(stops=True)),
    (CannotWrite, Consequence(stops=True)),
    # Of the machine; and should it be of the note after all, that must not keep the others.
    (MemoryError, Consequence(waits=True, stops=True)),
    (Busy, Consequence(shuts=True)),
    (StoreError, Consequence(shuts=True)),
    (Exception, Consequence(spends=True)),
)


def consequence(error: Exception) -> Consequence:
    """Return what `error` costs."""
    return next(row for kind, row in TABLE if isinstance(error, kind))
