"""Whether the reranker is set up as a whole, and answers in its time.

Looks at: the reranker, where one is set up
Finds: lacks its provider or endpoint; with `--billable` warns where it does not answer in time
"""

from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, fail, ok, shell, warn
from memman.model.errors import BadConfig, ProviderError
from memman.rerank import reranker

_KEYS = ("MEMMAN_RERANK", "MEMMAN_RERANK_PROVIDER")


def check(context: Context) -> Iterator[Finding]:
    """Look whether there is all that reranking needs; where the person allows it, have two words scored."""
    if not any(context.settings.said.get(name, "off") != "off" for name in _KEYS):
        yield ok("not used")
        return
    without = " && ".join(shell("memman", "config", "unset", name) for name in _KEYS)
    try:
        model = reranker(context.settings)
        if context.billable:
            model.scores("yes", ("yes", "no"))
    except BadConfig as error:
        yield fail(f"reranking is not set up: {error}", without, "the command turns it off")
    except ProviderError as error:
        yield warn(
            f"recall keeps its own order: {error}", without, "correct the setting it names, or turn reranking off"
        )
    else:
        yield ok(model.about + (" answers in time" if context.billable else "; only --billable asks it"))
