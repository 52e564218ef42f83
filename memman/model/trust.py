"""How far each source is trusted: the one order of them that all go by. Safe on the hot path: imports nothing."""

USER, AGENT, IMPORT = "user", "agent", "import"
# The user, and the agent that works for them.
VERIFIED = (USER, AGENT)
# What neither said, the most trusted first: it is marked where it is shown, not put before a model unasked, retires
# nothing that a more trusted source said, and is held back where it reads as an order.
LOW_TRUST = ("file", IMPORT, "tool", "web")
SOURCES = (*VERIFIED, *LOW_TRUST)
# Evidence of how a memory was said: it stands in a prompt, where the user may have pasted it, or the user tells what
# others say. And what it is labelled.
PROMPTED, REPORTED = "prompted", "reported"
SAID_AS = {PROMPTED: "in a prompt, perhaps pasted", REPORTED: "reported by the user"}


def rank(source: str) -> int:
    """Rank a source, 0 the most trusted; one that nobody knows is the least."""
    return SOURCES.index(source) if source in SOURCES else len(SOURCES)


def lowest(*sources: str) -> str:
    """Return the least trusted of some sources, which is whose word comes of them; '' says nothing."""
    return max(filter(None, sources), key=rank)


def unverified(source: str) -> bool:
    """Whether neither the user nor their agent said it."""
    return source not in VERIFIED
