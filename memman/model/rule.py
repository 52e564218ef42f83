"""Rules that a person set: which hold now and here, and which a command fires. Safe on the hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Record = dict[str, Any]
    # Whether one stands where a rule of a repository and a folder holds.
    Holds = Callable[[str, str], bool]

INFORM, ASK, DENY = "inform", "ask", "deny"
# The weakest first.
ACTIONS = (INFORM, ASK, DENY)
# What a rule calls the tool that runs a shell's commands, whatever an agent calls it.
SHELL = "Bash"
_SHELLS = frozenset(
    """
    bash exec exec_command execute_command local_shell monitor powershell run_command run_shell_command run_terminal_cmd
    shell shell_command terminal unified_exec
    """.split()
)
# The fields of a tool's input that a command stands in.
FIELDS = ("command", "cmd")


def shell(tool: str) -> bool:
    """Whether a tool runs commands of a shell."""
    return tool.lower() in _SHELLS


def in_force(rule: "Record", now: int) -> bool:
    """Whether a rule is neither over nor snoozed."""
    return (rule["ends_at"] is None or now < rule["ends_at"]) and now >= (rule["snoozed_until"] or 0)


def fired(rules: "Iterable[Record]", command: str, now: int) -> "list[Record]":
    """Return those of the rules that hold here which a command fires, the strictest first.

    One that would stop a command asks where a part cannot be read, and is `unread` then.
    """
    from memman.model.pattern import matches
    from memman.model.shell import UNREAD, commands

    line = commands(command)
    unread = any(UNREAD in one.words for one in line)
    found = []
    for rule in rules:
        if rule["pattern"] and in_force(rule, now):
            if matches(commands(rule["pattern"]), line):
                found.append(rule)
            elif unread and rule["action"] != INFORM:
                found.append(rule | {"action": ASK, "unread": True})
    return sorted(found, key=lambda rule: -ACTIONS.index(rule["action"]))


def standing(rules: "Iterable[Record]", now: int, holds: "Holds") -> "list[Record]":
    """Return the rules that a session begins with, the oldest first."""
    return [
        rule
        for rule in rules
        if not rule["pattern"] and in_force(rule, now) and holds(rule["repository"], rule["path"])
    ]
