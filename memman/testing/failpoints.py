"""Points in the drain at which a crash test may strike, enumerated from PIPELINE."""

import os
import signal
from collections.abc import Iterator

from memman.model.records import Note
from memman.pipeline import PIPELINE


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
    """Kills this process the n-th time a point is reached.

    Written `point`, `point@n`, or `point/TEXT`, which strikes only at notes
    whose text contains TEXT (MEMMAN_FAILPOINT).
    """

    def __init__(self, armed: str) -> None:
        place, _, self.text = armed.partition("/")
        self.point, _, nth = place.partition("@")
        self.left = int(nth or 1)

    def reach(self, point: str, note: Note) -> None:
        """Strike if it is time."""
        if point == self.point and self.text in note.text:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
