"""Points in the drain at which a crash test may strike, enumerated from PIPELINE."""

import os
import signal
from collections.abc import Iterator

from memman.model.records import Note
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


class Failpoint:
    """Kills this process the n-th time a point is reached, or with `!` raises each time.

    Written `point`, `point@n` or `point!`, and with `/TEXT` behind strikes only
    at notes whose text contains TEXT (MEMMAN_FAILPOINT).
    """

    def __init__(self, armed: str) -> None:
        place, _, self.text = armed.partition("/")
        self.raises = place.endswith("!")
        self.point, _, nth = place.removesuffix("!").partition("@")
        self.left = int(nth or 1)

    def reach(self, point: str, note: Note | None) -> None:
        """Strike if it is time. Raises RuntimeError where it is to raise."""
        if point != self.point or self.text not in (note.text if note else ""):
            return
        if self.raises:
            raise RuntimeError(f"failpoint {point}")
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
