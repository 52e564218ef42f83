"""Who may say what, and what follows from it: the one place where this is decided. Pure, and safe on the hot path.

The channel stamps a source, never the text: the user typed it, an agent said it, it was read in a file, imported, or
came from a tool or the web. What a source may do by itself (`allowed`):

| may                              | user | agent | file | import | tool | web |
| -------------------------------- | ---- | ----- | ---- | ------ | ---- | --- |
| be told to a model unasked       | yes  | yes   | no   | no     | no   | no  |
| be a wish or of great importance | yes  | yes   | no   | no     | no   | no  |
| hold beyond where it was said    | yes  | no    | no   | no     | no   | no  |
| read like an order               | yes  | no    | no   | no     | no   | no  |
| be said again after a rejection  | yes  | no    | no   | no     | no   | no  |
| replace what is not stored yet   | yes  | no    | no   | no     | no   | no  |

A commit or a file is shown at a prompt if it is on record: the machine's own git user wrote it, or a person vouches for
its repository. Its source stays `file`, and it is shown after what people said.

What only an agent has said is `lone` until the user or an independent session says the same, or a person approves,
verifies or protects it. The effect of a newer statement on an older one that it denies (`effect`):

| newer, older    | user            | agent, lone | agent, borne out | file    | import  | tool    | web  |
| --------------- | --------------- | ----------- | ---------------- | ------- | ------- | ------- | ---- |
| user            | ends            | ends        | ends             | ends    | ends    | ends    | ends |
| agent, lone     | contradicts     | ends        | contradicts      | ends    | ends    | ends    | ends |
| agent, pasted   | may contradict  | ends        | contradicts      | ends    | ends    | ends    | ends |
| agent, borne out| ends            | ends        | ends             | ends    | ends    | ends    | ends |
| file            |                 |             |                  | ends    | ends    | ends    | ends |
| import          |                 |             |                  |         | ends    | ends    | ends |
| tool            |                 |             |                  |         |         | ends    | ends |
| web             |                 |             |                  |         |         |         | ends |

The newer one only *may* end the older one if the verdict is unsure, if it holds in one place and the older one
everywhere, or if the user reports what others said. A statement with an earlier end suspends the older one instead of
ending it. A replacement that somebody asked for ends the older one in each of these cases. A protected memory is
ended only by such a replacement; a lone statement contradicts it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

USER, AGENT, FILE, IMPORT = "user", "agent", "file", "import"
# All sources, the most trusted first: the user, the agent that works for them, and what neither said.
SOURCES = (USER, AGENT, FILE, IMPORT, "tool", "web")
TRUSTED, LOW_TRUST = SOURCES[:2], SOURCES[2:]

# What a source may do by itself, and the least trusted one that may.
UNASKED, WISH = "be told to a model unasked", "be a wish or of great importance"
BEYOND, STEER = "hold beyond where it was said", "read like an order"
INSIST, AHEAD = "be said again after a rejection", "replace what is not stored yet"
_LEAST = {UNASKED: AGENT, WISH: AGENT, BEYOND: USER, STEER: USER, INSIST: USER, AHEAD: USER}

# Evidence for a memory: the user or an independent session said the same, a session found it helpful, a person approved
# or verified it. And against it.
SAID, HELPFUL, APPROVED, VERIFIED = "said", "helpful", "approved", "verified"
BY_PERSON = (APPROVED, VERIFIED)
BEARS_OUT = (SAID, *BY_PERSON)
FOR, AGAINST = (*BEARS_OUT, HELPFUL), ("wrong", "stale")
# What `insights feedback` takes.
FEEDBACK = (HELPFUL, *AGAINST)
# Somebody who may not forget it asks for that; it says nothing of whether the memory holds.
UNWANTED = "unwanted"
# Evidence of how it was said: in a prompt, where the user may have pasted it, or the user tells what others say. And
# what it is labelled.
PROMPTED, REPORTED = "prompted", "reported"
# Evidence that a file's word is told at a prompt: the user wrote the commit that says it, or a person vouches for it.
RECORDED = "recorded"
SAID_AS = {PROMPTED: "in a prompt, perhaps pasted", REPORTED: "reported by the user"}

# What a verdict says of a newer statement and an older one.
UPDATE, DELETE, MAYBE = "UPDATE", "DELETE", "MAYBE"
ENDING = (UPDATE, DELETE)
# What comes of it; '' for nothing.
ENDS, MAY_END, STANDS_BEFORE = "ends", "may end", "stands before"
CONTRARY = CONTRADICTS, MAY_CONTRADICT = "contradicts", "may contradict"

# How a memory stands, the best first: it holds, only an agent says so, it is uncertain, it is on record, nobody trusted
# said it, it is past its end. Unasked a model is told what is no worse than uncertain, at a prompt what is on record.
HOLDS, LONE, UNCERTAIN, ON_RECORD, UNTRUSTED, ENDED = range(6)

# Most that reliability adds to a hit's score or takes from it, as a share of the score.
CLAMP = 0.05
# Half a day: who runs an agent can give it any number of sessions at one sitting, and what they say is one statement.
APART_MS = 43_200_000


class Statement:
    """A statement with its source, its evidence (kinds), its end, and where it holds.

    `place` is whether it holds in one place only, None if that is unsure.
    """

    __slots__ = ("ends_at", "evidence", "place", "protected", "source")

    def __init__(
        self,
        source: str,
        evidence: "Collection[str]" = (),
        *,
        ends_at: "int | None" = None,
        place: "bool | None" = False,
        protected: bool = False,
    ) -> None:
        self.source, self.evidence = source, evidence
        self.ends_at, self.place, self.protected = ends_at, place, protected

    @property
    def lone(self) -> bool:
        """Whether only an agent has said it so far: it is unconfirmed."""
        return self.source == AGENT and not self.protected and not any(kind in BEARS_OUT for kind in self.evidence)

    @property
    def upheld(self) -> bool:
        """Whether it is confirmed: protected, or said by the user, or an agent's word that was confirmed."""
        return self.protected or (trusted(self.source) and not self.lone)

    @property
    def looked_at(self) -> bool:
        """Whether a person approved or verified it."""
        return any(kind in BY_PERSON for kind in self.evidence)


