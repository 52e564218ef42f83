"""Tables of words and phrases, written as text with `_` for the space inside a phrase."""


def wordset(table: str) -> frozenset[str]:
    """Read a table of single words."""
    return frozenset(table.split())


def choice(table: str) -> str:
    """Turn a table of phrases into a group that matches any one of them."""
    return "(?:" + "|".join(phrase.replace("_", " ") for phrase in table.split()) + ")"
