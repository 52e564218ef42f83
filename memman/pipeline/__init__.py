"""What happens to a note, in order. A new stage is one file, one line here, one test."""

from memman.pipeline import embed, extract, reconcile
from memman.pipeline.commit import commit
from memman.pipeline.enrich import enrich
from memman.pipeline.link import link
from memman.pipeline.plan import Stage, Tools
from memman.pipeline.redact import redact


def _asked(tools: Tools) -> bool:
    return tools.llm.provider != tools.builtin.provider


def _embedded(tools: Tools) -> bool:
    return tools.embedder is not tools.local


def _one(tools: Tools) -> str:  # noqa: ARG001 - every version has one shape
    return "1"


PIPELINE: tuple[Stage, ...] = (
    Stage("redact", redact, _one),
    Stage("extract", extract.extract, extract.version, journaled=("facts", "models"), paid=_asked),
    Stage(
        "reconcile",
        reconcile.reconcile,
        reconcile.version,
        journaled=("facts", "local", "candidates", "verdicts", "causes", "models"),
        paid=_asked,
        after="known",
    ),
    Stage("enrich", enrich, _one),
    Stage("embed", embed.embed, embed.version, journaled=("vectors",), paid=_embedded),
    Stage("link", link, _one, after="all"),
    Stage("commit", commit, _one, after="all"),
)
