"""A connection that waits for its server as long as something comes or goes, and not for ever otherwise.

TCP's own timers find a peer that is gone; one that acknowledges and says nothing, as a proxy before a server that
hangs, they do not. The driver asks every tenth of a second anyway, so this needs no timer of its own, nothing of the
server, and goes through any pooler.
"""

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

T = TypeVar("T")


class Silence(psycopg.OperationalError):
    """Nothing came or went for longer than is borne."""


class Patient(psycopg.Connection[tuple[Any, ...]]):
    """Bears a silence of `silence_s`."""

    silence_s: float

    def wait(self, gen: PQGen[T], *args: Any, **given: Any) -> T:
        """Wait for what `gen` asks. Raises Silence, after which the connection is closed."""
        try:
            return super().wait(_attended(gen, self.silence_s), *args, **given)
        except Silence:
            self.pgconn.finish()
            raise


def _attended(gen: PQGen[T], seconds: float) -> Generator[Any, Any, T]:
    """Pass on what `gen` waits for. Raises Silence where none of it comes for so many seconds."""
    try:
        wanted = next(gen)
        since = time.monotonic()
        while True:
            ready = yield wanted
            if ready:
                since = time.monotonic()
            elif time.monotonic() - since > seconds:
                raise Silence(f"nothing came from it for {seconds:.0f} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        found: T = end.value
        return found
