"""Text that is written to steer an agent: whether it is, and what gives it away.

The rules are a table (`injection_rules`), tried on the text as it looks and on what is hidden or encoded in it.
"""

import re
from functools import cache, lru_cache

from memman.pipeline.deobfuscate import hidden, readings
from memman.pipeline.injection_rules import (
    ATTACKS,
    BIDDEN,
    COMMENT,
    LABEL,
    LABELLED,
    MEDIUM,
    NAMED,
    ORDERS,
    REPORT,
)
from memman.pipeline.prompts import digest

# Characters looked at: more than a fact may have.
LONGEST = 8_000
_KEPT = 1_024
_HIDES = "hides text"


@cache
def version() -> str:
    """Say which rules these are."""
    named = (MEDIUM, NAMED, LABELLED, REPORT, LABEL)
    return digest(repr((ATTACKS, ORDERS, *named, COMMENT.pattern, BIDDEN.pattern)))


@lru_cache(_KEPT)
def attack(text: str) -> str:
    """Say what gives a text away as an attack on whoever reads it, '' where nothing does."""
    return _given_away(text, orders=False)


@lru_cache(_KEPT)
def order(text: str) -> str:
    """Say what makes a text an attack, or a command that a page has one run, '' where nothing does."""
    return _given_away(text, orders=True)


def reported(text: str) -> str:
    """Return the source that an agent says it hands on: web, tool or file; '' where it names none."""
    return _named(REPORT, text)


def labelled(text: str) -> str:
    """Return the source that stands before or behind a text as where it is from, '' where none does."""
    return _named(LABEL, text)


def _given_away(text: str, *, orders: bool) -> str:
    if hidden(text):
        return _HIDES
    for read in readings(text[:LONGEST]):
        found = next((name for name, shape in _shapes(orders=orders).items() if shape.search(read)), "")
        if found:
            return found
        if any(BIDDEN.search("".join(said)) for said in COMMENT.findall(read)):
            return _HIDES
    return ""


@cache
def _shapes(*, orders: bool) -> dict[str, re.Pattern[str]]:
    rules = ORDERS | ATTACKS if orders else ATTACKS
    return {name: re.compile("|".join(shapes), re.IGNORECASE) for name, shapes in rules.items()}


@lru_cache(_KEPT)
def _named(shape: str, text: str) -> str:
    if not _calling(shape, *MEDIUM).search(text):
        return ""
    return next((source for source in MEDIUM if _calling(shape, source).search(text)), "")


@cache
def _calling(shape: str, *sources: str) -> re.Pattern[str]:
    """Fill in what a shape calls any of some sources."""
    for blank, names in (("LABELLED", LABELLED), ("MEDIUM", MEDIUM), ("NAMED", NAMED)):
        shape = shape.replace(blank, "|".join(names[source] for source in sources))
    return re.compile(shape, re.IGNORECASE)
