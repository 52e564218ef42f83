"""How reliable a memory is by what sessions reported of it: a Beta posterior. Safe on the hot path: imports nothing."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

BY_PERSON = ("approved", "verified")
FOR = ("said", "helpful", *BY_PERSON)
AGAINST = ("wrong", "stale")
# What `insights feedback` takes.
FEEDBACK = ("helpful", *AGAINST)
# Most that reliability adds to a hit's score or takes from it, as a share of the score.
CLAMP = 0.05
# Half a day: who runs an agent can give it any number of sessions at one sitting, and what they say is one statement.
APART_MS = 43_200_000


def apart(one: int, other: int) -> bool:
    """Whether two moments are so far apart that what is said then may be independent."""
    return abs(one - other) >= APART_MS


def by_person(evidence: "Iterable[tuple[str, str, int]]") -> bool:
    """Whether a person approved or verified a memory."""
    return any(kind in BY_PERSON for kind, *_ in evidence)


def sessions(evidence: "Iterable[tuple[str, str, int]]") -> tuple[int, int]:
    """Count the sessions for a memory and against it, by each one's last word; `evidence` is oldest first.

    What sessions report within APART_MS is the same word; a person's stands by itself.
    """
    last = {session: (kind, at) for kind, session, at in evidence if kind in FOR + AGAINST}
    reported = sorted((at, kind) for session, (kind, at) in last.items() if session and kind in FEEDBACK)
    words = [kind for session, (kind, _) in last.items() if not (session and kind in FEEDBACK)]
    since = 0
    for at, kind in reported:
        if since and not apart(at, since):
            words[-1] = kind
        else:
            words.append(kind)
            since = at
    against = sum(kind in AGAINST for kind in words)
    return len(words) - against, against


def reliability(supporting: int, opposing: int) -> float:
    """Return the mean of the Beta posterior with a uniform prior: 0.5 where nobody said anything."""
    return (1 + supporting) / (2 + supporting + opposing)


def factor(reliable: float) -> float:
    """Return what a hit's score is multiplied by: within CLAMP of 1."""
    return 1 + CLAMP * (2 * reliable - 1)
