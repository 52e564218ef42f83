"""How many calls one server is sent at once: as many as it answers in good time."""

import asyncio
from collections import deque
from contextlib import suppress

# The part of the timeout within which a reply has to come for one more call to go along: as growth is noticed one
# reply late, the slowest call of a server that takes one after another then needs half of the timeout.
GOOD_TIME = 0.25


class Pace:
    """A limit of calls in flight that doubles with every good round until it is halved, then grows by one."""

    def __init__(self, limit: float) -> None:
        self.limit, self.flying = limit, 0
        self._halvings = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> int:
        """Wait for room for one call; return what `halve` is to be told about it. `leave` has to follow."""
        if self._waiting or self.flying + 1 > self.limit:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                with suppress(ValueError):
                    self._waiting.remove(turn)
                if not turn.cancelled():  # let in, and called off before it knew
                    self.leave()
                raise
        else:
            self.flying += 1
        return self._halvings

    def leave(self) -> None:
        """End a call, however it ended."""
        self.flying -= 1
        while self._waiting and self.flying + 1 <= self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self.flying += 1

    def grow(self) -> None:
        """Take note of a reply in good time."""
        self.limit += 1 / self.limit if self._halvings else 1

    def halve(self, entered: int) -> None:
        """Take note that a call was too much; calls that were in flight together halve the limit once."""
        if entered == self._halvings:
            self.limit = max(1.0, min(self.limit, self.flying) / 2)
            self._halvings += 1
