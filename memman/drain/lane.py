"""Notes of one store in flight: started together, committed in the order they were queued."""

import asyncio
from dataclasses import dataclass, field

from memman.model.records import Fact, Note
from memman.model.terms import stems

# Facts that share this part of their words are taken to be about the same thing.
OVERLAP = 0.25


@dataclass(slots=True)
class Flight:
    """A note on its way. `known` is set once its facts are, `over` once it has landed or given up."""

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

    async def wait(self, flight: Flight, after: str) -> None:
        """Wait for earlier flights: with 'related' those about the same things, with 'all' every one."""
        if not after:
            return
        for earlier in self.flights[: self.flights.index(flight)]:
            if after == "related":
                await earlier.known.wait()
                if not related(earlier.facts, flight.facts):
                    continue
            await earlier.over.wait()


def related(some: tuple[Fact, ...], others: tuple[Fact, ...]) -> bool:
    """Whether one of `others` may change what reconcile should decide about one of `some`."""
    return any(_close(one, other) for one in some for other in others)


def _close(one: Fact, other: Fact) -> bool:
    names = {name.casefold() for name in one.entities}
    if not names.isdisjoint(name.casefold() for name in other.entities):
        return True
    left, right = stems(one.text), stems(other.text)
    return len(left & right) >= OVERLAP * max(1, min(len(left), len(right)))
