"""How reliable a memory is by what sessions reported of it: a Beta posterior. Safe on the hot path: imports nothing."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FOR = ("said", "approved", "helpful", "verified")
AGAINST = ("wrong", "stale")
# What `insights feedback` takes.
FEEDBACK = ("helpful", *AGAINST)
# Most that reliability adds to a hit's score or takes from it, as a share of the score.
CLAMP = 0.05


def sessions(evidence: "Iterable[tuple[str, str, int]]") -> tuple[int, int]:
    """Count the sessions for a memory and those against it; of each session the last word counts.

    `evidence` is (kind, session, when), oldest first.
    """
    last = {session: kind for kind, session, _ in evidence if kind in FOR + AGAINST}
    against = sum(kind in AGAINST for kind in last.values())
    return len(last) - against, against


def reliability(supporting: int, opposing: int) -> float:
    """Return the mean of the Beta posterior with a uniform prior: 0.5 where nobody said anything."""
    return (1 + supporting) / (2 + supporting + opposing)


def factor(reliable: float) -> float:
    """Return what a hit's score is multiplied by: within CLAMP of 1."""
    return 1 + CLAMP * (2 * reliable - 1)
