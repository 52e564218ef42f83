"""The closed sets of words a note may carry. Safe on the hot path: imports nothing."""

# Most trusted first. A derived fact keeps the lowest trust of its sources.
SOURCES = ("user", "agent", "file", "import", "tool", "web")
# What these say is marked where it is shown, and is not put before a model unasked.
LOW_TRUST = ("tool", "web")
CATEGORIES = ("preference", "decision", "fact", "insight", "context")
INTENTS = ("why", "when", "entity", "general")
IMPORTANCES = ("1", "2", "3", "4", "5")

# Store setting, by note: which memory, and since when, replaces a note that is not stored yet.
REPLACED = "replaced:"
# Store setting, by memory: since when a person wants no drain to retire it.
PROTECTED = "protected:"

# Embedders of this machine, to which texts that were forgotten may be shown, too. Recall searches the last that is
# complete; linking keeps to the first.
BUILTIN, MINILM = "builtin", "minilm"
LOCAL = (BUILTIN, MINILM)

# Store setting, by number of an embedder: the row up to which every memory is known to have a vector of it.
FILLED = "filled:"

# How a note came to the queue: somebody said `remember`, an agent's turn ended, an agent summed up its session.
CHANNELS = ("note", "turn", "compact")

# Cosines between unrelated memories from which a store tells what is usual: their mean is known within a fifth of the
# deviation then, which is reached with the eighth memory.
ENOUGH = 24


def spread_key(provider: str, model: str, dimension: int) -> str:
    """Name the store setting with what was learned of an embedder's cosines: [count, mean, sum of squares]."""
    return f"spread:{provider}/{model}/{dimension}"
