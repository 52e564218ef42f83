"""Points in the drain at which a crash test may strike, enumerated from PIPELINE."""

import os
import signal
from collections.abc import Iterator

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
    """Kills this process the n-th time a point is reached. Written `point` or `point@n` (MEMMAN_FAILPOINT)."""

    def __init__(self, armed: str) -> None:
        self.point, _, nth = armed.partition("@")
        self.left = int(nth or 1)

    def reach(self, point: str) -> None:
        """Strike if it is time."""
        if point == self.point:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
