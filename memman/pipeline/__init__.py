"""What happens to a note, in order. A new stage is one file, one line here, one test."""

from memman.pipeline import extract, reconcile, vectors
from memman.pipeline.commit import commit
from memman.pipeline.enrich import enrich, redact
from memman.pipeline.link import link
from memman.pipeline.plan import Stage, Tools
from memman.pipeline.weigh import weigh


def _asked(tools: Tools) -> bool:
    return tools.llm.provider != tools.builtin.provider


def _embedded(tools: Tools) -> bool:
    return tools.embedder is not tools.local


PIPELINE: tuple[Stage, ...] = (
    Stage("redact", redact),
    Stage("extract", extract.extract, extract.version, journaled=("facts", "models"), paid=_asked),
    Stage(
        "reconcile",
        reconcile.reconcile,
        reconcile.version,
        journaled=("facts", "local", "candidates", "verdicts", "causes", "models"),
        paid=_asked,
        after="known",
    ),
    Stage("enrich", enrich),
    Stage("embed", vectors.embed, vectors.version, journaled=("vectors",), paid=_embedded),
    Stage("link", link, after="all"),
    Stage("weigh", weigh, after="all"),
    Stage("commit", commit, after="all"),
)