def rank(source: str) -> int:
    """Rank a source: 0 is the most trusted, an unknown one the least."""
    return SOURCES.index(source) if source in SOURCES else len(SOURCES)


def lowest(*sources: str) -> str:
    """Return the least trusted of some sources, ignoring ''."""
    return max(filter(None, sources), key=rank)


def trusted(source: str) -> bool:
    """Whether the user or their agent said it."""
    return source in TRUSTED


def allowed(source: str, deed: str) -> bool:
    """Whether a source may do something without a person's consent."""
    return rank(source) <= rank(_LEAST[deed])


def sourced(source: str, *, unconfirmed: bool = False, verified: bool = False) -> str:
    """Write a source, with a warning at what a tool or the web said and nobody verified, or only an agent so far."""
    if source and not trusted(source):
        return f"{source} (verified)" if verified else f"{source} (unverified)"
    return f"{source}, unconfirmed" if unconfirmed else source


def outlasts(one: "int | None", other: "int | None") -> bool:
    """Whether what ends at `one`, None for never, holds longer than what ends at `other`."""
    return other is not None and (one is None or one > other)


def effect(verdict: str, new: Statement, old: Statement, *, asked: bool = False, part: bool = False) -> str:
    """Return what a newer statement does to an older one that it ends or maybe ends, '' for nothing.

    `asked`: somebody asked for it to be replaced; `part`: something of the older one is left.
    """
    ending = verdict in ENDING
    pasted = PROMPTED in new.evidence
    if old.protected and not (asked or new.lone):
        return ""
    if rank(new.source) > rank(old.source) and (new.source != AGENT or pasted):
        if not (pasted and ending):
            return ""
        sure = False
    else:
        unsure = ending and not asked and (REPORTED in new.evidence or (new.place is True and old.place is False))
        sure = verdict != MAYBE and not unsure
    for_a_while = sure and ending and not asked and outlasts(old.ends_at, new.ends_at)
    if new.lone and old.upheld:
        return CONTRADICTS if sure and ending and not (for_a_while or part) else MAY_CONTRADICT
    return STANDS_BEFORE if for_a_while else ENDS if sure else MAY_END


def vouches(new: Statement, old: Statement) -> bool:
    """Whether the user says themselves what nobody did before, or everywhere what an agent said in one place."""
    elsewhere = old.source == AGENT and new.place is False and old.place is not False
    return new.source == USER and (not trusted(old.source) or elsewhere)


def waits(old: Statement, new: Statement) -> bool:
    """Whether what may be replaced waits for a person: behind what ends before it only if an agent alone says that."""
    return new.lone or not outlasts(old.ends_at, new.ends_at)


def confirms(mine: str, other: str) -> bool:
    """Whether what is of source `mine` confirms what is of source `other` and says the same."""
    return trusted(mine) or rank(mine) <= rank(other)


def standing(one: Statement, now: int, *, doubted: bool = False) -> int:
    """Return how a memory stands; `doubted`: another may replace it, or stands against it, or its file has changed."""
    if one.ends_at is not None and one.ends_at <= now:
        return ENDED
    if not allowed(one.source, UNASKED):
        return ON_RECORD if one.source == FILE and RECORDED in one.evidence else UNTRUSTED
    if doubted or (one.lone and PROMPTED in one.evidence):
        return UNCERTAIN
    return LONE if one.lone else HOLDS


def apart(one: int, other: int) -> bool:
    """Whether two moments are so far apart that what is said then may be independent."""
    return abs(one - other) >= APART_MS


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
