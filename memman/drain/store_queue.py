"""Notes of one store in flight: started together, committed in the order they were queued."""

import asyncio
from dataclasses import dataclass, field

from memman.model.records import Fact, Note


@dataclass(slots=True)
class InFlight:
    """A note on its way. `known` is set once its facts are, be it none, `over` once it has landed or given up."""

    note: Note
    facts: tuple[Fact, ...] = ()
    known: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)


class StoreQueue:
    """The in_flight of one store, oldest first."""

    def __init__(self) -> None:
        self.in_flight: list[InFlight] = []

    def enter(self, note: Note) -> InFlight:
        """Start a flight behind all others."""
        flight = InFlight(note)
        self.in_flight.append(flight)
        return flight

    def leave(self, flight: InFlight) -> None:
        """End a flight, however it ended."""
        flight.known.set()
        flight.over.set()
        self.in_flight.remove(flight)

    def earlier(self, flight: InFlight) -> list[InFlight]:
        """Return what is in flight before `flight`."""
        return self.in_flight[: self.in_flight.index(flight)]

    async def wait(self, flight: InFlight, after: str) -> None:
        """Wait for earlier in_flight: with 'known' until their facts are, with 'all' until they are over."""
        if after:
            for earlier in self.earlier(flight):
                await (earlier.known if after == "known" else earlier.over).wait()
