"""The verbs an agent is told of and granted, and those that are a person's: whatever is named here by nobody.

Behind the guide, the skill, the permissions, and what an agent is refused (memman.cli.consent).
"""

# Verb -> (how it is called, when it is of use).
AGENT_VERBS: dict[str, tuple[str, str]] = {
    "recall": ('memman recall "words of the question"', "before work that earlier sessions may have touched"),
    "timeline": ("memman timeline --around ID", "a memory whose line ends in …, whole, and what came before and after"),
    "remember": ("memman remember -", "after a correction, a decision, a finding; the text comes on standard input"),
    "replace": ("memman replace ID -", "the memory with this id is out of date; standard input says what holds now"),
    "forget": ("memman forget ID", "the user asked that it be forgotten"),
    "status": ("memman status", "what is stored, what waits, what went wrong"),
}

# Verbs that an agent is not told of and may run all the same: they only look, or are run for it by others.
ALLOWED = frozenset(
    {
        "backup list",
        "backup verify",
        "completion",
        "config show",
        "doctor",
        "embed status",
        "graph related",
        "guide",
        "help",
        "hook",
        "insights list",
        "insights show",
        "log list",
        "log worker",
        "pipeline",
        "prime",
        "scan",
        "scheduler drain",
        "scheduler logs",
        "scheduler queue failed",
        "scheduler queue list",
        "scheduler queue show",
        "scheduler status",
        "scheduler trigger",
        "store list",
        "version",
    }
)

# Options (by the name of their value) that make an allowed verb a person's.
PERSONS = {"doctor": ("fix", "billable"), "forget": ("purge",), "scan": ("fix",)}
