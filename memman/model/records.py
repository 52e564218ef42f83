"""The records that flow through the pipeline. All frozen; times are Unix milliseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

# What a fact does to a memory, as far as the two texts say.
Action = Literal["UPDATE", "DELETE", "MAYBE", "NONE"]

DEFAULT_IMPORTANCE = 3


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a note came from, stamped by the channel that queued it."""

    source: str = "user"
    agent: str = ""
    session: str = ""
    cwd: str = ""
    repository: str = ""
    commit: str = ""
    host: str = ""
    user: str = ""

    @property
    def origin(self) -> str:
        """The thread of work a note belongs to: one session, or else (beginning with '@') one source in one place."""
        if self.session:
            return f"{self.agent}:{self.session}"
        return f"@{self.source}:{self.user}@{self.host}:{self.repository or self.cwd}"


@dataclass(frozen=True, slots=True)
class Hints:
    """What the caller said about a note, None or empty for unsaid: `scope`, `ends_at`, `visibility` among it."""

    category: str | None = None
    importance: int | None = None
    entities: tuple[str, ...] = ()
    replaces: str = ""
    scope: str = ""
    ends_at: int | None = None
    visibility: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """The text given to `remember`, or what a turn of an agent left: one row of queue.db.

    In a `channel` of 'turn', `text` is the user's words and `reply` the agent's last message, in one of
    'compact' `text` is the agent's own summary of a session, in one of 'noted' `text` is a line that the agent's answer
    ended with and `reply` what was said before it (memman.hot.session), in one of 'record' `text` is what a commit
    says. `shown` holds the uids of memories that the session had been shown: what repeats them is no news. `overtaken`
    says that a later note of its store went through before it.
    """

    uid: str
    store: str
    text: str
    queued_at: int
    hints: Hints = field(default_factory=Hints)
    provenance: Provenance = field(default_factory=Provenance)
    deferrals: int = 0
    channel: str = "note"
    reply: str = ""
    shown: tuple[str, ...] = ()
    overtaken: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One self-contained statement extracted from a note.

    `source` is who said it where that is not the note's own, `held` why it waits for a person's approval, if it does,
    `left_of` the uid of the memory that it is the rest of, if it is, `scope` what it holds for, and `ends_at` until
    when. `ends` holds the memories that it ends and what is left of each, None where nobody has compared it yet.
    """

    text: str
    category: str = "fact"
    importance: int = DEFAULT_IMPORTANCE
    entities: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    summary: str = ""
    source: str = ""
    held: str = ""
    left_of: str = ""
    scope: str = ""
    ends_at: int | None = None
    ends: tuple[tuple[str, str], ...] | None = None


class Scope(NamedTuple):
    """What a memory holds for: one repository, as `memman.config.scope` tells it, and a folder of it, or everywhere."""

    repository: str = ""
    path: str = ""


EVERYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory offered to reconcile: `similarity` is a cosine, `about` the judge's, `score` all that speaks for it."""

    uid: str
    text: str
    category: str
    entities: tuple[str, ...]
    valid_from: int
    similarity: float
    source: str = "user"
    about: float = 0.0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What reconcile decided for a fact against a memory; `rest` is what of the memory still holds."""

    fact: int
    action: Action
    memory: str
    reason: str = ""
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """`cause` led to `effect`, or (NEWER) may change it. Each end is the number of a fact of the note, or a uid."""

    cause: int | str
    effect: int | str
    kind: str = "causes"
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two memories. An end below zero is -(1 + number) of a fact not yet stored."""

    kind: str
    src: int
    dst: int
    weight: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What made a store's vectors. Vectors of two fingerprints are never compared."""

    provider: str
    model: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}/{self.dimension}"


@dataclass(frozen=True, slots=True)
class Usage:
    """What one provider call cost. `cost` is in US dollars, None where the price is not known."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One structured question to a model.

    `payload` is the same question as data: HTTP providers send `system` and
    `user`, the built-in model reads `payload`. `note` is what it is asked about; of
    several questions asked as one, `parts` says how many characters are about notes of each repository.
    """

    task: str
    role: Literal["fast", "slow"]
    system: str
    user: str
    schema: Mapping[str, Any]
    payload: Mapping[str, Any]
    max_tokens: int = 2048
    note: Note | None = None
    parts: Mapping[str, int] = field(default_factory=dict)

    @property
    def shares(self) -> Mapping[str, int]:
        """How many characters are about notes of each repository."""
        return self.parts or ({self.note.provenance.repository: len(self.user) or 1} if self.note else {})


@dataclass(frozen=True, slots=True)
class Reply:
    """A parsed JSON object, not yet checked against the task, what it cost, and who answered."""

    data: Mapping[str, Any]
    usage: Usage
    model: str
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory about to be stored; `vectors` holds (embedder number, cell, planes, squared length)."""

    uid: str
    note: str
    fact: Fact
    source: str
    origin: str
    valid_from: int
    vectors: tuple[tuple[int, int, bytes, int], ...] = ()
    scope: Scope = EVERYWHERE
    visibility: str = ""
