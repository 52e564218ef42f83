"""Synthetic engineering notes: as many as wanted, the same ones every time."""

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from bench import words

NOTES_A_SESSION = 20
COMPONENTS = 5_000
# Share of notes that say two things.
DOUBLE = 0.3
# Components rarer than this rank are named in a few dozen of 100,000 notes: a query for one is selective.
RARE = 150
_SEED = "memman-bench-1"
_AMOUNTS = (1, 2, 5, 10, 15, 20, 25, 30, 50, 60, 90, 100, 250, 400, 512, 1000, 5000)
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement, and what it names."""

    text: str
    category: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One note of a session."""

    session: str
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """The text as `remember` gets it."""
        return "\n\n".join(sentence.text for sentence in self.sentences)


def _components() -> tuple[str, ...]:
    """Name every component, the most common first: services, classes, modules and code names."""
    chance = random.Random(_SEED)
    areas, roles = words.AREAS, words.ROLES
    names: dict[str, None] = {}
    while len(names) < COMPONENTS:
        one, two = chance.sample(areas, 2)
        role = chance.choice(roles)
        shapes = (f"{one}-{two}-{role}", f"{one}-{role}", f"{one}{two}{role}", f"{one}_{two}.{role}", _coined(chance))
        name = chance.choice(shapes)
        if name == f"{one}{two}{role}":
            name = one.title() + two.title() + role.title()
        names[name] = None
    return tuple(names)


def _coined(chance: random.Random) -> str:
    """Make up a code name: Talvexa, Korvin."""
    syllable = ("bdfgklmnprstvz", "aeiou", ("", "l", "n", "r", "x"))
    return "".join(chance.choice(letters) for letters in 3 * syllable).title()


NAMES = _components()
# Zipf's law: the n-th most common component is named in proportion to 1/n.
_WEIGHTS = tuple(itertools.accumulate(1 / rank for rank in range(1, COMPONENTS + 1)))


def notes(first: int, count: int) -> Iterator[Sample]:
    """Yield notes number `first` to `first + count - 1`."""
    for n in range(first // NOTES_A_SESSION, (first + count - 1) // NOTES_A_SESSION + 1):
        start = n * NOTES_A_SESSION
        session = _session(n)
        yield from session[max(first - start, 0) : first + count - start]


def _session(n: int) -> list[Sample]:
    """Write one session: twenty notes about a few components."""
    chance = random.Random(f"{_SEED}/{n}")
    about = _about(chance)
    return [
        Sample(f"session-{n:05d}", tuple(_sentence(chance, about) for _ in range(1 + (chance.random() < DOUBLE))))
        for _ in range(NOTES_A_SESSION)
    ]


def _about(chance: random.Random) -> list[str]:
    return chance.choices(NAMES, cum_weights=_WEIGHTS, k=4)


def _sentence(chance: random.Random, about: list[str]) -> Sentence:
    category, pattern = chance.choice(words.SENTENCES)
    said = _filling(chance, about)
    entities = dict.fromkeys(said[slot] for slot in _SLOT.findall(pattern) if slot in {"c", "d", "f", "p", "l", "m"})
    return Sentence(pattern.format_map(said), category, tuple(entities))


def _filling(chance: random.Random, about: list[str]) -> dict[str, str]:
    main, other = chance.choice(about), chance.choices(NAMES, cum_weights=_WEIGHTS)[0]
    one, two = chance.sample(words.LIBRARIES, 2)
    thing, another = chance.sample(words.THINGS, 2)
    verb, after = chance.sample(words.VERBS, 2)
    return {
        "c": main,
        "d": other,
        "l": one,
        "m": two,
        "t": thing,
        "u": another,
        "o": verb,
        "o2": after,
        "f": f"src/{chance.choice(words.AREAS)}/{chance.choice(words.ROLES)}_{chance.choice(words.AREAS)}.py",
        "p": chance.choice(words.PEOPLE),
        "w": chance.choice(words.PLACES),
        "q": chance.choice(words.QUALITIES),
        "r": chance.choice(words.REASONS),
        "v": f"{chance.randrange(1, 19)}.{chance.randrange(30)}.{chance.randrange(12)}",
        "n": f"{chance.choice(_AMOUNTS)} {chance.choice(words.UNITS)}",
        "x": str(chance.randrange(1024, 49152)),
    }


def selective(count: int) -> list[str]:
    """Return questions that each name one rare component, which the first thousand notes speak of."""
    rank = {name: n for n, name in enumerate(NAMES)}
    named = (name for note in notes(0, 1_000) for s in note.sentences for name in s.entities)
    rare = [name for name in dict.fromkeys(named) if rank.get(name, 0) >= RARE]
    return [words.QUESTIONS[n % len(words.QUESTIONS)].format(c=name) for n, name in enumerate(rare[:count])]


def common(count: int) -> list[str]:
    """Return questions in words that a large part of all notes holds."""
    return list(itertools.islice(itertools.cycle(words.COMMON), count))
