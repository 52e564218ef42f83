"""The closed sets of words a note may carry. Safe on the hot path: imports nothing."""

# Most trusted first. A derived fact keeps the lowest trust of its sources.
SOURCES = ("user", "agent", "file", "import", "tool", "web")
CATEGORIES = ("preference", "decision", "fact", "insight", "context")
INTENTS = ("why", "when", "entity", "general")
IMPORTANCES = ("1", "2", "3", "4", "5")

# Store setting, by note: which memory, and since when, replaces a note that is not stored yet.
REPLACED = "replaced:"
# Store setting, by memory: since when a person wants no drain to retire it.
PROTECTED = "protected:"

# Store setting, by number of an embedder: the row up to which every memory is known to have a vector of it.
FILLED = "filled:"

# How a note came to the queue: somebody said `remember`, an agent's turn ended, an agent summed up its session.
CHANNELS = ("note", "turn", "compact")
