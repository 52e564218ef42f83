"""What a repository says already, in its history and its files, as notes: each stands alone, dated, with its source."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memman.bootstrap import documents, history, manifests, transcripts
from memman.bootstrap.checkout import Checkout
from memman.judge.judge import Judge
from memman.portable.incoming import Item


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of source: its name, what it is, and what it says."""

    name: str
    what: str
    read: Callable[[Checkout, Judge | None], Iterator[Item]]


# In the order in which they are read: what says why comes first, what an agent reads anyway last.
SOURCES = (
    Source("commits", "commits whose body says why", history.reasons),
    Source("reverts", "what was tried and reverted", history.reverts),
    Source("decisions", "decision records", documents.decisions),
    Source("guides", "AGENTS.md, CLAUDE.md, CONTRIBUTING, DEVELOPMENT", documents.guides),
    Source("manifests", "manifests and CI: how it is built, what is pinned", manifests.statements),
    Source("readme", "README", documents.readme),
    Source("transcripts", "sessions of agents on this machine", transcripts.turns),
)
NAMES = tuple(source.name for source in SOURCES)
