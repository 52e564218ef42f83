"""The closed sets of words a note may carry. Safe on the hot path: imports nothing."""

# What each agent sets in the environment of the commands it runs; one that sets another's, too, comes first.
AGENT_MARKS = (
    ("AMP_CURRENT_THREAD_ID", "amp"),
    ("QWEN_CODE", "qwen"),
    ("CLAUDECODE", "claude-code"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("OPENCODE", "opencode"),
    ("OPENCLAW_SHELL", "openclaw"),
    ("CURSOR_AGENT", "cursor"),
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("COPILOT_CLI", "copilot"),
    ("CLINE_ACTIVE", "cline"),
    ("CLINE_NO_INTERACTIVE", "cline"),
    ("CLINE_CONNECTOR_CLI_LAUNCH", "cline"),
    ("GOOSE_TERMINAL", "goose"),
    ("AUGMENT_AGENT", "augment"),
)
# What a user wishes, and what only a person can say of what they want.
WISH = "preference"
WISHES = (WISH, "decision")
CATEGORIES = (*WISHES, "fact", "insight", "context")
INTENTS = ("why", "when", "entity", "general")
# In a store by number, in this order: a new one comes last.
NEWER = "newer"  # from a newer memory to an older one of which it may say otherwise
EDGE_KINDS = ("temporal", "entity", "causal", "semantic", NEWER)
# For whom a memory is, of those who share its store: its author, or all.
VISIBILITIES = ("private", "shared")
IMPORTANCES = ("1", "2", "3", "4", "5")

STATUSES = ("current", "superseded", "forgotten", "review")
# Memories that nothing but a person's look at them finds: retired ones, and those held back until a person approves.
HIDDEN = ("forgotten", "review")

# Channels of a note that is to be kept as it is: what somebody asked to be remembered, and what is on record in a
# repository's history (memman.belief).
RECORD = "record"
REMEMBERED = ("note", RECORD)

# Store setting, by note: which memory, and since when, replaces a note that is not stored yet.
REPLACED = "replaced:"
# Store setting: which store of which server this is, as JSON (the server, the number there, our role, what we may do).
CONNECTED = "server"
# Store setting: which store this is a branch of.
BRANCH_OF = "branch"
# Store setting, by row: a record that was given another body, which that server has yet to hear.
REWRITTEN = "rewritten:"
# What an agent, and a log, is told in place of what is held back.
WITHHELD = "[held back for review]"

# The embedder whose vectors recall searches, and every store has.
BUILTIN = "builtin"
# The judge's vectors stand beside those of the embedders; no setting changes them, and recall does not search them.
JUDGE = "judge"
# To what runs on this machine texts that were forgotten may be shown, too.
ON_MACHINE = (BUILTIN, JUDGE)
# Queue setting: the embedders of this machine that have read all memories.
JUDGED = "judged"
# Queue setting: which model garbles its answers to which question, '' once it answered well again.
GARBLES = "garbles"

# Store setting, by number of an embedder: the row up to which every memory is known to have a vector of it.
FILLED = "filled:"

# How the store setting begins with the notes that an undo took out of the queue, by its id.
UNDONE = "undo:"
