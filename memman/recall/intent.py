"""What a question is after: why, when, a thing, or anything. Safe on the hot path."""

from memman.model.terms import words

# A word that opens or carries the question, by intent.
_WORDS = {
    "why": frozenset("why reason reasons because cause causes caused motivation rationale explain how come".split())
    - {"how", "come"},
    "when": frozenset(
        "when date time timeline history recently latest newest last since before after ago yesterday".split()
    ),
    "entity": frozenset("who whom whose which".split()),
}
_OPENINGS = {
    "why": ("how come", "what caused", "what led"),
    "when": ("how long", "what time", "what date", "what day"),
    "entity": ("what is", "what are", "what's", "tell me about", "describe"),
}


def guess(query: str) -> str:
    """Return 'why', 'when', 'entity' or 'general'; a tie is general, an opening word decides."""
    plain = [word.lower() for word in words(query)]
    start = " ".join(plain[:3])
    for intent, known in _WORDS.items():
        if (plain and plain[0] in known) or start.startswith(_OPENINGS[intent]):
            return intent
    counts = {intent: sum(word in known for word in plain) for intent, known in _WORDS.items() if intent != "entity"}
    best = max(counts.values())
    leaders = [intent for intent, count in counts.items() if count == best]
    return leaders[0] if best and len(leaders) == 1 else "general"
