"""Numbers of things in words: 1 memory, 2 memories."""


def counted(count: int, noun: str) -> str:
    """Write a number of things, the noun given in the singular."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{count} {noun}s"
