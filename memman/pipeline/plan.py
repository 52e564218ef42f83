"""What a note has become so far, and what the stages may use."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memman.embed import Embedder, LocalEmbedder, Vectors
from memman.judge.judge import Judge
from memman.llm import LLM
from memman.model.records import Candidate, Cause, Edge, Fact, Note, Verdict
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from memman.pipeline.conversation import Conversations


@dataclass(frozen=True, slots=True)
class Outcome:
    """What commit did. `added` holds the new memories' uids; `repeated` is true when a receipt was there already."""

    added: tuple[str, ...] = ()
    superseded: int = 0
    known: int = 0
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A note on its way through the pipeline; each stage returns a fuller one.

    `earlier` holds what is in flight before it in the same store. `local` and
    `vectors` are float32 of shape (facts, dimension): the first from the
    built-in embedder, the second from the configured one. `models` names for
    each stage that asked any the models that answered; `linker` is what made the
    edges. `unnoted` is what the user said that their agent might have noted.
    """

    note: Note
    facts: tuple[Fact, ...] = ()
    earlier: tuple[tuple[Note, tuple[Fact, ...]], ...] = ()
    local: Vectors | None = None
    candidates: tuple[tuple[Candidate, ...], ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    causes: tuple[Cause, ...] = ()
    vectors: Vectors | None = None
    edges: tuple[Edge, ...] = ()
    linker: str = ""
    samples: tuple[float, ...] = ()
    models: tuple[tuple[str, str], ...] = ()
    unnoted: str = ""
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Tools:
    """What stages work with. Only commit is given a `store` to write to.

    `capture` says what is kept of turns: off, corrections, turns, or ask (corrections, held back). Without a `judge`
    only structure decides. With a `sparing` model, that is asked only about what the judge finds likely or unsure.
    `drain` names the drain at work; `purged` says whether a person has purged a text; `kin` names the repositories
    whose memories are recalled in one, itself among them, `mentioned` those whose name stands in a text, of all that
    are known and some more. `conversations` gathers the turns that a model reads together.
    """

    llm: LLM
    builtin: LLM
    local: LocalEmbedder
    embedder: Embedder
    reader: SqliteReader
    clock: Callable[[], int]
    capture: str = "corrections"
    judge: Judge | None = None
    store: SqliteStore | None = None
    sparing: bool = False
    drain: str = ""
    purged: Callable[[str], bool] = lambda text: False  # noqa: ARG005 - nothing was, by default
    kin: Callable[[str], Collection[str]] = lambda repository: (repository,)
    mentioned: Callable[[Iterable[str], str], Collection[str]] = lambda stored, text: ()  # noqa: ARG005 - none is known
    conversations: "Conversations | None" = None

    def gone(self, note: Note, text: str) -> bool:
        """Whether a text was purged and a note may not bring it back: only a person's own may."""
        person = note.channel == "note" and note.provenance.source == "user" and not note.provenance.agent
        return not person and self.purged(text)


class Run(Protocol):
    """One step of the pipeline."""

    async def __call__(self, tools: Tools, plan: Plan, /) -> Plan:
        """Return a fuller plan."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One named step.

    `version` says what its output depends on beside the note; `journaled`
    names the plan's fields that are kept for a drain that resumes where the
    stage was `paid` for, empty for one that never is; `after` says which earlier notes of the store
    must come first: '' none, 'known' all of them must be extracted, 'all' must be
    done.
    """

    name: str
    run: Run
    version: Callable[[Tools], str]
    journaled: tuple[str, ...] = ()
    paid: Callable[[Tools], bool] = lambda tools: False  # noqa: ARG005 - most stages cost nothing
    after: str = ""
