"""What one drain did, counted as it goes."""

from dataclasses import dataclass, field

from memman.model.errors import BadReply, BudgetSpent, Busy, MemmanError, NoServer, ProviderUnavailable
from memman.pipeline.plan import Outcome

# Exit codes of what passes by itself.
PASSING = frozenset(kind.exit_code for kind in (NoServer, ProviderUnavailable, BadReply, BudgetSpent, Busy))


@dataclass(slots=True)
class Report:
    """What one drain did, in notes, except for `added` and `superseded`, which count memories.

    `exit_code` is that of the first error that kept notes waiting and is not a note's own; one that passes by itself
    comes last.
    """

    done: int = 0
    added: int = 0
    superseded: int = 0
    known: int = 0
    deferred: int = 0
    failed: int = 0
    parked: int = 0
    rescued: int = 0
    stopped: str = ""
    exit_code: int = 0
    errors: list[str] = field(default_factory=list)

    def landed(self, outcome: Outcome) -> None:
        """Count one note that went through."""
        self.done += 1
        self.added += len(outcome.added)
        self.superseded += outcome.superseded
        self.known += outcome.known

    def add(self, later: "Report") -> None:
        """Count in what a later pass of the same drain did."""
        for name in ("done", "added", "superseded", "known", "deferred", "failed", "parked", "rescued"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.stopped = later.stopped
        self._end(later.exit_code)
        self.errors += [line for line in later.errors if line not in self.errors]

    def trouble(self, error: Exception, *, of_note: bool = False) -> None:
        """Keep the line of an error, each once; one `of_note` does not decide the exit code."""
        line = str(error) if isinstance(error, MemmanError) else f"{type(error).__name__}: {error}"
        if line not in self.errors:
            self.errors.append(line)
        if not of_note:
            self._end(getattr(error, "exit_code", MemmanError.exit_code))

    def _end(self, code: int) -> None:
        if code and (not self.exit_code or (self.exit_code in PASSING and code not in PASSING)):
            self.exit_code = code
