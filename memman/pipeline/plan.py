"""What a note has become so far, also as JSON, and what the stages may use."""

import base64
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from memman.belief import Statement
from memman.embed.base import Embedder, LocalEmbedder, Vectors
from memman.judge.judge import Judge
from memman.llm import LLM
from memman.model.records import Candidate, Cause, Edge, Fact, Note, Scope, Verdict
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


# A stored memory, or a fact of the note that is yet to be stored as -(1 + number); and the session that bears it out.
Piece = tuple[int, str]
# A memory that the user objects to, and the number of the fact that they say in its place.
Objection = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Weight:
    """What is known of a fact before it is stored: its memory's uid, what it is believed by, and what it holds for.

    `asked` says that the caller said what for, `kin` names the repositories whose memories are recalled there, `files`
    those that the fact names with what they hold, and `typed` what the user typed that the fact says in other words.
    What is `left_out` was purged, or is to be held back and a memory says it already.
    """

    uid: str
    belief: Statement
    scope: Scope
    asked: bool
    kin: tuple[str, ...]
    files: Mapping[str, str]
    typed: str
    left_out: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A note on its way through the pipeline; each stage returns a fuller one.

    `earlier` holds what is in flight before it in the same store. `local`, `vectors` and `about` are float32 of shape
    (facts, dimension): from the built-in embedder, the configured one, and the judge. `models` names for each stage
    that asked any the models that answered. `unnoted` is what the user said that their agent might have noted.
    `borne_out` is what the note bears out of agents' words, and others of its own.
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
    about: Vectors | None = None
    weights: tuple[Weight, ...] = ()
    borne_out: tuple[Piece, ...] = ()
    objections: tuple[Objection, ...] = ()
    models: tuple[tuple[str, str], ...] = ()
    unnoted: str = ""
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Tools:
    """What stages work with. Only commit is given a `store` to write to.

    `capture` says what is kept of turns: off, corrections, turns, or ask (corrections, held back). With a `sparing`
    model, that is asked only about what the judge finds likely or unsure. `drain` names the drain at work; `purged`
    says whether a person has purged a text; `kin` names the repositories whose memories are recalled in one, itself
    among them, `mentioned` those whose name stands in a text, of all that are known and some more. `conversations`
    gathers the turns that a model reads together.
    """

    llm: LLM
    builtin: LLM
    local: LocalEmbedder
    embedder: Embedder
    reader: SqliteReader
    clock: Callable[[], int]
    judge: Judge
    capture: str = "corrections"
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


@dataclass(frozen=True, slots=True)
class Stage:
    """One named step.

    `version` says what its output depends on beside the note; `journaled` names the plan's fields that are kept for a
    drain that resumes where the stage was `paid` for, empty for one that never is; `after` says which earlier notes of
    the store must come first: '' none, 'known' all of them must be extracted, 'all' must be done.
    """

    name: str
    run: Callable[[Tools, Plan], Awaitable[Plan]]
    version: Callable[[Tools], str] = lambda tools: "1"  # noqa: ARG005 - most never change
    journaled: tuple[str, ...] = ()
    paid: Callable[[Tools], bool] = lambda tools: False  # noqa: ARG005 - most stages cost nothing
    after: str = ""


def _packed(vectors: Vectors | None) -> list[Any] | None:
    if vectors is None:
        return None
    return [list(vectors.shape), base64.b64encode(vectors.astype("<f4").tobytes()).decode()]


def _unpacked(saved: list[Any] | None) -> Vectors | None:
    if saved is None:
        return None
    shape, text = saved
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(shape).astype(np.float32)


def _records(items: Sequence[Any]) -> list[dict[str, Any]]:
    # dataclasses.asdict copies deeply, which took a twelfth of a drain; these records hold nothing deep.
    return [{name: getattr(item, name) for name in item.__slots__} for item in items]


def _fact(saved: dict[str, Any]) -> Fact:
    ends = saved["ends"] if saved["ends"] is None else tuple((uid, rest) for uid, rest in saved["ends"])
    return Fact(**saved | {"entities": tuple(saved["entities"]), "keywords": tuple(saved["keywords"]), "ends": ends})


def _candidate(saved: dict[str, Any]) -> Candidate:
    return Candidate(**saved | {"entities": tuple(saved["entities"])})


# Field -> (to JSON, from JSON).
_FIELDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "facts": (_records, lambda saved: tuple(map(_fact, saved))),
    "local": (_packed, _unpacked),
    "vectors": (_packed, _unpacked),
    "candidates": (
        lambda found: [_records(some) for some in found],
        lambda saved: tuple(tuple(map(_candidate, some)) for some in saved),
    ),
    "verdicts": (_records, lambda saved: tuple(Verdict(**item) for item in saved)),
    "models": (list, lambda saved: tuple((stage, names) for stage, names in saved)),
    "causes": (_records, lambda saved: tuple(Cause(**item) for item in saved)),
}


def encode(plan: Plan, fields: Sequence[str]) -> str:
    """Write some fields of `plan`."""
    return json.dumps({name: _FIELDS[name][0](getattr(plan, name)) for name in fields}, ensure_ascii=False)


def decode(plan: Plan, text: str) -> Plan:
    """Return `plan` with the fields that `encode` wrote."""
    return replace(plan, **{name: _FIELDS[name][1](saved) for name, saved in json.loads(text).items()})
