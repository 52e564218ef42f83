"""Tables of words and phrases, written as text with `_` for the space inside a phrase."""

import re


def wordset(table: str) -> frozenset[str]:
    """Read a table of single words."""
    return frozenset(table.split())


def choice(table: str) -> str:
    """Turn a table of phrases into a group that matches any one of them."""
    return "(?:" + "|".join(phrase.replace("_", " ") for phrase in table.split()) + ")"


def cues(table: str) -> re.Pattern[str]:
    """Compile a table of phrases to be found as whole words, whatever their case."""
    return re.compile(rf"(?<!\w){choice(table)}(?!\w)", re.IGNORECASE)
