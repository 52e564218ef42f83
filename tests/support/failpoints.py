"""The points of a drain at which a crash test may strike, enumerated from PIPELINE; see memman.drain.failpoint."""

from collections.abc import Iterator

from memman.pipeline import PIPELINE

# Met once a drain, when its notes have landed.
TIDYING = ("before:maintenance", "after:maintenance")


def points() -> Iterator[str]:
    """List every failpoint in the order a note meets them."""
    yield "claimed"
    for stage in PIPELINE:
        yield f"before:{stage.name}"
        if stage.journaled:
            yield f"unjournaled:{stage.name}"
        yield f"after:{stage.name}"
    yield "committed"
    yield "acknowledged"
