"""The verbs an agent is told of and granted; all that AGENT_VERBS and ALLOWED lack are a person's."""

# Verb -> (how it is called, when it is of use).
AGENT_VERBS: dict[str, tuple[str, str]] = {
    "recall": ('memman recall "words of the question"', "before work that earlier sessions may have touched"),
    "list": ("memman list --around ID", "a memory whose line ends in …, in full, with what came before and after"),
    "remember": ("memman remember -", "after a correction, a decision, a finding; the text comes on standard input"),
    "replace": ("memman replace ID -", "the memory with this id is out of date; the new text comes on standard input"),
    "forget": ("memman forget ID", "the user asks to forget it"),
    "status": ("memman status", "what is stored, what waits, what failed"),
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
        "handover accept",
        "handover list",
        "help",
        "hook",
        "insights candidates",
        "insights feedback",
        "insights list",
        "insights show",
        "insights stale",
        "lint",
        "log cost",
        "log diff",
        "log learned",
        "log list",
        "log sessions",
        "log worker",
        "mcp",
        "onboard",
        "prime",
        "reason",
        "review list",
        "rule list",
        "rule show",
        "rule test",
        "scan",
        "scheduler drain",
        "scheduler logs",
        "scheduler queue failed",
        "scheduler queue list",
        "scheduler queue show",
        "scheduler status",
        "scheduler trigger",
        "scope list",
        "show",
        "store list",
        "team members",
        "version",
        "wiki list",
        "wiki show",
        "wonder",
    }
)

# Of the verbs that agents are told of, those that look; of those that they may run besides, those that do not.
LOOKING = (ALLOWED | {"recall", "list", "status", "config get", "self-update", "store diff"}) - {
    "handover accept",
    "scheduler drain",
    "scheduler trigger",
}

# Options (by the name of their value) that make an allowed verb a person's.
PERSONS = {"doctor": ("fix", "billable"), "scan": ("fix",)}

# Verbs of a person that ask at their terminal before they do anything, and when: what they do cannot be taken back,
# lets pass what was held back, or says where text is sent. The other verbs of a person are refused to agents, and
# scripts may run them.
ASKED = {
    "bootstrap": "except with --dry-run",
    "backup remove": "",
    "backup restore": "except with --to",
    "config set": "for a provider, an endpoint and a key",
    "consolidate": "except with --dry-run",
    "embed swap": "for a provider elsewhere",
    "import": "except with --dry-run",
    "insights archive": "with --least",
    "insights protect": "",
    "insights verify": "",
    "install": "for a provider, an endpoint and a key that the shell has, and with --allow-sandbox",
    "purge": "except with --dry-run",
    "repair": "",
    "review approve": "",
    "review both": "",
    "review edit": "",
    "review reject": "",
    "rule add": "",
    "rule promote": "",
    "rule remove": "",
    "rule snooze": "",
    "scan": "with --fix",
    "scheduler queue purge": "with --parked",
    "team share": "",
    "store remove": "",
    "undo": "except with --dry-run and for `list`",
    "uninstall": "except with --dry-run",
}
