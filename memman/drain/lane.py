"""Notes of one store in flight: started together, committed in the order they were queued."""

import asyncio
from dataclasses import dataclass, field

from memman.model.records import Fact, Note


@dataclass(slots=True)
class Flight:
    """A note on its way. `known` is set once its facts are, be it none, `over` once it has landed or given up."""

    note: Note
    facts: tuple[Fact, ...] = ()
    known: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Lane:
    """The flights of one store, oldest first."""

    def __init__(self) -> None:
        self.flights: list[Flight] = []

    def enter(self, note: Note) -> Flight:
        """Start a flight behind all others."""
        flight = Flight(note)
        self.flights.append(flight)
        return flight

    def leave(self, flight: Flight) -> None:
        """End a flight, however it ended."""
        flight.known.set()
        flight.over.set()
        self.flights.remove(flight)

    def earlier(self, flight: Flight) -> list[Flight]:
        """Return what is in flight before `flight`."""
        return self.flights[: self.flights.index(flight)]

    async def wait(self, flight: Flight, after: str) -> None:
        """Wait for earlier flights: with 'known' until their facts are, with 'all' until they are over."""
        if after:
            for earlier in self.earlier(flight):
                await (earlier.known if after == "known" else earlier.over).wait()
