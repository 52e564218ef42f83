"""A point of a drain at which a crash test strikes, named by MEMMAN_FAILPOINT."""

import os
import signal
from collections.abc import Callable

from memman.model.records import Note

Reach = Callable[[str, Note | None], None]


class Failpoint:
    """Kills this process the n-th time a point is reached, or with `!` raises each time.

    Written `point`, `point@n` or `point!`, and with `/TEXT` behind strikes only at notes whose text contains TEXT.
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


def reach() -> Reach:
    """Return what MEMMAN_FAILPOINT arms; by default nothing happens anywhere."""
    armed = os.environ.get("MEMMAN_FAILPOINT")
    return Failpoint(armed).reach if armed else lambda point, note: None  # noqa: ARG005 - nothing is armed
