"""Notes of one store in flight: started together, committed in the order they were queued."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memman.model.records import Fact, Note

if TYPE_CHECKING:
    from memman.pipeline.conversation import Conversations


# What a note is a turn of that is no turn of a session.
ALONE = ("", "")


@dataclass(slots=True)
class InFlight:
    """A note on its way.

    `heard` is set once it waits to be read with its session, or no longer will be, `known` once its facts are, be it
    none, `over` once it has landed or given up.
    """

    note: Note
    facts: tuple[Fact, ...] = ()
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    known: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def know(self, facts: tuple[Fact, ...]) -> None:
        """Take what was found in the note."""
        self.facts = facts
        self.heard.set()
        self.known.set()


def talk(note: Note) -> tuple[str, str]:
    """Return the session whose conversation a note is a turn of, ALONE for any other."""
    of = note.provenance
    return (of.agent, of.session) if note.channel == "turn" and of.session else ALONE


class StoreQueue:
    """The in_flight of one store, oldest first."""

    def __init__(self) -> None:
        self.in_flight: list[InFlight] = []
        self._conversations: Conversations | None = None

    def conversations(self) -> "Conversations":
        """Return what reads the turns of a session together."""
        if self._conversations is None:
            from memman.pipeline.conversation import Conversations

            self._conversations = Conversations(self.gathered)
        return self._conversations

    def enter(self, note: Note) -> InFlight:
        """Start a flight behind all others."""
        flight = InFlight(note)
        self.in_flight.append(flight)
        return flight

    def leave(self, flight: InFlight) -> None:
        """End a flight, however it ended."""
        flight.know(flight.facts)
        flight.over.set()
        self.in_flight.remove(flight)

    def earlier(self, flight: InFlight) -> list[InFlight]:
        """Return what is in flight before `flight`."""
        return self.in_flight[: self.in_flight.index(flight)]

    async def gathered(self, note: Note) -> None:
        """Take a turn as heard, and wait until all others of its session in flight are."""
        mine = [one for one in self.in_flight if talk(one.note) == talk(note) != ALONE]
        for one in mine:
            if one.note.uid == note.uid:
                one.heard.set()
        for one in mine:
            await one.heard.wait()

    async def wait_for_conversations(self, flight: InFlight) -> None:
        """Wait until what came before the first turn of a note's session is over: the model is shown what it knows."""
        mine = talk(flight.note)
        first = next((one for one in self.in_flight if talk(one.note) == mine), flight)
        for earlier in self.earlier(first) if mine != ALONE else ():
            await earlier.over.wait()

    async def wait(self, flight: InFlight, after: str) -> None:
        """Wait for earlier in_flight: with 'known' until their facts are, with 'all' until they are over."""
        if after:
            for earlier in self.earlier(flight):
                await (earlier.known if after == "known" else earlier.over).wait()
