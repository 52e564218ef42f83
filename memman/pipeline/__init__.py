"""What happens to a note, in order. A new stage is one file, one line here, one test."""

from memman.pipeline import embed, extract, reconcile
from memman.pipeline.commit import commit
from memman.pipeline.enrich import enrich
from memman.pipeline.link import link
from memman.pipeline.plan import Stage, Tools
from memman.pipeline.redact import redact


def _one(tools: Tools) -> str:  # noqa: ARG001 - every version has one shape
    return "1"


PIPELINE: tuple[Stage, ...] = (
    Stage("redact", redact, _one),
    Stage("extract", extract.extract, extract.version, journaled=("facts",)),
    Stage(
        "reconcile",
        reconcile.reconcile,
        reconcile.version,
        journaled=("local", "candidates", "verdicts", "causes"),
        after="known",
    ),
    Stage("enrich", enrich, _one),
    Stage("embed", embed.embed, embed.version, journaled=("vectors",)),
    Stage("link", link, _one, after="all"),
    Stage("commit", commit, _one, after="all"),
)
